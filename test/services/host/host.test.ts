import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, lstat, mkdir, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import type { PodHost } from '../../../services/host/host.types.ts';
import { mountTmpfs, unmount } from '../../../services/host/mounts.ts';
import { createFactStore } from '../../../services/host/index.ts';
import { container, pod } from '../../support/fixtures.ts';
import { isRoot, NEVER, rig } from './rig.ts';

const REF = { uid: 'uid-1', name: 'web', namespace: 'default' };
const mode = async (path: string) => (await stat(path)).mode & 0o7777;
const mount = (host: Pick<PodHost, 'mountVolume'>, of: DesiredPod) =>
  host.mountVolume(of, of.spec.volumes![0]!, [], NEVER);
const there = async (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe('directories', () => {
  test('a pod gets its own with mode 0750 and its log directories with mode 0755', async () => {
    const { host, paths } = await rig();
    expect(await host.makeDirectories(pod(), NEVER)).toEqual({ highestLogAttempt: { app: -1 } });
    for (const path of ['', 'volumes', 'plugins', 'containers/app'])
      expect(await mode(join(paths.rootDir, 'pods/uid-1', path))).toBe(0o750);
    expect(await mode(join(host.logDirectory(pod()), 'app'))).toBe(0o755);
  });

  test('B089 the highest attempt is that of the log files, rotated ones included', async () => {
    const { host } = await rig();
    await host.makeDirectories(pod(), NEVER);
    for (const name of ['0.log', '9.log', '10.log.20260101-000000.gz', 'other.log', '99.txt'])
      await writeFile(join(host.logDirectory(pod()), 'app', name), '');
    expect(await host.makeDirectories(pod(), NEVER)).toEqual({ highestLogAttempt: { app: 10 } });
  });

  test('a UID that is a path is refused', async () => {
    const { host } = await rig();
    await expect(host.makeDirectories(pod({ uid: '../../etc' }), NEVER)).rejects.toMatchObject({
      reason: 'InvalidName',
    });
  });

  test('a call that is no longer wanted rejects as CANCELLED', async () => {
    const { host } = await rig();
    await expect(host.makeDirectories(pod(), AbortSignal.abort())).rejects.toMatchObject({ reason: 'CANCELLED' });
  });
});

describe('volumes', () => {
  const withVolume = (volume: object, spec: object = {}) =>
    pod({
      spec: {
        volumes: [{ name: 'data', ...volume }],
        containers: [container({ volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true }] })],
        ...spec,
      },
    });

  test('an emptyDir is writable for all, marked ready, and keeps its contents', async () => {
    const { host, paths } = await rig();
    const wanted = withVolume({ emptyDir: {} });
    await mount(host, wanted);
    const path = join(paths.rootDir, 'pods/uid-1/volumes/kubernetes.io~empty-dir/data');
    expect(await mode(path)).toBe(0o777);
    expect(await there(join(paths.rootDir, 'pods/uid-1/plugins/kubernetes.io~empty-dir/data/ready'))).toBe(true);
    await writeFile(join(path, 'kept'), 'x');
    await chmod(path, 0o700);
    await mount(host, wanted);
    expect(await mode(path)).toBe(0o700);
    await host.releasePod(REF, wanted, NEVER);
    expect(await there(path)).toBe(false);
  });

  (isRoot ? test : test.skip)('fsGroup owns an emptyDir, and its folders hand the group on', async () => {
    const { host, paths } = await rig();
    await mount(host, withVolume({ emptyDir: {} }, { securityContext: { fsGroup: 4711 } }));
    const path = join(paths.rootDir, 'pods/uid-1/volumes/kubernetes.io~empty-dir/data');
    expect((await stat(path)).gid).toBe(4711);
    expect(await mode(path)).toBe(0o2777);
  });

  (isRoot ? test : test.skip)(
    'B111 a memory emptyDir is a tmpfs of its sizeLimit, and is unmounted on release',
    async () => {
      const { host, paths } = await rig();
      const wanted = withVolume({ emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } });
      await mount(host, wanted);
      const path = join(paths.rootDir, 'pods/uid-1/volumes/kubernetes.io~empty-dir/data');
      await mount(host, wanted);
      await expect(writeFile(join(path, 'big'), Buffer.alloc(2 << 20))).rejects.toMatchObject({ code: 'ENOSPC' });
      await expect(host.removePodData(REF, wanted, NEVER)).rejects.toMatchObject({ reason: 'StillMounted' });
      await host.releasePod(REF, wanted, NEVER);
      expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(path);
    },
  );

  (isRoot ? test : test.skip)('a mount that is in use keeps no other one, and is told with its place', async () => {
    const { host, paths } = await rig();
    const names = ['first', 'held', 'last'];
    const wanted = pod({ spec: { volumes: names.map((name) => ({ name, emptyDir: { medium: 'Memory' } })) } });
    for (const volume of wanted.spec.volumes ?? []) await host.mountVolume(wanted, volume, [], NEVER);
    const at = (name: string) => join(paths.rootDir, 'pods/uid-1/volumes/kubernetes.io~empty-dir', name);
    const user = spawn('sleep', ['60'], { cwd: at('held') });
    await once(user, 'spawn');
    const mounted = async () => {
      const text = await readFile('/proc/self/mountinfo', 'utf8');
      return names.filter((name) => text.includes(at(name)));
    };
    await expect(host.releasePod(REF, wanted, NEVER)).rejects.toMatchObject({
      reason: 'EBUSY',
      message: expect.stringMatching(new RegExp(`${at('held')}: EBUSY.*; it is tried again`)),
    });
    expect(await mounted()).toEqual(['held']);
    user.kill();
    await once(user, 'exit');
    await host.releasePod(REF, wanted, NEVER);
    expect(await mounted()).toEqual([]);
  });

  test('B108 FileOrCreate makes an empty file of mode 0644 and no parents', async () => {
    const { host, folder } = await rig();
    const path = join(folder, 'f');
    await mount(host, withVolume({ hostPath: { path, type: 'FileOrCreate' } }));
    expect((await lstat(path)).isFile()).toBe(true);
    expect(await mode(path)).toBe(0o644);
    const orphan = withVolume({ hostPath: { path: join(folder, 'no/f'), type: 'FileOrCreate' } });
    await expect(mount(host, orphan)).rejects.toMatchObject({
      reason: 'FailedMount',
      message: expect.stringMatching(/^MountVolume.SetUp failed for volume "data" : .*ENOENT/),
    });
  });

  test.each([
    ['Directory', 'a directory'],
    ['File', 'a file'],
    ['Socket', 'a socket file'],
    ['CharDevice', 'a character device'],
    ['BlockDevice', 'a block device'],
  ])('a hostPath that is no %s is told in the kubelet’s words', async (type, words) => {
    const { host, folder } = await rig();
    const path = join(folder, 'absent');
    await expect(mount(host, withVolume({ hostPath: { path, type } }))).rejects.toMatchObject({
      message: `MountVolume.SetUp failed for volume "data" : hostPath type check failed: ${path} is not ${words}: it does not exist`,
    });
  });

  test('a hostPath that fits its type passes, and without a type nothing is checked', async () => {
    const { host, folder } = await rig();
    await mount(host, withVolume({ hostPath: { path: '/dev/null', type: 'CharDevice' } }));
    await mount(host, withVolume({ hostPath: { path: join(folder, 'absent'), type: '' } }));
    await mount(host, withVolume({ hostPath: { path: join(folder, 'a/b'), type: 'DirectoryOrCreate' } }));
    expect((await stat(join(folder, 'a/b'))).isDirectory()).toBe(true);
  });

  test('a container binds its volumes in order, then a termination message file of its attempt', async () => {
    const { host, paths } = await rig();
    const wanted = withVolume({ hostPath: { path: '/srv' } });
    const app = { ...container({ ...wanted.spec.containers[0], terminationMessagePath: '/dev/termination-log' }) };
    const first = await host.prepareContainer(wanted, app, 0, NEVER);
    const second = await host.prepareContainer(wanted, app, 1, NEVER);
    expect(second.mounts.map(({ hostPath, containerPath, readOnly }) => [hostPath, containerPath, readOnly])).toEqual([
      ['/srv', '/data', true],
      [expect.stringMatching(/containers\/app\/[0-9a-f]{8}$/), '/dev/termination-log', false],
    ]);
    expect(second.mounts[1]?.hostPath).not.toBe(first.mounts[1]?.hostPath);
    expect(await mode(second.mounts[1]?.hostPath ?? '')).toBe(0o666);
    await host.prepareContainer(wanted, app, 2, NEVER);
    expect(await readdir(join(paths.rootDir, 'pods/uid-1/containers/app'))).toHaveLength(2);
  });

  test('a subPath is refused by name', async () => {
    const { host } = await rig();
    const app = container({ volumeMounts: [{ name: 'data', mountPath: '/d', subPath: 'x' }] });
    await expect(host.prepareContainer(pod(), app, 0, NEVER)).rejects.toMatchObject({
      reason: 'CreateContainerConfigError',
      message: expect.stringContaining('subPath'),
    });
  });
});

describe('termination message', () => {
  const input = { policy: 'FallbackToLogsOnError', exitCode: 1, maxBytes: 4096 };
  const files = async (message: string, log: string) => {
    const { folder, host } = await rig();
    await writeFile(join(folder, 'message'), message);
    await writeFile(join(folder, 'log'), log);
    return { host, hostPath: join(folder, 'message'), logPath: join(folder, 'log') };
  };

  test('is the end of the file, cut to the container’s share', async () => {
    const { host, ...paths } = await files(`${'x'.repeat(5000)}end`, '');
    expect(await host.terminationMessage({ ...input, ...paths })).toHaveLength(4096);
    expect(await host.terminationMessage({ ...input, ...paths, maxBytes: 5 })).toBe('xxend');
  });

  test('falls back on the last 80 lines and 2048 bytes of the log, joined where the runtime cut them', async () => {
    const lines = Array.from({ length: 90 }, (_, i) => `2026-01-01T00:00:00Z stdout F line ${i}`);
    const cut = ['2026-01-01T00:00:00Z stderr P half', '2026-01-01T00:00:00Z stderr F  done'];
    const { host, ...paths } = await files('', `${[...lines, ...cut].join('\n')}\n`);
    const message = await host.terminationMessage({ ...input, ...paths });
    expect(message.split('\n').slice(0, 1)).toEqual(['line 11']);
    expect(message.endsWith('line 89\nhalf done\n')).toBe(true);
  });

  test.each([
    ['the exit code is 0', { exitCode: 0 }],
    ['the policy is File', { policy: 'File' }],
  ])('leaves the log alone where %s', async (_why, over) => {
    const { host, ...paths } = await files('', '2026-01-01T00:00:00Z stdout F text\n');
    expect(await host.terminationMessage({ ...input, ...paths, ...over })).toBe('');
  });
});

describe('logs and leftovers', () => {
  test('a container’s link and its log files go with it, and no other’s', async () => {
    const { host, paths } = await rig();
    await host.makeDirectories(pod(), NEVER);
    await host.linkContainerLog(pod(), container(), 1, 'abcdef0');
    await host.linkContainerLog(pod(), container(), 1, 'abcdef0');
    const folder = join(host.logDirectory(pod()), 'app');
    expect(await readlink(join(paths.containerLogsDir, 'web_default_app-abcdef0.log'))).toBe(join(folder, '1.log'));
    for (const name of ['1.log', '1.log.20260101-000000.gz', '11.log']) await writeFile(join(folder, name), '');
    await host.removeContainerLog('abcdef0', join(folder, '1.log'));
    expect(await readdir(folder)).toEqual(['11.log']);
    expect(await readdir(paths.containerLogsDir)).toEqual([]);
  });

  test('B022 nothing is left of a pod whose data are removed', async () => {
    const { host, paths } = await rig();
    await host.makeDirectories(pod(), NEVER);
    await host.linkContainerLog(pod(), container(), 0, 'abcdef0');
    await host.removePodData(REF, pod(), NEVER);
    await host.removePodData(REF, undefined, NEVER);
    for (const folder of [join(paths.rootDir, 'pods'), paths.podLogsDir, paths.containerLogsDir])
      expect(await readdir(folder)).toEqual([]);
  });

  test('of a pod whose names are too long for a folder nothing can be there: its data count as removed', async () => {
    const { host } = await rig();
    await host.removePodData({ ...REF, name: 'x'.repeat(253) }, undefined, NEVER);
  });

  (isRoot ? test : test.skip)(
    'B110 the sweep removes what nothing is mounted in, and tells once of the rest',
    async () => {
      const { host, paths, warnings } = await rig();
      const at = (uid: string) => join(paths.rootDir, 'pods', uid);
      for (const uid of ['gone', 'held', 'kept'])
        await mkdir(join(at(uid), 'volumes/plugin/v/left'), { recursive: true });
      await mkdir(join(paths.rootDir, 'plugins/other'), { recursive: true });
      await mkdir(join(paths.podLogsDir, 'default_web_gone'), { recursive: true });
      await mkdir(join(paths.podLogsDir, 'somebody-elses'), { recursive: true });
      await mountTmpfs(join(at('held'), 'volumes/plugin/v'), 'size=64k', {
        logger: { warn: () => undefined },
        signal: NEVER,
      });
      try {
        const removed = await host.sweep(new Set(['kept']), NEVER);
        expect(removed).toEqual([at('gone'), join(paths.podLogsDir, 'default_web_gone')]);
        await host.sweep(new Set(['kept']), NEVER);
        expect(warnings).toHaveLength(1);
        expect((await readdir(join(paths.rootDir, 'pods'))).sort()).toEqual(['held', 'kept']);
        expect(await readdir(paths.podLogsDir)).toEqual(['somebody-elses']);
        expect(await there(join(paths.rootDir, 'plugins/other'))).toBe(true);
      } finally {
        await unmount({ path: join(at('held'), 'volumes/plugin/v'), fsType: 'tmpfs' }, NEVER);
      }
      expect(await host.sweep(new Set(['kept']), NEVER)).toEqual([at('held')]);
    },
  );

  test('a pod that is being set up is not swept, though `keep` does not know it yet', async () => {
    const { host } = await rig();
    await host.makeDirectories(pod(), NEVER);
    expect(await host.sweep(new Set(), NEVER)).toEqual([]);
  });
});

describe('facts', () => {
  test('of a write that was killed half-way are listed, and go with the others of their pod', async () => {
    const { paths, logger } = await rig();
    const facts = createFactStore(paths, logger);
    await facts.write('uid-1', { n: 1 });
    await writeFile(join(paths.rootDir, 'statelet/facts/uid-2.json.7.tmp'), '{"ver');
    expect((await facts.list()).sort()).toEqual(['uid-1', 'uid-2']);
    await facts.remove('uid-2');
    expect(await readdir(join(paths.rootDir, 'statelet/facts'))).toEqual(['uid-1.json']);
  });

  test('are read as they were written, and a corrupt file is set aside with a warning', async () => {
    const { paths, logger, warnings } = await rig();
    const facts = createFactStore(paths, logger);
    expect(await facts.read('uid-1')).toBeUndefined();
    await Promise.all([facts.write('uid-1', { n: 1 }), facts.write('uid-2', { n: 2 })]);
    expect(await facts.read('uid-1')).toEqual({ n: 1 });
    const file = join(paths.rootDir, 'statelet/facts/uid-1.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"n":1', '"n":3'));
    expect(await facts.read('uid-1')).toBeUndefined();
    expect(warnings).toHaveLength(1);
    expect(await readdir(join(paths.rootDir, 'statelet/facts'))).toEqual(['uid-1.json.corrupt', 'uid-2.json']);
  });
});
