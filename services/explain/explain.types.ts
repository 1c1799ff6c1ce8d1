import type { Chart } from '../charts/chart.types.ts';
import type { LiveActor, LiveSystem } from '../live/live.types.ts';

/** What is asked about. */
export type Target =
  | { kind: 'pod'; namespace: string; name: string }
  | { kind: 'container'; namespace: string; name: string; container: string }
  | { kind: 'node' };

/** Why a pod, a container or the node is where it is, in plain words. JSON through and through, without secrets. */
export interface Explanation {
  kind: Target['kind'];
  /** `default/web`, `default/web/app`, the node's name. */
  name: string;
  /** False: the agent has none of that name now. */
  found: boolean;
  /** The root cause, in one sentence or two. */
  headline: string;
  /** Something is wrong or takes too long; false where all is well or on its way. */
  trouble: boolean;
  /** Where it is: each actor that is about it. */
  places: Place[];
  waitsFor: Wait[];
  /** What leads on from there. */
  next: Next[];
  /** Why it is not somewhere else. */
  whyNot: string[];
  /** How it got here, newest last. */
  steps: Step[];
  /** Of a name that is not there: those that are close. */
  similar: string[];
}

export interface Place {
  /** `pod default/web`, `container app`. */
  who: string;
  /** Path of its state in its chart. */
  state: string;
  /** What that means. */
  meaning: string;
  /** ms since the epoch. */
  since: number;
}

export interface Wait {
  who: string;
  for: 'call' | 'timer' | 'condition' | 'event' | 'reason';
  /** The slot, the delay, the guard, the event, or the reason that users know (ImagePullBackOff). */
  what: string;
  /** A sentence. */
  text: string;
  /** Since when, ms since the epoch. */
  since?: number;
  /** When it is over, ms since the epoch. */
  endsAt?: number;
}

export interface Next {
  who: string;
  /** A clause: `the crash back-off is over (in 37 s)`. */
  when: string;
  /** What the state that follows means. */
  then: string;
}

export interface Step {
  /** ms since the epoch. */
  at: number;
  who: string;
  to: string;
  meaning: string;
  because: string;
}

/** All that an explanation is made from. */
export interface ExplainView {
  /** By the machine's id, as live actors carry it. */
  charts: Readonly<Record<string, Chart>>;
  live: Pick<LiveSystem, 'actors' | 'peek' | 'holds' | 'history' | 'redacted'>;
  /** ms since the epoch. */
  now: number;
}

/** What holds something up, and how much that matters. */
export interface Cause {
  weight: Weight;
  /** A clause with its subject: `container app waits with ErrImagePull: …`. */
  text: string;
}

/** The heaviest is the root cause; of several that weigh the same the first. */
export type Weight = (typeof WEIGHTS)[keyof typeof WEIGHTS];
export const WEIGHTS = {
  /** Worth a word, and holds nothing up. */
  remark: 0,
  /** On its way. */
  progress: 1,
  /** A call that takes long. */
  slow: 2,
  /** Something failed. */
  failed: 3,
  /** Nothing can go on, whatever else is wrong. */
  allHeld: 4,
} as const;

/** A call that takes longer is slow, ms. */
const SLOW = 3_000;
export const slowness = (ms: number): Weight => (ms >= SLOW ? WEIGHTS.slow : WEIGHTS.progress);

/** It is more than on its way. */
export const isTrouble = (cause: Cause | undefined) => cause !== undefined && cause.weight >= WEIGHTS.slow;

/** One look at the agent: everything is read once. */
export interface Scene extends ExplainView {
  actors: readonly LiveActor[];
  /** By the session of their parent. */
  children: ReadonlyMap<string | undefined, readonly LiveActor[]>;
}
