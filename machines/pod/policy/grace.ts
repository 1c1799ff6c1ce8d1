import type { DesiredPod } from '../../kubernetes.types.ts';

/** API default of terminationGracePeriodSeconds. */
const DEFAULT_SECONDS = 30;
/** kuberuntime_manager.go:minimumGracePeriodInSeconds: what StopContainer gets at the least. */
export const MINIMUM_STOP_SECONDS = 2;

/**
 * The pod's grace in seconds, at least 1: the smallest of what was asked for (an override, the deletion's grace, an
 * earlier grace), else the spec's. It never grows (pod_workers.go:calculateEffectiveGracePeriod).
 */
export function effectiveGrace(input: { pod: DesiredPod; override?: number; previous?: number }): number {
  const { pod, override, previous } = input;
  const asked = [override, pod.metadata.deletionGracePeriodSeconds, previous].filter((s) => s !== undefined);
  const seconds = asked.length ? Math.min(...asked) : (pod.spec.terminationGracePeriodSeconds ?? DEFAULT_SECONDS);
  return Math.max(1, seconds);
}

/**
 * Whole seconds that a container gets whose stop begins now, when the pod's grace began at `startedAt` (ms): what is
 * left of the one shared budget, at least 2 (kuberuntime_container.go:killContainer).
 */
export function remainingGrace(gracePeriodSeconds: number, startedAt: number, now: number): number {
  const elapsed = Math.max(0, Math.floor((now - startedAt) / 1000));
  return Math.max(MINIMUM_STOP_SECONDS, gracePeriodSeconds - elapsed);
}
