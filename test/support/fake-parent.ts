import type { ParentRef, RecordedEvent } from '../../machines/agent.types.ts';

/** A parent that keeps what its child sends it, in order. */
export interface FakeParent extends ParentRef {
  readonly sent: { type: string }[];
  /** What was sent with this type; `T` is the message's type. */
  ofType<T extends { type: string }>(type: T['type']): T[];
  /** The Kubernetes events that were passed up, as `Type Reason message`. */
  events(): string[];
}

export function fakeParent(): FakeParent {
  const sent: { type: string }[] = [];
  return {
    sent,
    send: (message: { type: string }) => void sent.push(message),
    ofType: <T extends { type: string }>(type: T['type']) => sent.filter((m): m is T => m.type === type),
    events: () =>
      sent
        .filter((m): m is { type: 'event.happened'; event: RecordedEvent } => m.type === 'event.happened')
        .map(({ event }) => `${event.type} ${event.reason} ${event.message}`),
  };
}
