import type { CoreEvent } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { eventsPath } from './paths.ts';

/** Records an event, in the turns of events. @throws AgentError `NotFound` where its namespace is gone, `Forbidden` where it ends */
export function createEvent(kube: Kube, event: CoreEvent, signal?: AbortSignal): Promise<CoreEvent> {
  return kube.request<CoreEvent>({
    op: 'create event',
    method: 'POST',
    path: eventsPath(event.metadata.namespace ?? 'default'),
    body: event,
    turns: 'events',
    signal,
  });
}
