import type { AnyActorRef } from 'xstate';
import type { EventHappened, ParentRef, RecordedEvent } from './agent.types.ts';

/**
 * Sends to a child if there is one. XState stops the sender of a `sendTo` whose target is missing; a child may have
 * ended between two events, and its end is not a fault of its parent.
 */
export function tellChild(
  children: Readonly<Record<string, AnyActorRef | undefined>>,
  id: string,
  event: { type: string },
): void {
  children[id]?.send(event);
}

/** Passes a Kubernetes event up to the one recorder. */
export function happened(parent: ParentRef, event: RecordedEvent): void {
  const report: EventHappened = { type: 'event.happened', event };
  parent.send(report);
}
