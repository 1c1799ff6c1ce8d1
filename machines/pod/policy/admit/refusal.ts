import type { DesiredPod } from '../../../kubernetes.types.ts';
import { isStaticPod } from '../names.ts';
import type { Rejection } from './admission.types.ts';

/** Reason and message in the status of a pod that was refused; its phase is Failed (kubelet.go:rejectPod). */
export function refusedStatus({ reason, message }: Rejection): Rejection {
  return { reason, message: `Pod was rejected: ${message}` };
}

/**
 * Reason and message of a pod that has to go for a critical one, in its event and its status, and what its condition
 * DisruptionTarget says; its phase is Failed, and its grace is its own (preemption/preemption.go:evictPodsToFreeRequests).
 */
export const PREEMPTED = {
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
} as const;

const FIRST_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 300_000;

/**
 * When a pod that was refused is judged again, ms from now: nobody makes a static pod anew as a controller does, so it is
 * tried again, 10 s after the first time and doubling up to 5 min; undefined for all others, whose Failed is for good.
 *
 * @param refusals how many times it was refused, 1 or more
 */
export function judgedAgainAfter(pod: DesiredPod, refusals: number): number | undefined {
  if (!isStaticPod(pod)) return undefined;
  return Math.min(FIRST_WAIT_MS * 2 ** (refusals - 1), LONGEST_WAIT_MS);
}
