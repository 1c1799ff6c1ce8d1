import type { DesiredPod } from '../../../kubernetes.types.ts';
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

/**
 * What the node has too little of for one more pod, the number of pods first; empty where it fits
 * (noderesources/fit.go:Fits). What is not asked for is never short, however much is in use.
 *
 * @param others the pods that hold a share already
 * @throws QuantityError
 */
export function shortages(
  pod: DesiredPod,
  { allocatable }: Pick<NodeView, 'allocatable'>,
  others: readonly DesiredPod[],
): Shortage[] {
  const capacityOf = (resource: string) => amountOf(resource, allocatable[resource] ?? '0');
  const usedOf = (resource: string) =>
    others.reduce((sum, { spec }) => sum + (podRequests(spec).get(resource) ?? 0n), 0n);
  const counted = [...podRequests(pod.spec)]
    .filter(([resource]) => isCounted(resource, allocatable))
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([resource, requested]) => ({ resource, requested, used: usedOf(resource), capacity: capacityOf(resource) }));
  const place = { resource: 'pods', requested: 1n, used: BigInt(others.length), capacity: capacityOf('pods') };
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
