import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { rotateLogs } from '../../../services/host/index.ts';
import { NEVER, temporary } from './rig.ts';

const at = (second: number) => new Date(2026, 0, 1, 0, 0, second);
const name = (second: number) => `0.log.20260101-00000${second}`;

async function rig() {
  const folder = await temporary();
  const path = join(folder, '0.log');
  const reopened: string[] = [];
  const reopen = async (id: string) => {
    reopened.push(id);
    await writeFile(path, '');
  };
  const input = { containers: [{ id: 'c1', path }], maxSizeBytes: 10, maxFiles: 3, reopen };
  return { folder, path, reopened, input };
}

test('B139 a log above its size is renamed and reopened; the newest rotated one stays plain; files never exceed the limit', async () => {
  const { folder, path, input } = await rig();
  for (let second = 1; second <= 4; second += 1) {
    await writeFile(path, `more than ten bytes ${second}`);
    expect(await rotateLogs(input, NEVER, at(second))).toEqual({ rotated: [path], failed: [] });
  }
  expect((await readdir(folder)).sort()).toEqual(['0.log', `${name(3)}.gz`, name(4)]);
  expect(gunzipSync(await readFile(join(folder, `${name(3)}.gz`))).toString()).toBe('more than ten bytes 3');
});

test('a log within its size is left alone', async () => {
  const { folder, path, input } = await rig();
  await writeFile(path, 'short');
  expect(await rotateLogs(input, NEVER)).toEqual({ rotated: [], failed: [] });
  expect(await readdir(folder)).toEqual(['0.log']);
});

test('a runtime that does not reopen gets its file back, and the failure is told', async () => {
  const { folder, path, input } = await rig();
  await writeFile(path, 'more than ten bytes');
  const reopen = () => Promise.reject(new Error('no such container'));
  expect(await rotateLogs({ ...input, reopen }, NEVER)).toEqual({
    rotated: [],
    failed: [{ path, message: 'no such container' }],
  });
  expect(await readdir(folder)).toEqual(['0.log']);
});

test('a log that is away is opened anew, and two rotations in one second get two names', async () => {
  const { folder, path, reopened, input } = await rig();
  await rotateLogs(input, NEVER);
  expect(reopened).toEqual(['c1']);
  for (let n = 0; n < 2; n += 1) {
    await writeFile(path, 'more than ten bytes');
    await rotateLogs({ ...input, maxFiles: 5 }, NEVER, at(1));
  }
  expect((await readdir(folder)).sort()).toEqual(['0.log', `${name(1)}.gz`, name(2)]);
  await rm(path);
});
