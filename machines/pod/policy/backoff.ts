/** How far a crash back-off has come: the wait that the next end is followed by, and the end that it counts from. */
export interface Backoff {
  delayMs: number;
  /** finishedAt of the instance that was last succeeded by another. */
  lastAt: number;
  maxMs: number;
}

/** A successor is being started: the first end costs no wait, the next ones initialMs, doubling up to maxMs. */
export function nextBackoff(
  state: Backoff | undefined,
  finishedAt: number,
  { initialMs, maxMs }: { initialMs: number; maxMs: number },
): Backoff {
  const first = state === undefined || hasExpired(state, finishedAt);
  const delayMs = first ? Math.min(initialMs, maxMs) : Math.min(state.delayMs * 2, maxMs);
  return { delayMs, lastAt: finishedAt, maxMs };
}

/**
 * Wait from `now` until a successor of the instance that ended at `finishedAt` may start, ms. A clock that was set back
 * never makes it longer than the delay (kuberuntime_manager.go:doBackOff, client-go flowcontrol.Backoff).
 */
export function backoffRemaining(state: Backoff | undefined, finishedAt: number, now: number): number {
  if (state === undefined || hasExpired(state, finishedAt)) return 0;
  return Math.min(state.delayMs, Math.max(0, finishedAt + state.delayMs - now));
}

/** Forgotten after twice the longest wait without an end (600 s by default). */
function hasExpired({ lastAt, maxMs }: Backoff, finishedAt: number): boolean {
  return finishedAt - lastAt > 2 * maxMs;
}
