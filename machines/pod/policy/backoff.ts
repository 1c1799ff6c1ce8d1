/** How far a back-off has come: the wait that the next end is followed by, and when the last successor was due. */
export interface Backoff {
  delayMs: number;
  /** When the instance that this back-off began for could start: the end before it, and the wait that it cost. */
  lastAt: number;
}

/** An end this long after the last start begins anew, whatever the longest wait (kubelet.go:NewMainKubelet). */
const QUIET_MS = 600_000;

/**
 * A successor of what ended at `finishedAt` is due: the first end costs no wait, the next ones initialMs, doubling up to
 * maxMs (kuberuntime_manager.go:doBackOff with client-go's flowcontrol.Backoff.Next; constants.tsv backoff).
 */
export function nextBackoff(
  state: Backoff | undefined,
  finishedAt: number,
  { initialMs, maxMs }: { initialMs: number; maxMs: number },
): Backoff {
  const first = state === undefined || hasExpired(state, finishedAt);
  const delayMs = Math.min(first ? initialMs : state.delayMs * 2, maxMs);
  return { delayMs, lastAt: finishedAt + backoffRemaining(state, finishedAt, finishedAt) };
}

/**
 * Wait from `now` until a successor of the instance that ended at `finishedAt` may start, ms. A clock that was set back
 * never makes it longer than the delay (flowcontrol.Backoff.IsInBackOffSince).
 */
export function backoffRemaining(state: Backoff | undefined, finishedAt: number, now: number): number {
  if (state === undefined || hasExpired(state, finishedAt)) return 0;
  return Math.min(state.delayMs, Math.max(0, finishedAt + state.delayMs - now));
}

function hasExpired({ lastAt }: Backoff, finishedAt: number): boolean {
  return finishedAt - lastAt > QUIET_MS;
}
