import { readFile } from 'node:fs/promises';
import { availableParallelism, hostname, networkInterfaces, totalmem } from 'node:os';
import { ifThere } from './effect.ts';

export interface NodeInfo {
  /** The host's name in lower case without blanks: the node's name where none is configured. */
  nodeName: string;
  /** The node's addresses, the pods' hostIPs: IPv4 first, at most one per family. */
  hostIPs: string[];
  memoryCapacityBytes: number;
  cores: number;
  /** Changes at each boot; empty where the kernel does not tell. */
  bootId: string;
}

/** What the agent reports of its node and computes with. Addresses are those of the interface of the default route. */
export async function nodeInfo(): Promise<NodeInfo> {
  const [routes, bootId] = await Promise.all(
    ['/proc/net/route', '/proc/sys/kernel/random/boot_id'].map((path) => ifThere(readFile(path, 'utf8'))),
  );
  return {
    nodeName: hostname().trim().toLowerCase(),
    hostIPs: hostAddresses(networkInterfaces(), defaultInterface(routes ?? '')),
    memoryCapacityBytes: totalmem(),
    cores: availableParallelism(),
    bootId: (bootId ?? '').trim(),
  };
}

/** Interface of the default route with the least metric, from /proc/net/route. */
export function defaultInterface(routes: string): string | undefined {
  const defaults = routes
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t').map((column) => column.trim()))
    .filter(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000');
  return defaults.sort((a, b) => Number(a[6]) - Number(b[6]))[0]?.[0];
}

/** One address per family: the preferred interface's, else the first one that is neither loopback nor link-local. */
export function hostAddresses(
  interfaces: ReturnType<typeof networkInterfaces>,
  preferred: string | undefined,
): string[] {
  const names = Object.keys(interfaces).sort((a, b) => Number(b === preferred) - Number(a === preferred));
  const usable = names
    .flatMap((name) => interfaces[name] ?? [])
    .filter(({ internal, address }) => !internal && !/^(169\.254\.|fe[89ab])/i.test(address));
  return (['IPv4', 'IPv6'] as const).flatMap((family) => usable.find((each) => each.family === family)?.address ?? []);
}
