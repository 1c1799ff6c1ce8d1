import type { DesiredPod, PodSpec } from '../../../kubernetes.types.ts';
import type { NodeView } from './admission.types.ts';
import { amountOf, podRequests } from './requests.ts';

/** A resource of which the node has too little left: thousandths of a CPU, bytes, or pieces. */
export interface Shortage {
  resource: string;
  requested: bigint;
  used: bigint;
  capacity: bigint;
}

/** In the order in which they are told; all others follow by name. */
const TOLD_FIRST = ['cpu', 'memory', 'ephemeral-storage'];

/** What pods hold of a node together. */
export interface Holdings {
  pods: number;
  amounts: ReadonlyMap<string, bigint>;
}

/** @throws QuantityError */
export function holdingsOf(pods: readonly DesiredPod[]): Holdings {
  const amounts = new Map<string, bigint>();
  for (const { spec } of pods) add(amounts, spec, 1n);
  return { pods: pods.length, amounts };
}

/** Holdings with one more pod, and without those that gave way to it. @throws QuantityError */
export function holdingsWith(before: Holdings, pod: DesiredPod, gone: readonly DesiredPod[]): Holdings {
  const amounts = new Map(before.amounts);
  add(amounts, pod.spec, 1n);
  for (const { spec } of gone) add(amounts, spec, -1n);
  return { pods: before.pods + 1 - gone.length, amounts };
}

function add(amounts: Map<string, bigint>, spec: PodSpec, times: bigint): void {
  for (const [resource, amount] of podRequests(spec)) {
    amounts.set(resource, (amounts.get(resource) ?? 0n) + times * amount);
  }
}

/**
 * What the node has too little of for one more pod, the number of pods first; empty where it fits
 * (noderesources/fit.go:Fits). What is not asked for is never short, however much is in use.
 *
 * @param held by the pods that are there already
 * @throws QuantityError
 */
export function shortages(pod: DesiredPod, { allocatable }: Pick<NodeView, 'allocatable'>, held: Holdings): Shortage[] {
  const capacityOf = (resource: string) => amountOf(resource, allocatable[resource] ?? '0');
  const usedOf = (resource: string) => held.amounts.get(resource) ?? 0n;
  const counted = [...podRequests(pod.spec)]
    .filter(([resource]) => isCounted(resource, allocatable))
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([resource, requested]) => ({ resource, requested, used: usedOf(resource), capacity: capacityOf(resource) }));
  const place = { resource: 'pods', requested: 1n, used: BigInt(held.pods), capacity: capacityOf('pods') };
  return [place, ...counted].filter(({ requested, used, capacity }) => requested + used > capacity);
}

function rank(resource: string): number {
  const index = TOLD_FIRST.indexOf(resource);
  return index < 0 ? TOLD_FIRST.length : index;
}

/**
 * Whether the node has the say on a resource: on Kubernetes' own always, on an extended one (`example.com/gpu`) only where
 * the node offers it, for another's may be the cluster's (lifecycle/predicate.go:removeMissingExtendedResources).
 */
function isCounted(resource: string, allocatable: NodeView['allocatable']): boolean {
  if (TOLD_FIRST.includes(resource) || resource.startsWith('hugepages-')) return true;
  if (resource.includes('kubernetes.io/')) return true;
  return resource.includes('/') && Object.hasOwn(allocatable, resource);
}
