import type { Cri } from '../client.ts';
import type { PodSandbox } from '../proto/generated/cri.ts';

/** ListPodSandbox: all, or those that bear every one of the labels. */
export async function listPodSandbox(
  cri: Cri,
  labelSelector: Record<string, string>,
  signal?: AbortSignal,
): Promise<PodSandbox[]> {
  const filter = { id: '', state: undefined, labelSelector };
  const options = { deadlineMs: cri.runtimeRequestTimeoutMs, signal };
  return (await cri.call('listPodSandbox', { filter }, options)).items;
}
