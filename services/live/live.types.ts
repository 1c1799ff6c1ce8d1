/**
 * What the running agent's actors show of themselves: to `statelet ps`, `explain`, the history and the inspector. Built from
 * XState's inspection events and the snapshots that exist anyway: nothing is kept twice, no chart knows of it.
 */
export interface LiveActor {
  /** XState's own id, unique in this process: `x:12`. */
  sessionId: string;
  id: string;
  /** The machine's id. */
  machine: string;
  /** The name that outlives the process: `pod default/web`, `container default/web/main`, `syncloop`. */
  name: string;
  /** Session of the parent; undefined for the root. */
  parent?: string;
  /** It has failed, and has not done since what failed: it tries again, or waits to. */
  failing?: true;
  /** What it is about, where its context says so. */
  about?: About;
  /** XState's state value. */
  value: unknown;
  /** `syncing.active`; of parallel states with `, ` between. */
  state: string;
  /** Since when it is in that state, ms since the epoch. */
  since: number;
  status: 'active' | 'done' | 'error' | 'stopped';
  tags: readonly string[];
  /** Effects that are under way now, oldest first. */
  effects: readonly LiveEffect[];
  /** `after` timers that run now, the next one first. */
  timers: readonly LiveTimer[];
}

export interface About {
  kind: 'pod' | 'container' | 'probe' | 'volume' | 'image' | 'node';
  namespace?: string;
  /** Pod's, image's, volume's or node's name; startup, liveness or readiness. */
  name: string;
  uid?: string;
  container?: string;
}

export interface LiveEffect {
  /** Slot name: startContainer. */
  src: string;
  id: string;
  /** ms since the epoch. */
  began: number;
  /** Of a stop, when what does not end by itself is killed, ms since the epoch: until then it is not late. */
  killAt?: number;
}

export interface LiveTimer {
  /** Name of the delay in the chart: crashBackoff. */
  delay: string;
  /** Path of the state whose `after` it is. */
  state: string;
  /** ms since the epoch. */
  startedAt: number;
  ms: number;
}

/** A change of an actor's state. Event types and reasons only: what events and contexts carry may be secret. */
export interface Transition {
  /** ms since the epoch. */
  at: number;
  /** The actor's lasting name. */
  actor: string;
  machine: string;
  sessionId: string;
  from?: string;
  to: string;
  /** Type of the event that led there: container.desired. */
  event: string;
  cause: Cause;
}

/** Who asked. */
export interface Cause {
  /** userDelete, manifestChange, manifestRemoved, probe, eviction, oom, deadline, exit, runtimeLost, restart, timer, effect … */
  by: string;
  /** In words, without anything secret. */
  detail?: string;
}

/** The live view of one actor system. */
export interface LiveSystem {
  /** Now, root first, parents before their children. */
  actors(): readonly LiveActor[];
  actor(sessionId: string): LiveActor | undefined;
  /** The actor's context as a JSON tree, with everything that may be secret replaced by `"[redacted]"`. */
  context(sessionId: string): unknown;
  /**
   * The actor's context itself, which may hold secrets: to be read, not to be given out. What is made of it goes through
   * `redacted`.
   */
  peek(sessionId: string): unknown;
  /** A value as `context` shows it, without the secrets of any actor. */
  redacted(value: unknown): unknown;
  /** Whether a guard of the actor's machine holds now; undefined where that hangs on an event, or cannot be known. */
  holds(sessionId: string, guard: string): boolean | undefined;
  /**
   * Kept transitions, newest last: of one actor (its lasting name), of a pod all that is about it, of `node` all that is about
   * no pod; without a name the newest 2000 of all.
   */
  history(about?: string): readonly Transition[];
  /** Listeners are called after the actor has settled, never in the middle of a transition; one that throws is dropped. */
  subscribe(listener: LiveListener): () => void;
}

export interface LiveListener {
  /** Of one that has just begun, too: its transition comes from no state. */
  changed?(actor: LiveActor, transition: Transition | undefined): void;
  stopped?(actor: LiveActor): void;
}
