import type { Cri } from '../client.ts';
import { isNotFound } from '../errors.ts';

/** RemovePodSandbox, with all containers in it. One that is gone is done. */
export async function removePodSandbox(cri: Cri, podSandboxId: string, signal?: AbortSignal): Promise<void> {
  try {
    await cri.call('removePodSandbox', { podSandboxId }, { deadlineMs: cri.runtimeRequestTimeoutMs, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
