/** What a cgroup is to have; a field that is absent stays as the kernel has it. */
export interface CgroupLimits {
  cpuShares: bigint;
  /** µs per period, -1: no limit. */
  cpuQuota?: bigint;
  /** µs. */
  cpuPeriod?: bigint;
  memoryLimitInBytes?: bigint;
  pids?: number;
}

/** A controller's file and what to write into it. */
export interface Setting {
  controller: 'cpu' | 'memory' | 'pids';
  file: string;
  value: string;
}

/** cpu.weight of cpu.shares (cm/cgroup_manager_linux.go:getCPUWeight). */
function cpuWeight(shares: bigint): bigint {
  return shares >= 262_144n ? 10_000n : 1n + ((shares - 2n) * 9999n) / 262_142n;
}

/** cpu.shares of cpu.weight (cm/cgroup_v2_manager_linux.go:cpuWeightToCPUShares). */
export function cpuShares(weight: bigint): bigint {
  return ((weight - 1n) * 262_142n) / 9999n + 2n;
}

/** A cgroup's limits as files of its version, in the order to write them. */
export function settingsOf(version: 1 | 2, limits: CgroupLimits): Setting[] {
  return version === 1 ? v1(limits) : v2(limits);
}

function v1({ cpuShares: shares, cpuQuota, cpuPeriod, memoryLimitInBytes, pids }: CgroupLimits): Setting[] {
  const settings: Setting[] = [{ controller: 'cpu', file: 'cpu.shares', value: `${shares}` }];
  if (cpuPeriod !== undefined) settings.push({ controller: 'cpu', file: 'cpu.cfs_period_us', value: `${cpuPeriod}` });
  if (cpuQuota !== undefined) settings.push({ controller: 'cpu', file: 'cpu.cfs_quota_us', value: `${cpuQuota}` });
  if (memoryLimitInBytes !== undefined)
    settings.push({ controller: 'memory', file: 'memory.limit_in_bytes', value: `${memoryLimitInBytes}` });
  if (pids !== undefined) settings.push({ controller: 'pids', file: 'pids.max', value: `${pids}` });
  return settings;
}

function v2({ cpuShares: shares, cpuQuota, cpuPeriod, memoryLimitInBytes, pids }: CgroupLimits): Setting[] {
  const settings: Setting[] = [{ controller: 'cpu', file: 'cpu.weight', value: `${cpuWeight(shares)}` }];
  if (cpuQuota !== undefined) {
    const quota = cpuQuota < 0n ? 'max' : `${cpuQuota}`;
    settings.push({ controller: 'cpu', file: 'cpu.max', value: `${quota} ${cpuPeriod ?? 100_000n}` });
  }
  if (memoryLimitInBytes !== undefined)
    settings.push({ controller: 'memory', file: 'memory.max', value: `${memoryLimitInBytes}` });
  if (pids !== undefined) settings.push({ controller: 'pids', file: 'pids.max', value: `${pids}` });
  return settings;
}
