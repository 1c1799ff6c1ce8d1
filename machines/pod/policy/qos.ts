import type { Container, DesiredPod, PodSpec } from '../../kubernetes.types.ts';
import { limitOf, requestOf } from './resources.ts';
import { isStaticPod } from './names.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const QOS_RESOURCES = ['cpu', 'memory'] as const;

/**
 * The pod's quality of service class (pkg/apis/core/v1/helper/qos:ComputePodQOS): Guaranteed where every container, init
 * containers included, limits cpu and memory and requests just that; BestEffort where none asks for anything.
 */
export function qosClass(spec: PodSpec): QosClass {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const asked = containers.flatMap((container) =>
    QOS_RESOURCES.map((resource) => ({
      request: requestOf(container, resource),
      limit: limitOf(container, resource),
    })),
  );
  if (asked.every(({ request, limit }) => request === 0n && limit === 0n)) return 'BestEffort';
  if (asked.every(({ request, limit }) => limit > 0n && request === limit)) return 'Guaranteed';
  return 'Burstable';
}

const GUARANTEED_ADJUST = -997;
const BEST_EFFORT_ADJUST = 1000;
const LOWEST_BURSTABLE_ADJUST = 3;
const HIGHEST_BURSTABLE_ADJUST = 999;
/** Pods of this priority and above are critical (pkg/apis/scheduling/types.go:SystemCriticalPriority). */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/**
 * oom_score_adj of a container's processes (qos/policy.go:GetContainerOOMScoreAdjust): the larger a container's share
 * of the node's memory that it asked for, the later it is killed. A sidecar is never killed ahead of the regular
 * containers.
 *
 * @param memoryCapacityBytes the node's memory
 */
export function oomScoreAdj(pod: DesiredPod, container: Container, memoryCapacityBytes: number | bigint): number {
  if (isNodeCritical(pod)) return GUARANTEED_ADJUST;
  const qos = qosClass(pod.spec);
  if (qos === 'Guaranteed') return GUARANTEED_ADJUST;
  if (qos === 'BestEffort') return BEST_EFFORT_ADJUST;
  const capacity = BigInt(memoryCapacityBytes);
  let adjust = burstableAdjust(requestOf(container, 'memory'), capacity);
  if (isSidecar(pod.spec, container)) {
    const smallest = pod.spec.containers.map((c) => requestOf(c, 'memory')).reduce((a, b) => (a < b ? a : b));
    adjust = Math.min(adjust, burstableAdjust(smallest, capacity));
  }
  return Math.min(Math.max(adjust, LOWEST_BURSTABLE_ADJUST), HIGHEST_BURSTABLE_ADJUST);
}

function burstableAdjust(request: bigint, capacity: bigint): number {
  return capacity > 0n ? 1000 - Number((1000n * request) / capacity) : HIGHEST_BURSTABLE_ADJUST;
}

function isSidecar(spec: PodSpec, container: Container): boolean {
  return container.restartPolicy === 'Always' && (spec.initContainers ?? []).some((c) => c.name === container.name);
}

function isNodeCritical(pod: DesiredPod): boolean {
  return (
    pod.spec.priorityClassName === 'system-node-critical' &&
    (isStaticPod(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY)
  );
}
