import type { DesiredPod } from '../../../kubernetes.types.ts';
import { QuantityError } from '../quantity.ts';
import { qosClass } from '../qos.ts';
import type { Admission, AdmissionView, NodeView, Rejection } from './admission.types.ts';
import { isCriticalPod } from './critical-pod.ts';
import { checkPredicates } from './predicates.ts';
import { holdingsOf, type Holdings } from './resources-fit.ts';
import { forbiddenSysctl } from './sysctls.ts';
import { tolerates } from './tolerations.ts';

const MEMORY_PRESSURE_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

/**
 * Whether a pod may begin to run here, in the kubelet's order: the node's pressure, sysctls, the node's predicates, the
 * node's shutdown; the first that refuses is told (facts/admission.tsv). It is asked once for each pod: one that was
 * admitted stays so, whatever becomes of the node (admit-all.ts).
 */
export function admit(pod: DesiredPod, { node, active }: AdmissionView): Admission {
  const others = active.filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
  return judge(pod, node, others, () => holdingsOf(others));
}

/**
 * As `admit`, where the caller keeps count of what the others hold, and the pod is not one of them.
 *
 * @param held asked only when it comes to that; an amount in it that cannot be read refuses the pod too
 */
export function judge(pod: DesiredPod, node: NodeView, others: readonly DesiredPod[], held: () => Holdings): Admission {
  try {
    const refused = pressureFailure(pod, node) ?? sysctlFailure(pod, node);
    if (refused) return { admitted: false, ...refused };
    const admission = checkPredicates(pod, node, others, held());
    return admission.admitted && node.shuttingDown ? { admitted: false, ...SHUTTING_DOWN } : admission;
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    const message = `Allocate failed due to ${error.message}, which is unexpected`;
    return { admitted: false, reason: 'UnexpectedAdmissionError', message };
  }
}

const SHUTTING_DOWN: Rejection = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};

/**
 * Under pressure only critical pods are taken in; where it is of memory alone, also those that ask for some of their own
 * and those that put up with it (eviction/eviction_manager.go:Admit).
 */
function pressureFailure(pod: DesiredPod, { pressure }: NodeView): Rejection | undefined {
  if (pressure.length === 0 || isCriticalPod(pod)) return undefined;
  if (pressure.every((condition) => condition === 'MemoryPressure')) {
    const mayEnter = qosClass(pod.spec) !== 'BestEffort' || tolerates(pod.spec.tolerations, MEMORY_PRESSURE_TAINT);
    if (mayEnter) return undefined;
  }
  return { reason: 'Evicted', message: `The node had condition: [${pressure.join(' ')}].` };
}

function sysctlFailure({ spec }: DesiredPod, node: NodeView): Rejection | undefined {
  const forbidden = forbiddenSysctl(spec, node);
  return forbidden === undefined ? undefined : { reason: 'SysctlForbidden', message: `forbidden sysctl: ${forbidden}` };
}
