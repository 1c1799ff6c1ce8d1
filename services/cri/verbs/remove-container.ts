import type { Cri } from '../client.ts';
import { isNotFound } from '../errors.ts';

/** RemoveContainer. One that is gone is done. */
export async function removeContainer(cri: Cri, containerId: string, signal?: AbortSignal): Promise<void> {
  try {
    await cri.call('removeContainer', { containerId }, { deadlineMs: cri.runtimeRequestTimeoutMs, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
