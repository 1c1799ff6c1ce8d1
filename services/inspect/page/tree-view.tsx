import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { agentNow, type Model } from './model.ts';
import { shortSpan } from './time.ts';
import { shownOf, type Filter, type Row, type Tree } from './tree.ts';

const ROW = 26;
/** Rows drawn above and below what is seen. */
const SPARE = 12;

interface TreeViewProps {
  tree: Tree;
  filter: Filter;
  model: Model;
  search: RefObject<HTMLInputElement | null>;
  chosen: string | undefined;
  onFilter(filter: Filter): void;
  onChoose(row: Row): void;
  onFold(key: string): void;
}

/** The list of actors. Only rows that are seen are in the document: a node with 500 pods scrolls as one with 5. */
export function TreeView(props: TreeViewProps) {
  const { tree, chosen, model, onChoose, onFold } = props;
  const list = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const read = () => {
    const { scrollTop: top = 0, clientHeight: height = 800 } = list.current ?? {};
    setView((before) => (before.top === top && before.height === height ? before : { top, height }));
  };
  useLayoutEffect(() => {
    read();
    const observer = new ResizeObserver(read);
    if (list.current) observer.observe(list.current);
    return () => observer.disconnect();
  }, []);

  const at = tree.rows.findIndex(({ key }) => key === chosen);
  useEffect(() => {
    const box = list.current;
    if (!box || at < 0) return;
    if (at * ROW < box.scrollTop) box.scrollTop = Math.max(0, at * ROW - 2 * ROW);
    else if ((at + 1) * ROW > box.scrollTop + box.clientHeight) box.scrollTop = (at + 3) * ROW - box.clientHeight;
  }, [chosen, at < 0]);

  const from = Math.max(0, Math.floor(view.top / ROW) - SPARE);
  const shown = tree.rows.slice(from, Math.ceil((view.top + view.height) / ROW) + SPARE);
  const now = agentNow(model);
  return (
    <nav class="tree" aria-label="Actors">
      <Filters {...props} />
      <div class="rows" ref={list} onScroll={read} role="tree" tabIndex={0}>
        <div style={{ height: `${tree.rows.length * ROW}px` }}>
          <div style={{ transform: `translateY(${from * ROW}px)` }}>
            {shown.map((row) =>
              row.kind === 'section' ? (
                <div
                  key={row.key}
                  class="row section"
                  role="treeitem"
                  aria-expanded={row.isOpen}
                  onClick={() => onFold(row.key)}
                >
                  <Twist isOpen={row.isOpen} />
                  {row.title}
                  <span class="age">{row.count}</span>
                </div>
              ) : (
                <ActorRow
                  key={row.key}
                  row={row}
                  isChosen={row.key === chosen}
                  age={shortSpan(now - row.actor.since)}
                  onChoose={() => onChoose(row)}
                  onFold={() => onFold(row.key)}
                />
              ),
            )}
          </div>
        </div>
        {!tree.rows.length && <p class="empty">{model.actors.size ? 'Nothing matches.' : ''}</p>}
      </div>
    </nav>
  );
}

interface ActorRowProps {
  row: Extract<Row, { kind: 'actor' }>;
  isChosen: boolean;
  age: string;
  onChoose(): void;
  onFold(): void;
}

function ActorRow({ row, isChosen, age, onChoose, onFold }: ActorRowProps) {
  const { actor, depth, label, mood, below, opens, isMatch } = row;
  // Folded or not it says that something in it wants a look.
  const shown = shownOf(mood, below);
  return (
    <div
      class={`row actor${isChosen ? ' chosen' : ''}${isMatch ? '' : ' way'}`}
      role="treeitem"
      aria-selected={isChosen}
      aria-level={depth + 1}
      aria-expanded={opens}
      style={{ paddingLeft: `${8 + depth * 16}px` }}
      title={`${label}\n${actor.machine} is in ${actor.state}`}
      onClick={onChoose}
      onDblClick={onFold}
    >
      <span
        class="fold"
        onClick={(event) => {
          event.stopPropagation();
          onFold();
        }}
      >
        {opens === undefined ? '' : <Twist isOpen={opens} />}
      </span>
      <i class={`dot ${shown}`} title={shown} />
      <span class="label">{label}</span>
      <span class={`state-name ${mood}`}>{shortState(actor.state)}</span>
      <span class="age">{age}</span>
    </div>
  );
}

const Twist = ({ isOpen }: { isOpen: boolean }) => <span class={`twist${isOpen ? ' open' : ''}`}>▸</span>;

/** The innermost names. */
const shortState = (state: string) =>
  state
    .split(', ')
    .map((path) => path.split('.').at(-1))
    .join(', ');

function Filters({ tree, filter, search, onFilter }: TreeViewProps) {
  const set = (part: Partial<Filter>) => onFilter({ ...filter, ...part });
  const mood = (name: 'failing' | 'stuck', count: number) => (
    <button
      class={`chip ${name}${filter.mood === name ? ' on' : ''}`}
      aria-pressed={filter.mood === name}
      onClick={() => set({ mood: filter.mood === name ? '' : name })}
    >
      {name} {count}
    </button>
  );
  return (
    <div class="filters">
      <input
        ref={search}
        type="search"
        placeholder="Search  /"
        aria-label="Search"
        value={filter.text}
        onInput={(event) => set({ text: event.currentTarget.value })}
      />
      <div class="line">
        <select
          aria-label="Namespace"
          value={filter.namespace}
          onChange={(e) => set({ namespace: e.currentTarget.value })}
        >
          <option value="">all namespaces</option>
          {tree.namespaces.map((name) => (
            <option value={name}>{name}</option>
          ))}
        </select>
        <select aria-label="State" value={filter.state} onChange={(e) => set({ state: e.currentTarget.value })}>
          <option value="">all states</option>
          {tree.states.map(([name, count]) => (
            <option value={name}>
              {name} ({count})
            </option>
          ))}
        </select>
      </div>
      <div class="line">
        {mood('failing', tree.failing)}
        {mood('stuck', tree.stuck)}
      </div>
    </div>
  );
}
