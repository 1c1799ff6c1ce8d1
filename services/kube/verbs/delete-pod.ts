import type { Kube } from '../client.ts';
import { hasReason } from '../errors.ts';
import { getPod } from './get-pod.ts';
import { podPath } from './paths.ts';

/**
 * Removes the pod's object at once (grace 0), if it is this one (UID precondition). Done where it is gone, or where another
 * pod has its name by now (status_manager.go:syncPod).
 */
export async function deletePod(
  kube: Kube,
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
  signal?: AbortSignal,
): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, preconditions: { uid } };
  try {
    await kube.request({ op: 'delete pod', method: 'DELETE', path: podPath(namespace, name), body, signal });
  } catch (error) {
    if (hasReason(error, 'NotFound')) return;
    if (!hasReason(error, 'Conflict')) throw error;
    // Not only another UID is a conflict: a write at the same time may be one too.
    const found = await getPod(kube, { namespace, name }, signal);
    if (found?.metadata?.uid === uid) throw error;
  }
}
