import type { DesiredPod } from '../../../kubernetes.types.ts';
import { isStaticPod } from '../names.ts';
import type { Admission, NodeView, Rejection } from './admission.types.ts';
import { isCriticalPod } from './critical-pod.ts';
import { portsAreTaken } from './host-ports.ts';
import { effectiveLabels, selectsNode } from './node-affinity.ts';
import { planPreemption } from './preemption.ts';
import { shortages, type Holdings, type Shortage } from './resources-fit.ts';
import { tolerates } from './tolerations.ts';

const AFFINITY = predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
const NODE_NAME = predicate('NodeName', "node(s) didn't match the requested node name");
const PORTS = predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports");
const TAINTS = predicate('TaintToleration', "node(s) had taints that the pod didn't tolerate");

/**
 * Whether the pod fits the node: its system, its features, what is left of its resources, its labels, name, ports and
 * taints (lifecycle/predicate.go:predicateAdmitHandler.Admit). The first failure is told. A critical pod is not refused
 * for resources that other pods can be made to give up.
 *
 * @param others the admitted pods that hold a share of the node, and `held` what that is together
 * @throws QuantityError
 */
export function checkPredicates(
  pod: DesiredPod,
  node: NodeView,
  others: readonly DesiredPod[],
  held: Holdings,
): Admission {
  const unsupported = systemFailure(pod, node);
  if (unsupported) return { admitted: false, ...unsupported };
  const short = shortages(pod, node, held);
  const failures = otherFailures(pod, node, others);
  const told: Rejection[] = isCriticalPod(pod) ? failures : [...short.map(outOf), ...failures];
  const first = told[0];
  if (first) {
    const onlyLabels = first === AFFINITY && failures.length === 1;
    return { admitted: false, ...first, ...(onlyLabels && { stale: true }) };
  }
  if (short.length === 0) return { admitted: true };
  const plan = planPreemption(pod, others, short);
  if ('preempt' in plan) return { admitted: true, preempt: plan.preempt };
  const message = `Unexpected error while attempting to recover from admission failure: ${plan.problem}`;
  return { admitted: false, reason: 'UnexpectedAdmissionError', message };
}

/** What no other pod's end could mend. The system that a pod names in a label of its own is looked at too. */
function systemFailure({ metadata, spec }: DesiredPod, node: NodeView): Rejection | undefined {
  const label = metadata.labels?.['kubernetes.io/os'];
  if (label !== undefined && label !== node.operatingSystem) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (spec.os && spec.os.name !== node.operatingSystem) {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  if (spec.securityContext?.supplementalGroupsPolicy === 'Strict' && !node.supplementalGroupsPolicy) {
    const message = 'SupplementalGroupsPolicy=Strict is not supported in this node';
    return { reason: 'SupplementalGroupsPolicyNotSupported', message };
  }
  return undefined;
}

function otherFailures(pod: DesiredPod, node: NodeView, others: readonly DesiredPod[]): Rejection[] {
  const failures: Rejection[] = [];
  if (!selectsNode(pod.spec, node.name, effectiveLabels(node))) failures.push(AFFINITY);
  if (pod.spec.nodeName && pod.spec.nodeName !== node.name) failures.push(NODE_NAME);
  if (portsAreTaken(pod, others)) failures.push(PORTS);
  if (!isStaticPod(pod) && isTainted(pod, node)) failures.push(TAINTS);
  return failures;
}

/** NoSchedule is the scheduler's matter, and what comes after the admission is the controller's. */
function isTainted({ spec }: DesiredPod, { taints }: NodeView): boolean {
  return taints.some((taint) => taint.effect === 'NoExecute' && !tolerates(spec.tolerations, taint));
}

function predicate(reason: string, what: string): Rejection {
  return { reason, message: `Predicate ${reason} failed: ${what}` };
}

function outOf({ resource, requested, used, capacity }: Shortage): Rejection {
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  };
}
