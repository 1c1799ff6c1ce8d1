import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { VolumeFile } from '../../../machines/pod/policy/volume-content.ts';
import { writeVolume } from '../../../services/host/volumes/atomic-writer.ts';

let directory: string;
beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'atomic-'))));
afterEach(() => rm(directory, { recursive: true, force: true }));

const file = (path: string, text: string, mode = 0o644): VolumeFile => ({ path, mode, data: { text } });
const nothing = () => Promise.resolve();
const write = (files: VolumeFile[], own: (folder: string) => Promise<void> = nothing) =>
  writeVolume(directory, files, own);
const read = (path: string) => readFile(join(directory, path), 'utf8');
const names = async () => (await readdir(directory)).sort();
const current = () => readlink(join(directory, '..data'));

describe('a volume that the agent writes', () => {
  test('shows each file through one link to the folder in force, with its mode', async () => {
    await write([file('a', '1'), file('b/c', '2', 0o400), { path: 'd', mode: 0o600, data: { base64: 'AP8=' } }]);
    expect(await read('a')).toBe('1');
    expect(await read('b/c')).toBe('2');
    expect([...(await readFile(join(directory, 'd')))]).toEqual([0, 255]);
    expect((await stat(join(directory, 'b/c'))).mode & 0o777).toBe(0o400);
    expect(await readlink(join(directory, 'b'))).toBe('..data/b');
    expect(await current()).toMatch(/^\.\.\d{4}(_\d\d){5}\.\d+$/);
    expect((await stat(join(directory, await current()))).mode & 0o777).toBe(0o755);
    expect(await names()).toEqual([await current(), '..data', 'a', 'b', 'd'].sort());
  });

  test('is not written where nothing changed; a mode alone changes nothing', async () => {
    await write([file('a', '1')]);
    const before = await current();
    await write([file('a', '1', 0o600)]);
    expect(await current()).toBe(before);
  });

  test('what is gone goes, and the folder before with it', async () => {
    await write([file('a', '1'), file('b', '2')]);
    await write([file('b', '3')]);
    expect(await names()).toEqual([await current(), '..data', 'b'].sort());
    expect(await read('b')).toBe('3');
    await write([]);
    expect(await names()).toEqual([await current(), '..data'].sort());
  });

  test('B107 ownership is set before anybody can see the files', async () => {
    await write([file('a', '1')]);
    const before = await current();
    let seen = '';
    await write([file('a', '2')], async (folder) => {
      seen = await read('a');
      expect(await readFile(join(folder, 'a'), 'utf8')).toBe('2');
      expect(await current()).toBe(before);
    });
    expect(seen).toBe('1');
    expect(await read('a')).toBe('2');
  });

  test('B104 who reads through the link sees all files of one version', async () => {
    const keys = Array.from({ length: 25 }, (_, i) => `key-${i}`);
    const version = (n: number) => keys.map((key) => file(key, String(n)));
    await write(version(0));
    let over = false;
    const reader = (async () => {
      let looks = 0;
      while (!over) {
        const folder = join(directory, await current());
        const texts = await Promise.all(keys.map((key) => readFile(join(folder, key), 'utf8'))).catch(() => []);
        expect(new Set(texts).size).toBeLessThanOrEqual(1);
        looks += 1;
      }
      return looks;
    })();
    try {
      for (let n = 1; n <= 20; n++) await write(version(n));
    } finally {
      over = true;
    }
    expect(await reader).toBeGreaterThan(0);
    expect(await read('key-24')).toBe('20');
  });

  test.each([
    ['before the switch', async () => writeFile(join(directory, '..2026_01_01_00_00_00.1/half'), 'x')],
    ['in the middle of the switch', async () => symlink('..2026_01_01_00_00_00.1', join(directory, '..data_tmp'))],
    ['before the names were made', async () => rm(join(directory, 'a'))],
    ['with a link to nothing', async () => rm(join(directory, await current()), { recursive: true })],
  ])('B102 an agent that was killed %s left what the next one puts right', async (_when, harm) => {
    await write([file('a', '1')]);
    await mkdir(join(directory, '..2026_01_01_00_00_00.1'));
    await harm();
    await write([file('a', '1')]);
    expect(await read('a')).toBe('1');
    expect(await names()).toEqual([await current(), '..data', 'a'].sort());
  });

  test.each(['/etc/passwd', 'a/../../b', '..data', '', '..x/y', 'x'.repeat(256)])(
    'path %j is refused',
    async (path) => {
      await expect(write([file(path, '')])).rejects.toThrow('invalid path');
    },
  );

  test('a link that leads out of the volume is replaced, not followed', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'));
    await symlink(outside, join(directory, '..data'));
    await symlink(outside, join(directory, 'a'));
    await write([file('a', '1')]);
    expect(await readdir(outside)).toEqual([]);
    expect(await read('a')).toBe('1');
    await rm(outside, { recursive: true });
  });
});
