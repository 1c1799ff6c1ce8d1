import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { findHierarchies } from '../../../services/host/cgroup/hierarchies.ts';
import { settingsOf } from '../../../services/host/cgroup/limits.ts';
import { podCgroup, systemdPath } from '../../../services/host/cgroup/names.ts';
import { parseMountinfo, readMounts } from '../../../services/host/mounts.ts';
import { removeCgroup } from '../../../services/host/cgroup/tree.ts';
import { container, pod } from '../../support/fixtures.ts';
import { cgroupsOff, isRoot, NEVER, rig } from './rig.ts';

const ROOT = `/statelet-test-${process.pid}`;
const LINE = (path: string, type: string, options: string) => `31 30 0:28 / ${path} rw - ${type} ${type} ${options}`;

describe('the node’s cgroup trees', () => {
  test('are one a controller set on v1, the v2 tree beside them being looked in only', () => {
    const mounts = parseMountinfo(
      [
        LINE('/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'rw,cpu,cpuacct'),
        LINE('/sys/fs/cgroup/systemd', 'cgroup', 'rw,name=systemd'),
        LINE('/sys/fs/cgroup/unified', 'cgroup2', 'rw'),
        LINE('/with\\040blank', 'tmpfs', 'rw'),
      ].join('\n'),
    );
    expect(mounts[3]?.path).toBe('/with blank');
    expect(findHierarchies(mounts)).toEqual({
      version: 1,
      trees: [
        { path: '/sys/fs/cgroup/cpu,cpuacct', controllers: ['cpu', 'cpuacct'] },
        { path: '/sys/fs/cgroup/systemd', controllers: [] },
      ],
      all: ['/sys/fs/cgroup/cpu,cpuacct', '/sys/fs/cgroup/systemd', '/sys/fs/cgroup/unified'],
    });
  });

  test('are one on v2', () => {
    expect(findHierarchies(parseMountinfo(LINE('/sys/fs/cgroup', 'cgroup2', 'rw')))).toMatchObject({ version: 2 });
  });
});

describe('limits', () => {
  test('B153 without a CPU quota cpu.max is max', () => {
    expect(settingsOf(2, { cpuShares: 1024n, cpuQuota: -1n, cpuPeriod: 100_000n })).toContainEqual({
      controller: 'cpu',
      file: 'cpu.max',
      value: 'max 100000',
    });
  });

  test('shares become weights', () => {
    const weight = (cpuShares: bigint) => settingsOf(2, { cpuShares })[0]?.value;
    expect([2n, 1024n, 262_144n].map(weight)).toEqual(['1', '39', '10000']);
  });
});

describe('names', () => {
  test('systemd’s slices nest by their joined names', () => {
    expect(systemdPath('/', podCgroup('Burstable', '7f3e-90aa'))).toBe(
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod7f3e_90aa.slice',
    );
  });

  test('the sandbox’s parent is the pod’s cgroup below cgroupRoot, or none where cgroupsPerQOS is off', async () => {
    expect((await rig({ perQos: true, root: '/a' })).host.cgroupParent(pod())).toBe('/a/kubepods/besteffort/poduid-1');
    expect((await rig()).host.cgroupParent(pod())).toBeUndefined();
  });

  test('the systemd driver is refused by name', async () => {
    await expect(rig({ perQos: true, driver: 'systemd' })).rejects.toMatchObject({ reason: 'UnsupportedCgroupDriver' });
  });
});

(isRoot ? describe : describe.skip)('on the node', () => {
  afterAll(async () => {
    await removeCgroup(findHierarchies(await readMounts()), ROOT);
  });
  const limited = (uid: string, cpu: string) =>
    pod({ uid, spec: { containers: [container({ resources: { requests: { cpu }, limits: { memory: '32Mi' } } })] } });

  test('a pod’s cgroup has its limits, its class the sum of its pods’ shares', async () => {
    const { host } = await rig({ perQos: true, root: ROOT });
    await host.checkCgroups();
    await Promise.all(['a', 'b'].map((uid) => host.ensureCgroup(limited(uid, '500m'), NEVER)));
    const { version, trees } = findHierarchies(await readMounts());
    const tree = trees.find(({ controllers }) => version === 2 || controllers.includes('memory'))?.path ?? '';
    const memory = version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
    const read = (path: string) => readFile(path, 'utf8').then((text) => text.trim());
    expect(await read(join(tree, ROOT, 'kubepods/burstable/poda', memory))).toBe(String(32 << 20));
    const cpuset = trees.find(({ controllers }) => controllers.includes('cpuset'))?.path;
    for (const file of cpuset === undefined ? [] : ['cpuset.cpus', 'cpuset.mems'])
      expect(await read(join(cpuset ?? '', ROOT, 'kubepods/burstable/poda', file))).toBe(
        await read(join(cpuset ?? '', file)),
      );
    const cpu = trees.find(({ controllers }) => version === 2 || controllers.includes('cpu'))?.path ?? '';
    const shares = () => read(join(cpu, ROOT, 'kubepods/burstable', version === 2 ? 'cpu.weight' : 'cpu.shares'));
    expect(await shares()).toBe(version === 2 ? '39' : '1024');
    await host.releasePod({ uid: 'a', name: 'a', namespace: 'default' }, undefined, NEVER);
    expect(await shares()).toBe(version === 2 ? '20' : '512');
  });

  test('B169 the sweep leaves no cgroup of a pod that is gone, also none that another run of the agent made', async () => {
    const before = await rig({ perQos: true, root: ROOT });
    for (let n = 0; n < 5; n += 1) await before.host.ensureCgroup(limited(`old-${n}`, '100m'), NEVER);
    const { host } = await rig({ perQos: true, root: ROOT });
    const removed = await host.sweep(new Set(['old-0']), NEVER);
    expect(removed).toEqual(expect.arrayContaining([1, 2, 3, 4].map((n) => `cgroup of pod old-${n}`)));
    expect(removed).not.toContain('cgroup of pod old-0');
    const { all } = findHierarchies(await readMounts());
    expect(all.filter((tree) => existsSync(join(tree, ROOT, 'kubepods/burstable/podold-1')))).toEqual([]);
  });

  test('what is left in a cgroup is killed where that is asked for, also deeper down and what ignores TERM', async () => {
    const { host } = await rig({ perQos: true, root: ROOT });
    await host.ensureCgroup(pod({ uid: 'left' }), NEVER);
    const { all, trees } = findHierarchies(await readMounts());
    const tree = trees.find(({ controllers }) => controllers.includes('pids'))?.path ?? all[0] ?? '';
    const own = join(tree, ROOT, 'kubepods/besteffort/podleft');
    await mkdir(join(own, 'container'));
    const stubborn = spawn('sh', ['-c', 'trap "" TERM; while :; do sleep 1; done'], { stdio: 'ignore' });
    const ended = new Promise((resolve) => stubborn.on('exit', (_code, signal) => resolve(signal)));
    await writeFile(join(own, 'container/cgroup.procs'), String(stubborn.pid));
    await host.releasePod({ uid: 'left', name: 'left', namespace: 'default' }, undefined, NEVER, 'kill');
    expect(await ended).toBe('SIGKILL');
    expect(existsSync(own)).toBe(false);
  });

  test('trees that are mounted read-only are named as what they are', async () => {
    const { paths } = await rig();
    const cgroup = { ...cgroupsOff, perQos: true, root: `${ROOT}-none` };
    const host = fileURLToPath(new URL('../../../services/host/index.ts', import.meta.url));
    const program =
      `const { createPodHost } = await import(${JSON.stringify(host)});` +
      `const host = createPodHost(${JSON.stringify({ paths, cgroup })});` +
      'await host.checkCgroups().then(() => console.log("made"), ({ message }) => console.log(message));';
    const { trees } = findHierarchies(await readMounts());
    const remount = trees.map(({ path }) => `mount -o bind,remount,ro '${path}'`).join(' && ');
    const command = `${remount} && exec "$0" --input-type=module -e "$1"`;
    const { stdout } = await promisify(execFile)('unshare', ['-m', 'sh', '-c', command, process.execPath, program]);
    expect(stdout.trim()).toBe(
      `cgroups below ${ROOT}-none/kubepods cannot be made (EROFS): ` +
        'the cgroup file systems are mounted read-only: mount them writable, or set cgroupsPerQOS: false',
    );
  });

  test('a cgroup with processes is not removed: busy, to be tried again', async () => {
    const { host } = await rig({ perQos: true, root: ROOT });
    const ref = { uid: 'busy', name: 'busy', namespace: 'default' };
    await host.ensureCgroup(pod({ uid: 'busy' }), NEVER);
    const { all, trees } = findHierarchies(await readMounts());
    const tree = trees.find(({ controllers }) => controllers.includes('pids'))?.path ?? all[0] ?? '';
    const child = spawn('sleep', ['60']);
    const ended = new Promise((resolve) => child.on('exit', resolve));
    try {
      await writeFile(join(tree, ROOT, 'kubepods/besteffort/podbusy/cgroup.procs'), String(child.pid));
      await expect(host.releasePod(ref, undefined, NEVER)).rejects.toMatchObject({ reason: 'EBUSY', transient: true });
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
    await host.releasePod(ref, undefined, NEVER);
    await expect(rmdir(join(tree, ROOT, 'kubepods/besteffort/podbusy'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
