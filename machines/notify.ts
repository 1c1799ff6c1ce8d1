import type { EventHappened, ParentRef, RecordedEvent } from './agent.types.ts';

/** Passes a Kubernetes event up to the one recorder. */
export function happened(parent: ParentRef, event: RecordedEvent): void {
  const report: EventHappened = { type: 'event.happened', event };
  parent.send(report);
}
