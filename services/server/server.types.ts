import type { Pod, PodStatus } from '../../machines/kubernetes.types.ts';
import type { Explanation, Target } from '../explain/explain.types.ts';
import type { LiveSystem } from '../live/live.types.ts';

/**
 * What the servers show. Objects are never changed once they are given out: a change is a new object, so that what was
 * serialised can be kept as long as the object is the same.
 */
export interface AgentView {
  healthy(): { ok: boolean; reason?: string };
  pods(): readonly PodView[];
  /** The running actors, and what they have done. */
  live: Pick<LiveSystem, 'actors' | 'history'>;
  /** Why something is where it is, in words. */
  explain(target: Target): Explanation;
}

/** A pod and its status as the agent knows it, which stands above a status in the pod itself. */
export interface PodView {
  pod: Pod;
  status?: PodStatus;
}

/** An actor of the running agent as `statelet ps` draws it. */
export interface ActorNode {
  id: string;
  /** The machine's name, or the name of the effect. */
  machine: string;
  /** What it is about where the id does not say: `namespace/name` of a pod. */
  about?: string;
  /** A call or a watch of the actor above that is under way. */
  isEffect?: true;
  /** `syncing.active`; of parallel states with `, ` between; an effect: active. */
  state: string;
  /** Since when it is in that state, or under way, milliseconds since the epoch. */
  since: number;
  children: ActorNode[];
}

/** Where a server tells of trouble that it goes on in spite of. */
export type ServerLog = (level: 'info' | 'warn' | 'error', message: string) => void;

/** A server that was started; `close` ends open connections too. */
export interface RunningServer {
  close(): Promise<void>;
}
