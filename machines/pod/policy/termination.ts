import type { DesiredPod } from '../../kubernetes.types.ts';
import type { Termination, TerminationRequest } from '../pod.types.ts';
import { effectiveGrace } from './grace.ts';

/**
 * The termination after one more request for it. The end only comes nearer: a request whose grace would end later than
 * the one that runs already changes nothing but the reason; a shorter one starts its own grace now
 * (pod_workers.go:calculateEffectiveGracePeriod). The newest reason for failing wins.
 */
export function terminationAfter(
  previous: Termination | undefined,
  request: TerminationRequest,
  pod: DesiredPod,
  orphanGraceSeconds: number | undefined,
  now: number,
): Termination {
  const gracePeriodSeconds =
    request.gracePeriodSeconds === undefined && orphanGraceSeconds !== undefined
      ? Math.max(1, orphanGraceSeconds)
      : effectiveGrace({ pod, override: request.gracePeriodSeconds, previous: previous?.gracePeriodSeconds });
  const failed = request.failed ?? previous?.failed;
  const over = request.over ?? previous?.over;
  const removed = previous?.removed;
  const more = { ...(over && { over }), ...(removed && { removed }) };
  if (!previous) return { gracePeriodSeconds, startedAt: now, failed, ...more };
  const endsAt = previous.startedAt + previous.gracePeriodSeconds * 1000;
  return now + gracePeriodSeconds * 1000 < endsAt
    ? { gracePeriodSeconds, startedAt: now, failed, ...more }
    : { ...previous, failed };
}
