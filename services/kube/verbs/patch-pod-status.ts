import type { Pod, PodStatus } from '../../../machines/kubernetes.types.ts';
import type { Kube } from '../client.ts';
import { statusPatch } from '../status-patch.ts';
import { podPath, STRATEGIC_MERGE } from './paths.ts';

/**
 * Writes what differs between two statuses of the pod, if it is this one: its UID is in the patch, and another pod of the
 * name is a Conflict (util/pod/pod.go:PatchPodStatus).
 *
 * @param before as the API has it; without it everything of `status` is in the patch
 * @throws AgentError `NotFound`, `Conflict`
 */
export function patchPodStatus(
  kube: Kube,
  pod: { namespace: string; name: string; uid: string; before?: PodStatus; status: PodStatus },
  signal?: AbortSignal,
): Promise<Pod> {
  const { namespace, name, uid, before = {}, status } = pod;
  return kube.request<Pod>({
    op: 'patch pod status',
    method: 'PATCH',
    path: `${podPath(namespace, name)}/status`,
    contentType: STRATEGIC_MERGE,
    body: { metadata: { uid }, status: statusPatch(before, status) },
    signal,
  });
}
