import type { AnyActorRef } from 'xstate';

/** What every machine gets in its input, because machines touch no clock and no randomness of their own. */
export interface AgentEnv {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Monotonic, milliseconds since some moment of this process: for durations, which a clock that is set must not change. */
  elapsed(): number;
  /** Uniform in [0, 1). */
  random(): number;
}

/** The part of an actor that a child may use of its parent: sending. Passed in the input, so tests can watch it. */
export type ParentRef = Pick<AnyActorRef, 'send'>;

/** A Kubernetes event to be recorded; reasons and messages as in the kubelet (test/facts/events.tsv). */
export interface RecordedEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** The pod it is about; absent for the node's own events. */
  pod?: { name: string; namespace: string; uid: string };
  /** `spec.containers{name}` or `spec.initContainers{name}`. */
  fieldPath?: string;
}

/** Sent up by any machine, passed on to the one recorder. */
export interface EventHappened {
  type: 'event.happened';
  event: RecordedEvent;
}
