import type { CoreEvent } from '../../../machines/kubernetes.types.ts';
import type { EventPatch } from '../../../machines/syncloop/event-recorder.types.ts';
import type { Kube } from '../client.ts';
import { eventPath, MERGE } from './paths.ts';

/** Counts an event that happened again, in the turns of events. @throws AgentError `NotFound` where it is forgotten */
export function patchEvent(
  kube: Kube,
  { namespace, name, patch }: { namespace: string; name: string; patch: EventPatch },
  signal?: AbortSignal,
): Promise<CoreEvent> {
  return kube.request<CoreEvent>({
    op: 'patch event',
    method: 'PATCH',
    path: eventPath(namespace, name),
    contentType: MERGE,
    body: patch,
    turns: 'events',
    signal,
  });
}
