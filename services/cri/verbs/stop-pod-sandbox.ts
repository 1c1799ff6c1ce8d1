import type { Cri } from '../client.ts';
import { isNotFound } from '../errors.ts';

/** StopPodSandbox: ends what still runs in it and gives its network back. One that is gone is done. */
export async function stopPodSandbox(cri: Cri, podSandboxId: string, signal?: AbortSignal): Promise<void> {
  try {
    await cri.call('stopPodSandbox', { podSandboxId }, { deadlineMs: cri.runtimeRequestTimeoutMs, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
