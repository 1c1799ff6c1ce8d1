import type { LiveActor } from '../../live/live.types.ts';
import { agentNow, type Model } from './model.ts';
import { moodOf, pathsOf, worst, type Mood } from './verdict.ts';

export interface Filter {
  text: string;
  /** Empty for all. */
  namespace: string;
  /** Name of a state, as the last part of its path; empty for all. */
  state: string;
  mood: '' | 'failing' | 'stuck';
}

export const NO_FILTER: Filter = { text: '', namespace: '', state: '', mood: '' };

/** One line of the tree. */
export type Row =
  | { kind: 'section'; key: string; title: string; count: number; isOpen: boolean }
  | {
      kind: 'actor';
      key: string;
      actor: LiveActor;
      depth: number;
      label: string;
      mood: Mood;
      /** Something below it fails or is stuck. */
      below?: Mood;
      opens?: boolean;
      isMatch: boolean;
    };

export interface Tree {
  rows: Row[];
  pods: number;
  containers: number;
  failing: number;
  stuck: number;
  namespaces: string[];
  /** States that pods and containers are in, with how many are. */
  states: [string, number][];
}

/** The mood of an actor; the agent's own is also that of the node: a broken manifest, say, shows in no state of it. */
function moodIn(model: Model, actor: LiveActor, now: number): Mood {
  if (actor.parent === undefined && model.explanations.get(actor.sessionId)?.trouble) return 'failing';
  return moodOf(actor, model.charts.get(actor.machine), now);
}

const isPod = ({ machine }: LiveActor) => machine === 'pod';

/** What the page lists in an actor: pods have rows of their own. */
const childrenIn = (model: Model, { sessionId }: LiveActor): LiveActor[] =>
  (model.children.get(sessionId) ?? []).flatMap((id) => model.actors.get(id) ?? []).filter((child) => !isPod(child));

/** The moods of all that is in an actor. */
const moodsBelow = (model: Model, actor: LiveActor, moodFor: (actor: LiveActor) => Mood): Mood[] =>
  childrenIn(model, actor).flatMap((child) => [moodFor(child), ...moodsBelow(model, child, moodFor)]);

/** The colour that an actor is shown with: its own, or that of the worst that is in it. */
export function shownIn(model: Model, actor: LiveActor, now: number): Mood {
  const moodFor = (each: LiveActor) => moodIn(model, each, now);
  return shownOf(moodFor(actor), worst(moodsBelow(model, actor, moodFor)));
}

export const shownOf = (own: Mood, below: Mood | undefined): Mood => (below && own !== 'failing' ? below : own);

/**
 * The actors as the page lists them: pods by name with what belongs to each, then the agent's own machines. With a filter,
 * what matches and the way to it. `closed` holds the keys of rows that are folded; a folded pod is opened by a match in it.
 */
export function treeOf(model: Model, filter: Filter, closed: ReadonlySet<string>): Tree {
  const now = agentNow(model);
  const moods = new Map<string, Mood>();
  for (const actor of model.actors.values()) moods.set(actor.sessionId, moodIn(model, actor, now));
  const all = [...model.actors.values()];
  const moodFor = ({ sessionId }: LiveActor) => moods.get(sessionId) ?? 'good';
  const pods = all.filter(isPod).sort((a, b) => byText(titleOf(a), titleOf(b)));
  const isFiltered = !!(filter.text || filter.namespace || filter.state || filter.mood);
  const rows: Row[] = [];
  const visit = (actor: LiveActor, depth: number): Row[] => {
    const isMatch = matches(actor, filter, moodFor(actor));
    const inner = childrenIn(model, actor).flatMap((child) => visit(child, depth + 1));
    if (isFiltered && !isMatch && !inner.length) return [];
    const isOpen = !closed.has(actor.sessionId) || (isFiltered && !isMatch && inner.length > 0);
    const row: Row = {
      kind: 'actor',
      key: actor.sessionId,
      actor,
      depth,
      label: labelOf(actor, depth),
      mood: moodFor(actor),
      below: worst(moodsBelow(model, actor, moodFor)),
      opens: inner.length ? isOpen : undefined,
      isMatch,
    };
    return [row, ...(isOpen ? inner : [])];
  };
  const section = (key: string, title: string, count: number, inner: Row[]) => {
    if (isFiltered && !inner.length) return;
    const isOpen = !closed.has(key);
    rows.push({ kind: 'section', key, title, count, isOpen }, ...(isOpen ? inner : []));
  };
  section(
    'pods',
    'Pods',
    pods.length,
    pods.flatMap((pod) => visit(pod, 0)),
  );
  const own = all.filter((a) => a.parent === undefined);
  const agent = own.flatMap((root) => visit(root, 0));
  section('agent', 'Agent', all.filter((a) => !isOfPod(a)).length, agent);

  const states = new Map<string, number>();
  for (const actor of all)
    if (actor.machine === 'pod' || actor.machine === 'container')
      for (const path of pathsOf(actor.state)) {
        const name = path.split('.').at(-1) ?? path;
        states.set(name, (states.get(name) ?? 0) + 1);
      }
  const count = (mood: Mood) => [...moods.values()].filter((m) => m === mood).length;
  return {
    rows,
    pods: pods.length,
    containers: all.filter((a) => a.machine === 'container').length,
    failing: count('failing'),
    stuck: count('stuck'),
    namespaces: [...new Set(pods.flatMap((p) => p.about?.namespace ?? []))].sort(byText),
    states: [...states].sort(([a], [b]) => byText(a, b)),
  };
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const isOfPod = ({ machine, about }: LiveActor) => machine === 'pod' || about?.namespace !== undefined;

function matches(actor: LiveActor, { text, namespace, state, mood: wanted }: Filter, mood: Mood): boolean {
  if (namespace && actor.about?.namespace !== namespace) return false;
  if (wanted && mood !== wanted) return false;
  if (state && !pathsOf(actor.state).some((path) => path.split('.').at(-1) === state)) return false;
  const haystack = `${titleOf(actor)} ${actor.machine} ${actor.id} ${actor.state}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}

/** `default/web`, `default/web/main`, an image; a machine's id where it is about nothing. */
export function titleOf({ about, machine, id }: LiveActor): string {
  const { kind, namespace, name, container } = about ?? {};
  if (kind === 'pod' && machine === 'pod') return `${namespace}/${name}`;
  if (kind === 'pod') return `${machine} ${namespace}/${name}`;
  if (kind === 'container') return `${namespace}/${name}/${container}`;
  if (kind === 'probe') return `${name} probe`;
  if (kind === 'image' || kind === 'volume') return `${machine} ${name}`;
  return id === machine || kind === 'node' ? machine : id.includes(machine) ? id : `${machine} ${id}`;
}

/** In the tree a container needs no more than its own name. */
const labelOf = (actor: LiveActor, depth: number) =>
  depth > 0 && actor.about?.kind === 'container' ? (actor.about.container ?? actor.id) : titleOf(actor);
