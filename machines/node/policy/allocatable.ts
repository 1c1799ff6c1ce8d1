import { milliValue, wholeValue } from '../../pod/policy/quantity.ts';
import type { HostFacts, NodeSettings } from '../node.types.ts';
import { binaryQuantity, cpuQuantity } from './format-quantity.ts';

/** Quantities by resource name, in the API's own writing. */
export type Resources = Record<string, string>;

type CapacitySettings = Pick<NodeSettings, 'maxPods' | 'podsPerCore' | 'localStorageCapacityIsolation'>;
type Reservations = Pick<NodeSettings, 'kubeReserved' | 'systemReserved' | 'evictionHard'>;

/** The hard thresholds that pods cannot be promised, by the resource that they are of (node_container_manager_linux.go:hardEvictionReservation). */
const SIGNALS: Record<string, string> = { memory: 'memory.available', 'ephemeral-storage': 'nodefs.available' };

/**
 * What the node has in all (nodestatus/setters.go:MachineInfo).
 *
 * @param existing the Node's capacity so far: extended resources in it are somebody else's word and stay
 * @param resetExtended they stem from before this process, which knows no device any more: they are zero
 *   (kubelet_node_status.go:reconcileExtendedResource)
 */
export function nodeCapacity(
  host: HostFacts,
  { maxPods, podsPerCore, localStorageCapacityIsolation }: CapacitySettings,
  existing: Resources = {},
  resetExtended = false,
): Resources {
  const extended = Object.entries(existing).filter(([name]) => isExtendedResource(name));
  const hugepages = Object.entries(host.hugepagesBytes);
  return {
    ...Object.fromEntries(extended.map(([name, value]) => [name, resetExtended ? '0' : value])),
    ...Object.fromEntries(hugepages.map(([name, bytes]) => [name, binaryQuantity(BigInt(bytes))])),
    cpu: String(host.cores),
    memory: binaryQuantity(BigInt(host.memoryBytes)),
    pods: String(podsPerCore > 0 ? Math.min(host.cores * podsPerCore, maxPods) : maxPods),
    ...(localStorageCapacityIsolation && { 'ephemeral-storage': binaryQuantity(BigInt(host.ephemeralStorageBytes)) }),
  };
}

/**
 * What pods may ask for in all: capacity without what is reserved and what hard eviction keeps free, never below zero;
 * memory also without the huge pages (cm/node_container_manager_linux.go:GetNodeAllocatableReservation).
 */
export function nodeAllocatable(capacity: Resources, reservations: Reservations): Resources {
  const left = Object.entries(capacity).map(([name, quantity]) => [name, allocatable(name, quantity, reservations)]);
  const allocated = Object.fromEntries(left) as Resources;
  const hugepages = Object.keys(capacity).filter((name) => name.startsWith('hugepages-'));
  const hugeBytes = hugepages.reduce((sum, name) => sum + wholeValue(capacity[name] ?? '0'), 0n);
  const memory = allocated['memory'];
  if (memory !== undefined) allocated['memory'] = binaryQuantity(atLeastZero(wholeValue(memory) - hugeBytes));
  return allocated;
}

function allocatable(name: string, quantity: string, reservations: Reservations): string {
  const { kubeReserved, systemReserved, evictionHard } = reservations;
  const reserved = [kubeReserved[name], systemReserved[name]].filter((each) => each !== undefined);
  if (name === 'cpu')
    return cpuQuantity(atLeastZero(reserved.reduce((rest, each) => rest - milliValue(each), milliValue(quantity))));
  const capacity = wholeValue(quantity);
  const signal = SIGNALS[name];
  const threshold = signal === undefined ? undefined : evictionHard[signal];
  const kept = threshold === undefined ? 0n : thresholdBytes(threshold, capacity);
  const rest = atLeastZero(reserved.reduce((sum, each) => sum - wholeValue(each), capacity - kept));
  return name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-')
    ? binaryQuantity(rest)
    : rest === capacity
      ? quantity
      : String(rest);
}

/** A threshold in bytes; percentages in single precision, as the kubelet has them (eviction/helpers.go:parsePercentage). */
function thresholdBytes(threshold: string, capacity: bigint): bigint {
  if (!threshold.endsWith('%')) return wholeValue(threshold);
  const share = Math.fround(Math.fround(Number(threshold.slice(0, -1))) / 100);
  return BigInt(Math.trunc(Number(capacity) * share));
}

const atLeastZero = (value: bigint) => (value > 0n ? value : 0n);

/** Resources that are neither Kubernetes' own nor a quota's (v1helper.IsExtendedResourceName). */
function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}
