import { lookup } from 'node:dns/promises';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { availableParallelism, machine, networkInterfaces, release, totalmem } from 'node:os';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { AgentError } from '../../machines/agent-error.types.ts';
import type { HostFacts } from '../../machines/node/node.types.ts';
import { effect, ifThere } from './effect.ts';
import { nodeInfo } from './node-info.ts';

const DEADLINE_MS = 10_000;
const LOOKUP_MS = 2_000;
/** Go's names of architectures, by the kernel's. */
const ARCHITECTURES: Record<string, string> = {
  x86_64: 'amd64',
  aarch64: 'arm64',
  armv7l: 'arm',
  i686: 'i386',
  ppc64le: 'ppc64le',
  riscv64: 'riscv64',
  s390x: 's390x',
};

export interface HostFactsOptions {
  /** --root-dir: its file system is the node's ephemeral storage. */
  rootDir: string;
  nodeName: string;
  /** --node-ip as given. */
  nodeIPs: readonly string[];
  /** Where /proc, /sys and /etc are; other than `/` in tests. */
  root?: string;
}

/**
 * A reader of what the Node object says of the host (nodestatus/setters.go; cadvisor machine/info.go). What a host does not
 * have (DMI in a container) is empty. What the node's name stood for is remembered, so that an outage of DNS moves no
 * address. Its promise rejects with AgentError: `InvalidNodeIP` where a given --node-ip is no address of this host, an errno
 * where something cannot be read.
 */
export function hostFactsReader(options: HostFactsOptions): (signal?: AbortSignal) => Promise<HostFacts> {
  let named: string[] = [];
  const resolve = async () => {
    named = (await namedAddresses(options.nodeName)) ?? named;
    return nodeAddresses(options, named);
  };
  return (signal) => effect('read host facts', DEADLINE_MS, signal, () => readHostFacts(options, resolve));
}

/** The same without addresses, which takes no DNS and asks for none that may still come: what pods are judged against. */
export function hostWithoutAddresses(options: Pick<HostFactsOptions, 'rootDir' | 'root'>): Promise<HostFacts> {
  return effect('read host facts', DEADLINE_MS, undefined, () => readHostFacts(options, async () => []));
}

async function readHostFacts(
  options: Pick<HostFactsOptions, 'rootDir' | 'root'>,
  resolve: () => Promise<string[]>,
): Promise<HostFacts> {
  const root = options.root ?? '/';
  const text = async (path: string) => ((await ifThere(readFile(join(root, path), 'utf8'))) ?? '').trim();
  const [machineID, systemUUID, bootID, osRelease, memory, hugepagesBytes, disk, nodeIPs] = await Promise.all([
    text('etc/machine-id'),
    systemId(text),
    text('proc/sys/kernel/random/boot_id'),
    text('etc/os-release'),
    text('proc/meminfo'),
    hugepages(join(root, 'sys/kernel/mm/hugepages')),
    statfs(options.rootDir),
    resolve(),
  ]);
  return {
    machineID,
    systemUUID,
    bootID,
    kernelVersion: release(),
    osImage: /^PRETTY_NAME=(["']?)(.*)\1$/m.exec(osRelease)?.[2] ?? '',
    operatingSystem: 'linux',
    architecture: ARCHITECTURES[machine()] ?? machine(),
    cores: availableParallelism(),
    memoryBytes: meminfo(memory, 'MemTotal') ?? totalmem(),
    swapBytes: meminfo(memory, 'SwapTotal') ?? 0,
    hugepagesBytes,
    ephemeralStorageBytes: disk.blocks * disk.bsize,
    nodeIPs,
  };
}

/** DMI's is for root alone to read; the machine's id stands in for it, as in cadvisor (machine/info.go). */
async function systemId(text: (path: string) => Promise<string>): Promise<string> {
  for (const path of ['sys/class/dmi/id/product_uuid', 'proc/device-tree/vm,uuid', 'etc/machine-id']) {
    try {
      const id = (await text(path)).replaceAll('\0', '');
      if (id !== '') return id;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EACCES') throw error;
    }
  }
  return '';
}

/** A field of /proc/meminfo in bytes. */
function meminfo(text: string, field: string): number | undefined {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text) ?? [];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

/** Bytes of each size of huge pages, by resource name: `hugepages-2Mi`. */
async function hugepages(folder: string): Promise<Record<string, number>> {
  const sizes = (await ifThere(readdir(folder))) ?? [];
  const entries = sizes.map(async (name) => {
    const kib = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
    const pages = Number((await ifThere(readFile(join(folder, name, 'nr_hugepages'), 'utf8'))) ?? 0);
    return [`hugepages-${binarySize(kib)}`, kib * 1024 * pages] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

function binarySize(kib: number): string {
  if (kib % 2 ** 20 === 0) return `${kib / 2 ** 20}Gi`;
  return kib % 2 ** 10 === 0 ? `${kib / 2 ** 10}Mi` : `${kib}Ki`;
}

/** What a name stands for; undefined where DNS does not say in time. */
async function namedAddresses(name: string): Promise<string[] | undefined> {
  if (isIP(name) !== 0) return [name];
  const timeout = new Promise<undefined>((over) => setTimeout(over, LOOKUP_MS, undefined).unref());
  // A name that DNS does not know is nothing wrong: the default route's address serves.
  const found = await Promise.race([lookup(name, { all: true }).catch(() => undefined), timeout]);
  return found?.map(({ address }) => address);
}

/**
 * Addresses for InternalIP, primary first (nodestatus/setters.go:NodeAddress): those that are given, else the node's name
 * where it is an address or stands for one of this host's, else the default route's. `0.0.0.0` and `::` prefer a family.
 */
async function nodeAddresses({ nodeIPs: given, nodeName }: HostFactsOptions, named: string[]): Promise<string[]> {
  const local = Object.values(networkInterfaces()).flatMap(
    (addresses) => addresses?.map(({ address }) => address) ?? [],
  );
  const explicit = given.filter((ip) => ip !== '0.0.0.0' && ip !== '::');
  const foreign = explicit.find((ip) => !local.includes(ip));
  if (foreign !== undefined)
    throw new AgentError({
      op: 'read host facts',
      reason: 'InvalidNodeIP',
      message: `--node-ip ${foreign}: must be an address of this host: ${local.join(', ')}`,
      transient: true,
    });
  if (explicit.length > 0) return explicit;
  if (isIP(nodeName) !== 0) return [nodeName];
  const isUsable = (ip: string) => !/^(127\.|169\.254\.|::1$|fe[89ab])/i.test(ip) && local.includes(ip);
  const usable = named.filter(isUsable);
  const family = given.includes('::') ? 6 : 4;
  const candidates = usable.length > 0 ? usable : (await nodeInfo()).hostIPs;
  return [candidates.find((ip) => isIP(ip) === family) ?? candidates[0]].filter((ip) => ip !== undefined);
}
