import type { DesiredPod } from '../../../kubernetes.types.ts';
import { isStaticPod } from '../names.ts';

/** Pods of this priority and above are critical (pkg/apis/scheduling/types.go:SystemCriticalPriority). */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;
const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** A pod that the node or the cluster cannot do without: static, or of a system priority (types/pod_update.go:IsCriticalPod). */
export function isCriticalPod(pod: DesiredPod): boolean {
  const isMirror = pod.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined;
  return isStaticPod(pod) || isMirror || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Whether the one may take the other's place (types/pod_update.go:Preemptable). */
export function mayPreempt(pod: DesiredPod, other: DesiredPod): boolean {
  if (isCriticalPod(pod) && !isCriticalPod(other)) return true;
  const [own, theirs] = [pod.spec.priority, other.spec.priority];
  return own !== undefined && theirs !== undefined && own > theirs;
}
