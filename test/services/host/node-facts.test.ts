import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { hostFactsReader, hostWithoutAddresses } from '../../../services/host/node-facts.ts';

describe('the host’s facts', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'facts-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  const write = async (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
  };
  const facts = (over: Partial<Parameters<typeof hostFactsReader>[0]> = {}) =>
    hostFactsReader({ rootDir: root, nodeName: 'no-such-host.invalid', nodeIPs: [], root, ...over })();

  test('are read from where the kernel and the distribution keep them', async () => {
    await write({
      'etc/machine-id': 'machine-1\n',
      'etc/os-release': 'NAME="Some"\nPRETTY_NAME="Some Linux 1 (one)"\n',
      'sys/class/dmi/id/product_uuid': 'SYSTEM-1\n',
      'proc/sys/kernel/random/boot_id': 'boot-1\n',
      'proc/meminfo': 'MemTotal:       16303640 kB\nMemFree: 1 kB\nSwapTotal:  1024 kB\n',
      'sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '3\n',
      'sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages': '0\n',
    });
    expect(await facts()).toMatchObject({
      machineID: 'machine-1',
      systemUUID: 'SYSTEM-1',
      bootID: 'boot-1',
      osImage: 'Some Linux 1 (one)',
      operatingSystem: 'linux',
      memoryBytes: 16303640 * 1024,
      swapBytes: 1024 * 1024,
      hugepagesBytes: { 'hugepages-2Mi': 3 * 2 ** 21, 'hugepages-1Gi': 0 },
    });
  });

  test('that a host does not have are empty; without DMI the machine’s id stands for the system’s', async () => {
    await write({ 'etc/machine-id': 'machine-1' });
    const read = await facts();
    expect(read).toMatchObject({ systemUUID: 'machine-1', osImage: '', hugepagesBytes: {}, swapBytes: 0 });
    expect(read.memoryBytes).toBeGreaterThan(0);
    expect(read.ephemeralStorageBytes).toBeGreaterThan(0);
    expect(['amd64', 'arm64']).toContain(read.architecture);
  });

  test('can be had without addresses, which are left out', async () => {
    await write({ 'etc/machine-id': 'machine-1\n' });
    expect(await hostWithoutAddresses({ rootDir: root, root })).toEqual({ ...(await facts()), nodeIPs: [] });
  });

  test('a root directory that is not there is an error', async () => {
    await expect(facts({ rootDir: join(root, 'missing') })).rejects.toMatchObject({ reason: 'ENOENT' });
  });

  describe('addresses', () => {
    const local = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const [first] = local;

    test('B162 are those that are given, if they are this host’s', async () => {
      expect((await facts({ nodeIPs: [first!.address] })).nodeIPs).toEqual([first!.address]);
      await expect(facts({ nodeIPs: ['203.0.113.1'] })).rejects.toMatchObject({
        reason: 'InvalidNodeIP',
        message: expect.stringContaining('--node-ip 203.0.113.1'),
      });
    });

    test('are the node’s name where that is one', async () => {
      expect((await facts({ nodeName: '192.0.2.1' })).nodeIPs).toEqual(['192.0.2.1']);
    });

    test('else one of this host’s own, never a loopback', async () => {
      const { nodeIPs } = await facts();
      const outside = local.filter(({ internal }) => !internal).map(({ address }) => address);
      expect(nodeIPs.every((ip) => outside.includes(ip))).toBe(true);
      expect(nodeIPs.length).toBeLessThanOrEqual(1);
    });
  });
});
