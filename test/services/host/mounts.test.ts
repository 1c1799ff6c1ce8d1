import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Libc } from '../../../services/host/libc.ts';
import type * as Mounts from '../../../services/host/mounts.ts';

const NEVER = new AbortController().signal;
const root = process.geteuid?.() === 0 ? describe : describe.skip;

let has: 'koffi' | 'programs';
const libc = (await import('../../../services/host/libc.ts')).libc;
const calls: string[] = [];
/** Errnos that the next mounts are refused with. */
const refusals: number[] = [];
const warnings: unknown[] = [];
const ASK = { logger: { warn: (...said: unknown[]) => void warnings.push(said) }, signal: NEVER };
jest.unstable_mockModule('../../../services/host/libc.ts', () => ({
  libc: async (): Promise<Libc | Error> => {
    if (has === 'programs') return new Error('koffi is not here');
    const real = await libc();
    if (real instanceof Error) throw real;
    return {
      mount: (...args) => (calls.push('mount'), refusals.shift() ?? real.mount(...args)),
      umount2: (...args) => (calls.push('umount2'), real.umount2(...args)),
    };
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
    await mountTmpfs(path, 'size=65536,mode=0700', ASK);
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
    await mountTmpfs(path, 'size=65536', ASK);
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
    await expect(mountTmpfs(path, 'size=65536', ASK)).rejects.toMatchObject({
      reason: 'MountFailed',
      message: expect.stringContaining(path),
    });
    await mkdir(path);
    await expect(mountTmpfs(path, 'size=nonsense', ASK)).rejects.toMatchObject({ reason: 'MountFailed' });
    await expect(unmount({ path, fsType: 'tmpfs' }, NEVER)).rejects.toMatchObject({ reason: 'MountFailed' });
  });

  test('that there is no call of the kernel is told once', async () => {
    for (const name of ['told', 'once']) {
      const path = join(directory, name);
      await mkdir(path);
      await mountTmpfs(path, 'size=65536', ASK);
      await unmount({ path, fsType: 'tmpfs' }, NEVER);
    }
    const told = [[{ problem: 'koffi is not here' }, expect.stringContaining('mount(8)')]];
    expect(warnings).toEqual(by === 'koffi' ? [] : told);
  });
});

describe('where the kernel is called by mount(8)', () => {
  let folder: string;
  const { PATH } = process.env;
  /** A mount(8) that writes down its options, and refuses noswap in these words. */
  const program = async (words: string) => {
    const script = `#!/bin/sh\necho "$4" >> ${folder}/asked\ncase "$4" in *noswap*) echo "${words}" >&2; exit 32;; esac\n`;
    await writeFile(join(folder, 'mount'), script, { mode: 0o755 });
  };
  const asked = async () => (await readFile(join(folder, 'asked'), 'utf8')).trim().split('\n');
  /** As of an agent that was just started. */
  const fresh = async () => {
    jest.resetModules();
    return (await import('../../../services/host/mounts.ts')) as typeof Mounts;
  };

  beforeEach(async () => {
    has = 'programs';
    folder = await mkdtemp(join(tmpdir(), 'mount-words-'));
    process.env.PATH = `${folder}:${PATH}`;
  });
  afterEach(async () => {
    process.env.PATH = PATH;
    await rm(folder, { recursive: true, force: true });
  });

  test.each([
    'mount: /v: wrong fs type, bad option, bad superblock on tmpfs, missing codepage or helper program, or other error.',
    "mount: /v: fsconfig() failed: tmpfs: Unknown parameter 'noswap'.",
    'mount: mounting tmpfs on /v failed: Invalid argument',
  ])('the option is left out from then on: %s', async (words) => {
    await program(words);
    const agent = await fresh();
    for (let times = 0; times < 2; times++) await agent.mountTmpfs('/v', 'size=1', ASK);
    expect(await asked()).toEqual(['size=1,noswap', 'size=1', 'size=1']);
  });

  test('another failure is told, and the option asked for again', async () => {
    await program('mount: /v: mount(2) system call failed: Cannot allocate memory.');
    const agent = await fresh();
    for (let times = 0; times < 2; times++)
      await expect(agent.mountTmpfs('/v', 'size=1', ASK)).rejects.toMatchObject({
        reason: 'MountFailed',
        message: expect.stringContaining('Cannot allocate memory'),
      });
    expect(await asked()).toEqual(['size=1,noswap', 'size=1,noswap']);
  });
});

root('an option that the kernel may not know', () => {
  const { EINVAL, ENOMEM } = constants.errno;
  let path: string;
  const swaps = async () => {
    await mountTmpfs(path, 'size=65536', ASK);
    const mount = (await readMounts()).find((each) => each.path === path);
    await unmount({ path, fsType: 'tmpfs' }, NEVER);
    return !mount?.superOptions.includes('noswap');
  };

  beforeAll(async () => {
    has = 'koffi';
    path = await mkdtemp(join(tmpdir(), 'noswap-'));
  });
  afterAll(() => rm(path, { recursive: true, force: true }));

  test('is asked for again after a failure that has nothing to do with it, and no more once it was refused', async () => {
    const before = await swaps();
    refusals.push(ENOMEM);
    await expect(mountTmpfs(path, 'size=65536', ASK)).rejects.toMatchObject({
      message: expect.stringContaining('ENOMEM'),
    });
    expect(await swaps()).toBe(before);
    refusals.push(EINVAL);
    expect(await swaps()).toBe(true);
    expect(await swaps()).toBe(true);
  });
});
