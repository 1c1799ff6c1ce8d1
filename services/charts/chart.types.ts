import type { ChartWords } from '../../machines/chart-words.types.ts';

/**
 * A machine as plain data: what its documentation, its picture, the inspector's page and `statelet explain` all read. JSON
 * through and through, made from the machine's definition alone.
 */
export interface Chart {
  /** Name of its page and file: `image-pull`. */
  name: string;
  /** The machine's own id, as live actors carry it: `imagePull`. */
  machine: string;
  description: string;
  /** The machine itself comes first, with an empty path; parents before their children. */
  states: State[];
  /** In the order in which they are tried where several leave one state on one event. */
  edges: Edge[];
  /** Names of the charts that it spawns or invokes. */
  children: string[];
  /** Slots of what runs as long as its state does and is not meant to end. */
  watches: string[];
  /** Its named delays, ms; null where the length is computed when the state is entered. */
  delays: Record<string, number | null>;
  /** Its guards, delays and events in words, by name, as far as it has some. */
  words?: ChartWords;
}

/** One state of a chart. */
export interface State {
  /** `syncing.active`; empty for the machine itself. */
  path: string;
  kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** Path of the child that is entered first; undefined for a state without one. */
  initial?: string;
  /** One sentence: what it means to be in it. */
  description: string;
  tags: string[];
  /** Slots of the effects, and names of the machines, that run while it is entered. */
  invokes: string[];
  /** Actions, with what they are told where that is fixed: `record(Created)`. */
  entry: string[];
  exit: string[];
  /** Guards and events that it waits for, by name. */
  awaits?: readonly string[];
  /** While it is entered, pods or the whole node cannot go on. */
  holdsBack?: boolean;
}

/** One edge of a chart, in words that a table and a picture share. */
export interface Edge {
  /** Path of the state it leaves; empty for the machine itself, whatever its state. */
  from: string;
  /** Path of the state it enters; undefined where it stays. */
  to?: string;
  kind: 'on' | 'after' | 'always' | 'done' | 'error';
  /** The event, the delay's name, or what ended: an effect, a child, a compound state; empty for always. */
  what: string;
  /** XState's own type of the event: `xstate.done.actor.0.pod.opening`; empty for always. */
  event: string;
  guard?: string;
  actions: string[];
  /** In words, where the chart has some for this edge. */
  description?: string;
  /** Leaves its state and enters it again, so that entry actions, effect and timers start anew. */
  reenters: boolean;
  /** The state it starts from is not left: it stays, or goes to a state inside. */
  internal: boolean;
}
