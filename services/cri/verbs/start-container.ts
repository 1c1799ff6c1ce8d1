import type { Cri } from '../client.ts';

/** StartContainer. */
export async function startContainer(cri: Cri, containerId: string, signal?: AbortSignal): Promise<void> {
  await cri.call('startContainer', { containerId }, { deadlineMs: cri.runtimeRequestTimeoutMs, signal });
}
