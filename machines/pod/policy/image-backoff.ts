import type { ImageBackoff } from '../image-pull.types.ts';

/** kubelet.go:imageBackOffPeriod, kubelet.go:MaxImageBackOff. */
const INITIAL_MS = 10_000;
const MAX_MS = 300_000;

/** One more pull failed: 10 s, doubling to 300 s, forgotten 600 s after the last failure (flowcontrol.Backoff). */
export function nextImageBackoff(previous: ImageBackoff | undefined, failedAt: number, message: string): ImageBackoff {
  const forgotten = previous === undefined || failedAt - previous.failedAt > 2 * MAX_MS;
  return { delayMs: forgotten ? INITIAL_MS : Math.min(previous.delayMs * 2, MAX_MS), failedAt, message };
}

/** Wait until the image may be pulled again, ms. */
export function imageBackoffRemaining(backoff: ImageBackoff | undefined, now: number): number {
  return backoff ? Math.min(backoff.delayMs, Math.max(0, backoff.failedAt + backoff.delayMs - now)) : 0;
}
