import { join } from 'node:path';

import { ContainerStats } from '../../proto/generated/cri.ts';
import { nowNs } from '../clock.ts';
import { diskUsage } from '../disk-usage.ts';
import { refused } from '../errors.ts';
import { processesByGroup, readMemory } from '../proc.ts';
import type { ProcessStat } from '../proc.ts';
import type { ContainerEntry, Runtime } from '../runtime.ts';
import { hasLabels } from '../statuses.ts';
import type { Verb } from './verb.ts';

/** Use of CPU, memory and disk by one running container: its process group and its scratch directory. */
export const containerStats: Verb<'ContainerStats'> = async (runtime, request) => {
  const entry = runtime.container(request.containerId);
  if (entry.process === undefined) throw refused(`failed to get stats: container is not running`);
  return { stats: await measure(runtime, entry, await processesByGroup()) };
};

/** The same of every running container that fits the filter. */
export const listContainerStats: Verb<'ListContainerStats'> = async (runtime, { filter }) => {
  const entries = [...runtime.containers.values()].filter(
    ({ process, record }) =>
      process !== undefined &&
      record.id.startsWith(filter?.id ?? '') &&
      record.sandboxId.startsWith(filter?.podSandboxId ?? '') &&
      hasLabels(record.config.labels, filter?.labelSelector ?? {}),
  );
  const groups = await processesByGroup();
  return { stats: await Promise.all(entries.map((entry) => measure(runtime, entry, groups))) };
};

async function measure(
  runtime: Runtime,
  entry: ContainerEntry,
  groups: ReadonlyMap<number, ProcessStat[]>,
): Promise<ContainerStats> {
  const { config, id, pid } = entry.record;
  const timestamp = nowNs();
  const members = groups.get(pid) ?? [];
  const memory = await Promise.all(members.map((member) => readMemory(member.pid)));
  const sum = (values: bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
  const rss = sum(memory.map((each) => each.rss));
  const cpu = sum(members.map((member) => member.cpuNs));
  const written = await diskUsage(join(runtime.records.containerDirectory(id), 'scratch'));
  const earlier = entry.cpuSample;
  entry.cpuSample = { at: timestamp, cpu };
  return ContainerStats.fromPartial({
    attributes: { id, metadata: config.metadata, labels: config.labels, annotations: config.annotations },
    cpu: {
      timestamp,
      usageCoreNanoSeconds: { value: cpu },
      // A rate needs two readings; the first has none.
      usageNanoCores: earlier && { value: rate(earlier, { at: timestamp, cpu }) },
    },
    memory: {
      timestamp,
      workingSetBytes: { value: rss },
      usageBytes: { value: rss },
      rssBytes: { value: rss },
      pageFaults: { value: sum(members.map((member) => member.minorFaults)) },
      majorPageFaults: { value: sum(members.map((member) => member.majorFaults)) },
    },
    writableLayer: {
      timestamp,
      fsId: { mountpoint: runtime.stateDir },
      usedBytes: { value: written.bytes },
      inodesUsed: { value: written.inodes },
    },
    swap: { timestamp, swapUsageBytes: { value: sum(memory.map((each) => each.swap)) } },
  });
}

/** CPU nanoseconds per second between two readings; a child that ended unseen can make the sum shrink. */
function rate(earlier: { at: bigint; cpu: bigint }, later: { at: bigint; cpu: bigint }): bigint {
  const used = later.cpu - earlier.cpu;
  const elapsed = later.at - earlier.at;
  return used <= 0n || elapsed <= 0n ? 0n : (used * 1_000_000_000n) / elapsed;
}
