import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ActorView } from './actor-view.tsx';
import { Header } from './header.tsx';
import { Help } from './help.tsx';
import { actorAt, routeOf } from './route.ts';
import { openStore, useHash, useModel, useTick } from './store.ts';
import { NO_FILTER, treeOf, type Row } from './tree.ts';
import { TreeView } from './tree-view.tsx';

const store = openStore();
const openedAt = Date.now();
/** Pause after which it is asked anew why the chosen actor is where it is, ms. */
const EXPLAIN_MS = 2_000;
/** What is folded when the page opens: nothing. */
const NOTHING: ReadonlySet<string> = new Set();

export function App() {
  const model = useModel(store);
  useTick(1000);
  const hash = useHash();
  const [filter, setFilter] = useState(NO_FILTER);
  const [closed, setClosed] = useState(NOTHING);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const tree = treeOf(model, filter, closed);
  const chosen = actorAt(hash, model);

  const choose = (row: Row | undefined) => {
    if (row?.kind === 'actor') location.hash = routeOf(row.actor, model);
  };
  const fold = (key: string, toOpen?: boolean) =>
    setClosed((before) => {
      const after = new Set(before);
      if (toOpen ?? after.has(key)) after.delete(key);
      else after.add(key);
      return after;
    });

  const keys = { tree, chosen, choose, fold, setHelpOpen, isHelpOpen, search, setFilter };
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => onKey(event, latest.current);
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);

  const watched = chosen?.sessionId;
  const isOpen = model.connection === 'open' && model.actors.size > 0;
  useEffect(() => {
    if (!watched || !isOpen) return undefined;
    store.send({ type: 'statelet.watch', sessionId: watched });
    return () => store.send({ type: 'statelet.unwatch', sessionId: watched });
  }, [watched, isOpen, model.startedAt]);

  // Anew with each change of the actor, and now and then: what holds it up may be another one, and ages go on.
  // The agent itself, too: what is wrong with it shows in no state of it alone.
  const chosenNow = useTick(EXPLAIN_MS);
  const root = model.children.get('')?.[0];
  useEffect(() => {
    if (!isOpen || document.hidden) return;
    for (const sessionId of new Set([watched, root]))
      if (sessionId !== undefined) store.send({ type: 'statelet.explain', sessionId });
  }, [watched, root, isOpen, model.startedAt, chosen?.state, chosen?.since, chosen?.effects.length, chosenNow]);

  // The first look is at what deserves it most. Whether the agent itself fails is known when it has been explained.
  const isTold = root !== undefined && (model.explanations.has(root) || Date.now() - openedAt > EXPLAIN_MS);
  const first = useMemo(() => (isTold ? mostInNeed(tree.rows) : undefined), [isTold]);
  useEffect(() => {
    if (!hash && first?.kind === 'actor') history.replaceState(null, '', routeOf(first.actor, model));
    if (!hash && first) dispatchEvent(new HashChangeEvent('hashchange'));
  }, [hash, first]);

  return (
    <div class="app">
      <Header model={model} tree={tree} onHelp={() => setHelpOpen(true)} />
      <TreeView
        tree={tree}
        filter={filter}
        model={model}
        search={search}
        chosen={chosen?.sessionId}
        onFilter={setFilter}
        onChoose={choose}
        onFold={fold}
      />
      <main class="main">
        {chosen ? (
          <ActorView key={chosen.sessionId} actor={chosen} model={model} />
        ) : (
          <p class="empty">{emptyText(hash, model.actors.size > 0)}</p>
        )}
      </main>
      {isHelpOpen && <Help onClose={() => setHelpOpen(false)} />}
    </div>
  );
}

/** The agent where it fails, else what else fails, else what is stuck, else the first pod, else the agent itself. */
function mostInNeed(rows: readonly Row[]): Row | undefined {
  const actors = rows.filter((row) => row.kind === 'actor');
  return (
    actors.find(({ mood, actor }) => mood === 'failing' && actor.parent === undefined) ??
    actors.find(({ mood }) => mood === 'failing') ??
    actors.find(({ mood }) => mood === 'stuck') ??
    actors[0]
  );
}

function emptyText(hash: string, hasActors: boolean): string {
  if (!hasActors) return 'Waiting for the agent.';
  if (!hash) return 'Choose an actor on the left.';
  return `Nothing is there now by the name ${decodeURIComponent(hash.replace(/^#\/\w+\//, ''))}. It appears here when it comes; a manifest that cannot be used is told of by syncloop, below.`;
}

interface Keys {
  tree: ReturnType<typeof treeOf>;
  chosen: ReturnType<typeof actorAt>;
  choose(row: Row | undefined): void;
  fold(key: string, toOpen?: boolean): void;
  setHelpOpen(isOpen: boolean): void;
  isHelpOpen: boolean;
  search: { current: HTMLInputElement | null };
  setFilter(filter: typeof NO_FILTER): void;
}

function onKey(event: KeyboardEvent, keys: Keys): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { tree, chosen, choose, fold, search } = keys;
  const { target, key } = event;
  if (key === 'Escape') {
    if (keys.isHelpOpen) keys.setHelpOpen(false);
    else if (target === search.current && search.current?.value === '') search.current.blur();
    else {
      keys.setFilter(NO_FILTER);
      if (target instanceof HTMLElement) target.blur();
    }
    return;
  }
  const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  const step = { ArrowDown: 1, ArrowUp: -1, ...(isTyping ? {} : { j: 1, k: -1 }) }[key];
  const actors = tree.rows.filter((row) => row.kind === 'actor');
  const at = actors.findIndex((row) => row.key === chosen?.sessionId);
  const row = actors[at];
  if (step && !(target instanceof HTMLSelectElement)) {
    choose(actors[at < 0 ? 0 : Math.min(actors.length - 1, Math.max(0, at + step))]);
    event.preventDefault();
    return;
  }
  if (key === 'Enter' && target === search.current) {
    choose(actors.find((r) => r.kind === 'actor' && r.isMatch) ?? actors[0]);
    search.current?.blur();
    return;
  }
  if (isTyping || (target instanceof HTMLElement && target.closest('[data-keys="own"]'))) return;
  const acts: Record<string, () => void> = {
    '/': () => search.current?.focus(),
    '?': () => keys.setHelpOpen(true),
    Enter: () => row && fold(row.key),
    ArrowRight: () => row && fold(row.key, true),
    ArrowLeft: () => {
      const parent = chosen?.parent;
      if (row?.kind === 'actor' && row.opens === true) fold(row.key, false);
      else choose(actors.find((r) => r.key === parent));
    },
    l: () => acts['ArrowRight']?.(),
    h: () => acts['ArrowLeft']?.(),
  };
  const act = acts[key];
  if (!act || (key === 'Enter' && target instanceof HTMLElement && target.matches('a,button'))) return;
  act();
  event.preventDefault();
}
