import type { Container, PodSpec } from '../../kubernetes.types.ts';
import { milliValue, wholeValue } from './quantity.ts';
import { allContainers } from './all-containers.ts';

export type ResourceName = 'cpu' | 'memory';

const MIN_SHARES = 2n;
const MAX_SHARES = 262_144n;
const SHARES_PER_CPU = 1024n;
/** The kernel refuses a smaller quota. */
const MIN_QUOTA_US = 1000n;
/** The systemd cgroup driver keeps quotas in steps of 10 ms a second, rounding up. */
const SYSTEMD_QUOTA_STEP_MILLI = 10n;

/** The part of CRI's LinuxContainerResources that a container's spec decides; CRI's names and units. */
export interface LinuxResources {
  /** µs; 0 leaves the runtime's default. */
  cpuPeriod: bigint;
  /** µs per period; 0: not set, -1: no limit. */
  cpuQuota: bigint;
  cpuShares: bigint;
  /** 0: no limit. */
  memoryLimitInBytes: bigint;
  oomScoreAdj: bigint;
}

/** What a pod's cgroup gets; a field that is absent stays as the kernel has it. */
export interface PodResources {
  cpuShares: bigint;
  /** µs per period, -1: no limit. */
  cpuQuota?: bigint;
  cpuPeriod?: bigint;
  memoryLimitInBytes?: bigint;
}

export interface CpuSettings {
  /** KubeletConfiguration cpuCFSQuota: false sets no CPU limit anywhere. */
  cpuCFSQuota: boolean;
  /** KubeletConfiguration cpuCFSQuotaPeriod, µs. */
  cpuCFSQuotaPeriodUs: number;
}

/** A container's limit: thousandths of a CPU, or bytes; 0 for none. @throws QuantityError */
export function limitOf(container: Container, resource: ResourceName): bigint {
  return amount(container.resources?.limits?.[resource], resource);
}

/** A container's request, which defaults to its limit as the API has it. @throws QuantityError */
export function requestOf(container: Container, resource: ResourceName): bigint {
  const { requests, limits } = container.resources ?? {};
  return amount(requests?.[resource] ?? limits?.[resource], resource);
}

function amount(quantity: string | undefined, resource: ResourceName): bigint {
  if (quantity === undefined) return 0n;
  return resource === 'cpu' ? milliValue(quantity) : wholeValue(quantity);
}

/** CPU shares of a number of thousandths (cm/helpers_linux.go:MilliCPUToShares). */
export function sharesOf(milliCpu: bigint): bigint {
  if (milliCpu === 0n) return MIN_SHARES;
  const shares = (milliCpu * SHARES_PER_CPU) / 1000n;
  return shares < MIN_SHARES ? MIN_SHARES : shares > MAX_SHARES ? MAX_SHARES : shares;
}

/** CFS quota in µs of a number of thousandths; 0 for no limit (cm/helpers_linux.go:MilliCPUToQuota). */
export function quotaOf(milliCpu: bigint, periodUs: bigint): bigint {
  if (milliCpu === 0n) return 0n;
  const quota = (milliCpu * periodUs) / 1000n;
  return quota < MIN_QUOTA_US ? MIN_QUOTA_US : quota;
}

/** A container's cgroup values (kuberuntime/kuberuntime_container_linux.go:calculateLinuxResources). */
export function linuxResources(container: Container, settings: CpuSettings & { oomScoreAdj: number }): LinuxResources {
  const period = BigInt(settings.cpuCFSQuotaPeriodUs);
  return {
    cpuPeriod: period,
    cpuQuota: settings.cpuCFSQuota ? quotaOf(limitOf(container, 'cpu'), period) : -1n,
    cpuShares: sharesOf(requestOf(container, 'cpu')),
    memoryLimitInBytes: limitOf(container, 'memory'),
    oomScoreAdj: BigInt(settings.oomScoreAdj),
  };
}

/**
 * A pod's cgroup values (cm/helpers_linux.go:ResourceConfigForPod). A limit is set only where every container, init
 * containers included, has one; the quota is rounded up per container as the systemd driver does, or a container's own
 * would exceed its pod's and be refused by the kernel.
 */
export function podResources(spec: PodSpec, settings: CpuSettings): PodResources {
  const all = allContainers(spec);
  const every = (resource: ResourceName) => all.every((container) => limitOf(container, resource) > 0n);
  const resources: PodResources = { cpuShares: sharesOf(effectiveRequest(spec, 'cpu')) };
  if (every('cpu')) {
    const period = BigInt(settings.cpuCFSQuotaPeriodUs);
    const quota = (container: Container) => quotaOf(stepUp(limitOf(container, 'cpu')), period);
    resources.cpuPeriod = period;
    resources.cpuQuota = settings.cpuCFSQuota ? aggregate(spec, quota) : -1n;
  }
  if (every('memory')) resources.memoryLimitInBytes = effectiveLimit(spec, 'memory');
  return resources;
}

function stepUp(milliCpu: bigint): bigint {
  const steps = (milliCpu + SYSTEMD_QUOTA_STEP_MILLI - 1n) / SYSTEMD_QUOTA_STEP_MILLI;
  return steps * SYSTEMD_QUOTA_STEP_MILLI;
}

/** What the whole pod requests at its peak: thousandths of a CPU, or bytes. */
export function effectiveRequest(spec: PodSpec, resource: ResourceName): bigint {
  return aggregate(spec, (container) => requestOf(container, resource));
}

/** What the whole pod is limited to at its peak, as the sum of the limits there are. */
export function effectiveLimit(spec: PodSpec, resource: ResourceName): bigint {
  return aggregate(spec, (container) => limitOf(container, resource));
}

/**
 * The larger of: all regular containers and sidecars together; each init container together with the sidecars that
 * were started before it (component-helpers/resource/helpers.go:PodRequests).
 */
function aggregate(spec: PodSpec, of: (container: Container) => bigint): bigint {
  let sidecars = 0n;
  let peak = 0n;
  for (const container of spec.initContainers ?? []) {
    const own = of(container);
    if (container.restartPolicy === 'Always') sidecars += own;
    const now = container.restartPolicy === 'Always' ? sidecars : sidecars + own;
    if (now > peak) peak = now;
  }
  const running = spec.containers.reduce((sum, container) => sum + of(container), sidecars);
  return running > peak ? running : peak;
}
