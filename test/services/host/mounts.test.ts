import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Libc } from '../../../services/host/libc.ts';
import type * as Mounts from '../../../services/host/mounts.ts';

const NEVER = new AbortController().signal;
const root = process.geteuid?.() === 0 ? describe : describe.skip;

let has: 'koffi' | 'programs';
const libc = (await import('../../../services/host/libc.ts')).libc;
const calls: string[] = [];
jest.unstable_mockModule('../../../services/host/libc.ts', () => ({
  libc: async (): Promise<Libc | undefined> => {
    const real = has === 'koffi' ? await libc() : undefined;
    if (has === 'koffi' && !real) throw new Error('koffi does not load here');
    return (
      real && {
        mount: (...args) => (calls.push('mount'), real.mount(...args)),
        umount2: (...args) => (calls.push('umount2'), real.umount2(...args)),
      }
    );
  },
}));
const { mountTmpfs, readMounts, unmount } = (await import('../../../services/host/mounts.ts')) as typeof Mounts;

root.each(['koffi', 'programs'] as const)('memory is mounted and unmounted by %s', (by) => {
  let directory: string;
  const at = async (path: string) => (await readMounts()).filter((mount) => mount.path === path);

  beforeAll(async () => {
    has = by;
    calls.length = 0;
    directory = await mkdtemp(join(tmpdir(), 'mounts-'));
  });
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  test('with its options, at a path of any characters', async () => {
    const path = join(directory, 'with space and ü');
    await mkdir(path);
    await mountTmpfs(path, 'size=65536,mode=0700', NEVER);
    const [mount] = await at(path);
    expect(mount).toMatchObject({ fsType: 'tmpfs' });
    expect(mount?.superOptions).toEqual(expect.arrayContaining(['size=64k', 'mode=700']));
    await unmount({ path, fsType: 'tmpfs' }, NEVER);
    expect(await at(path)).toEqual([]);
    expect(calls).toEqual(by === 'koffi' ? ['mount', 'umount2'] : []);
  });

  test('one that is in use is told as busy and stays', async () => {
    const path = join(directory, 'used');
    await mkdir(path);
    await mountTmpfs(path, 'size=65536', NEVER);
    const user = spawn('sleep', ['60'], { cwd: path });
    await once(user, 'spawn');
    await expect(unmount({ path, fsType: 'tmpfs' }, NEVER)).rejects.toMatchObject({
      reason: 'EBUSY',
      transient: true,
      message: expect.stringContaining(path),
    });
    expect(await at(path)).toHaveLength(1);
    user.kill();
    await once(user, 'exit');
    await unmount({ path, fsType: 'tmpfs' }, NEVER);
    expect(await at(path)).toEqual([]);
  });

  test('what cannot be mounted is told with its place', async () => {
    const path = join(directory, 'missing');
    await expect(mountTmpfs(path, 'size=65536', NEVER)).rejects.toMatchObject({
      reason: 'MountFailed',
      message: expect.stringContaining(path),
    });
    await mkdir(path);
    await expect(mountTmpfs(path, 'size=nonsense', NEVER)).rejects.toMatchObject({ reason: 'MountFailed' });
    await expect(unmount({ path, fsType: 'tmpfs' }, NEVER)).rejects.toMatchObject({ reason: 'MountFailed' });
  });
});
