import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../../../services/host/make-directory.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'make-directory-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a folder is made', () => {
  test('with all that is missing above it, once and again, with its mode', async () => {
    const path = join(folder, 'a/b/c');
    await makeDirectory(path, 0o700);
    await makeDirectory(path, 0o755);
    for (const each of [path, join(folder, 'a')]) expect((await stat(each)).mode & 0o777).toBe(0o700);
  });

  test('by many at once', async () => {
    const paths = Array.from({ length: 20 }, (_, i) => join(folder, 'many/deep/er', `${i % 4}`));
    await Promise.all(paths.map((path) => makeDirectory(path)));
    for (const path of paths) expect((await stat(path)).isDirectory()).toBe(true);
  });

  test('not below /proc, where the kernel answers ENOENT for ever', async () => {
    await expect(makeDirectory('/proc/statelet/pods')).rejects.toMatchObject({
      code: 'ENOENT',
      path: '/proc/statelet',
    });
  });

  test('not at a file, below a file, or at a link to nothing', async () => {
    await writeFile(join(folder, 'file'), '');
    await symlink('/nowhere/at/all', join(folder, 'link'));
    await expect(makeDirectory(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeDirectory(join(folder, 'file/below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(makeDirectory(join(folder, 'link'))).rejects.toMatchObject({ code: 'EEXIST' });
  });
});
