import type { DesiredPod } from '../../../kubernetes.types.ts';
import { qosClass } from '../qos.ts';
import { mayPreempt } from './critical-pod.ts';
import { podRequests } from './requests.ts';
import type { Shortage } from './resources-fit.ts';

/** Amounts that are still to be freed, by resource; none of them 0. */
type Needs = ReadonlyMap<string, bigint>;

/**
 * The pods that have to go so that a critical pod fits: as few as can be, best effort ones before burstable ones before
 * guaranteed ones, and never one that is as critical. UIDs, the least important first
 * (preemption/preemption.go:getPodsToPreempt).
 *
 * @param active the pods that hold a share of the node
 * @throws QuantityError
 */
export function planPreemption(
  pod: DesiredPod,
  active: readonly DesiredPod[],
  short: readonly Shortage[],
): { preempt: string[] } | { problem: string } {
  const needs = new Map(
    short.map(({ resource, requested, used, capacity }) => [resource, requested + used - capacity]),
  );
  const candidates = active.filter((other) => mayPreempt(pod, other));
  const lacking = rest(needs, candidates);
  if (lacking.size > 0) {
    const amounts = [...lacking].map(([resource, amount]) => `${resource} ${amount}`).join(', ');
    return { problem: `no pods that may be preempted hold what is missing: ${amounts}` };
  }
  const ofClass = (qos: string) => candidates.filter(({ spec }) => qosClass(spec) === qos);
  const [bestEffort, burstable, guaranteed] = [ofClass('BestEffort'), ofClass('Burstable'), ofClass('Guaranteed')];
  // Each class gives only what all of the less important ones cannot.
  const fromGuaranteed = nearest(guaranteed, rest(needs, [...bestEffort, ...burstable]));
  const fromBurstable = nearest(burstable, rest(needs, [...bestEffort, ...fromGuaranteed]));
  const fromBestEffort = nearest(bestEffort, rest(needs, [...fromBurstable, ...fromGuaranteed]));
  return { preempt: [...fromBestEffort, ...fromBurstable, ...fromGuaranteed].map(({ metadata }) => metadata.uid) };
}

/** What is still missing when the pods are gone. */
function rest(needs: Needs, pods: readonly DesiredPod[]): Needs {
  const left = [...needs].map(([resource, amount]) => {
    const freed = pods.reduce((sum, pod) => sum + held(pod, resource), 0n);
    return [resource, amount - freed] as const;
  });
  return new Map(left.filter(([, amount]) => amount > 0n));
}

function held(pod: DesiredPod, resource: string): bigint {
  return resource === 'pods' ? 1n : (podRequests(pod.spec).get(resource) ?? 0n);
}

/** Pods that free it all together, each time the one after which the least is missing. */
function nearest(pods: readonly DesiredPod[], needs: Needs): DesiredPod[] {
  const chosen: DesiredPod[] = [];
  const candidates = new Set(pods);
  let left = needs;
  while (left.size > 0 && candidates.size > 0) {
    let best: { pod: DesiredPod; far: number } | undefined;
    for (const pod of candidates) {
      const far = distance(left, pod);
      if (!best || far < best.far || (far === best.far && byRank(pod, best.pod) < 0)) best = { pod, far };
    }
    if (!best) break;
    chosen.push(best.pod);
    candidates.delete(best.pod);
    left = rest(left, [best.pod]);
  }
  return chosen;
}

/** How far from the needs one is with this pod gone: each need weighs the same, whatever its unit. */
function distance(needs: Needs, pod: DesiredPod): number {
  return [...needs].reduce((sum, [resource, amount]) => {
    const missing = amount - held(pod, resource);
    return missing > 0n ? sum + (Number(missing) / Number(amount)) ** 2 : sum;
  }, 0);
}

/** Of pods that serve equally well the smaller goes, then the one of lower priority; the rest is for a sure order. */
function byRank(a: DesiredPod, b: DesiredPod): number {
  for (const resource of ['memory', 'cpu']) {
    const [ofA, ofB] = [held(a, resource), held(b, resource)];
    if (ofA !== ofB) return ofA < ofB ? -1 : 1;
  }
  return (a.spec.priority ?? 0) - (b.spec.priority ?? 0) || (a.metadata.uid < b.metadata.uid ? -1 : 1);
}
