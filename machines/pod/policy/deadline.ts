import type { DesiredPod } from '../../kubernetes.types.ts';

/**
 * Milliseconds until activeDeadlineSeconds have passed since the pod's startTime (RFC 3339), 0 or less once they have;
 * undefined without a deadline or before the pod has a startTime (active_deadline.go:pastActiveDeadline).
 */
export function deadlineRemaining(pod: DesiredPod, startTime: string | undefined, now: number): number | undefined {
  const seconds = pod.spec.activeDeadlineSeconds;
  if (seconds === undefined || startTime === undefined) return undefined;
  return Date.parse(startTime) + seconds * 1000 - now;
}
