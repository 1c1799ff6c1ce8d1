import type { Cri } from '../client.ts';
import { isNotFound } from '../errors.ts';

/** Longest time that a runtime written in Go can count, s (time.Duration: 2^63 ns). */
const LONGEST_SECONDS = 9_223_372_036;

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
  const seconds = Math.min(gracePeriodSeconds, LONGEST_SECONDS);
  const deadlineMs = cri.runtimeRequestTimeoutMs + seconds * 1000;
  try {
    await cri.call('stopContainer', { containerId, timeout: BigInt(seconds) }, { deadlineMs, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
