import type { Cri } from '../client.ts';
import { isNotFound } from '../errors.ts';

/**
 * StopContainer: the stop signal, and KILL after the grace. Its deadline is the usual one plus the grace
 * (cri-client remote_runtime.go:StopContainer). One that is gone is done.
 *
 * @param gracePeriodSeconds whole seconds; 0 kills at once
 */
export async function stopContainer(
  cri: Cri,
  containerId: string,
  gracePeriodSeconds: number,
  signal?: AbortSignal,
): Promise<void> {
  const deadlineMs = cri.runtimeRequestTimeoutMs + gracePeriodSeconds * 1000;
  try {
    await cri.call('stopContainer', { containerId, timeout: BigInt(gracePeriodSeconds) }, { deadlineMs, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
