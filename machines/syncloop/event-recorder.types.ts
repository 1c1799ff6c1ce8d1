import type { AgentEnv, EventHappened, ParentRef } from '../agent.types.ts';
import type { CoreEvent } from '../kubernetes.types.ts';
import type { Slot } from '../slot.types.ts';

export interface EventRecorderInput {
  env: AgentEnv;
  parent: ParentRef;
  nodeName: string;
  /** Longest time for what is left at a drain, ms. */
  drainMs: number;
}

/** parent → eventRecorder. */
export type EventRecorderRequest =
  | EventHappened
  /** Write what is left, then end. */
  | { type: 'recorder.drain' };

/** eventRecorder → parent; for the log, not to be recorded. */
export type EventRecorderReport =
  | { type: 'recorder.problem'; message: string }
  /** Everything is written, or the time for it is over: `left` events were not. */
  | { type: 'recorder.drained'; left: number };

/** What of an event changes when it happens again. */
export type EventPatch = Pick<CoreEvent, 'count' | 'lastTimestamp' | 'message'>;

export interface EventRecorderSlots {
  createEvent: Slot<{ event: CoreEvent }, CoreEvent>;
  /** Merge patch; rejects with NotFound where the API server has forgotten the event (after an hour). */
  patchEvent: Slot<{ namespace: string; name: string; patch: EventPatch }, CoreEvent>;
}
