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
  const input = { containers: [{ id: 'c1', path }], maxSizeBytes: 10, maxFiles: 3, maxWorkers: 1, reopen };
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

test('a log that has just reached its size is rotated', async () => {
  const { folder, path, input } = await rig();
  await writeFile(path, '0123456789');
  expect((await rotateLogs(input, NEVER, at(1))).rotated).toEqual([path]);
  expect((await readdir(folder)).sort()).toEqual(['0.log', name(1)]);
});

test('what an interrupted compression left is removed: the half-made file, and the plain one beside its whole copy', async () => {
  const { folder, path, input } = await rig();
  for (const [file, text] of [
    [`${name(1)}.gz.tmp`, 'half'],
    [`${name(2)}.tmp`, 'half'],
    [`${name(2)}.gz`, 'whole'],
    [name(2), 'plain'],
    ['0.log', 'more than ten bytes'],
  ] as const)
    await writeFile(join(folder, file), text);
  await rotateLogs({ ...input, maxFiles: 5 }, NEVER, at(3));
  expect((await readdir(folder)).sort()).toEqual(['0.log', `${name(2)}.gz`, name(3)]);
  expect(await readFile(join(folder, `${name(2)}.gz`), 'utf8')).toBe('whole');
  await rm(path);
});

test('no more logs than there are workers are worked on at a time, and one that hangs holds up its worker alone', async () => {
  const folder = await temporary();
  const containers = await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (id) => {
      const path = join(folder, `${id}.log`);
      await writeFile(path, 'more than ten bytes');
      return { id, path };
    }),
  );
  const hung = Promise.withResolvers<void>();
  const others = Promise.withResolvers<void>();
  const begun: string[] = [];
  const reopen = (id: string) => {
    begun.push(id);
    if (id === 'd') others.resolve();
    return id === 'a' ? hung.promise : Promise.resolve();
  };
  const rotation = rotateLogs({ containers, maxSizeBytes: 10, maxFiles: 3, maxWorkers: 2, reopen }, NEVER, at(1));
  await others.promise;
  expect(begun.sort()).toEqual(['a', 'b', 'c', 'd']);
  hung.reject(new Error('no answer'));
  const { rotated, failed } = await rotation;
  expect(rotated).toHaveLength(3);
  expect(failed).toEqual([{ path: containers[0]?.path, message: 'no answer' }]);
  expect(await readdir(folder)).toContain('a.log');
});

test('a log whose name holds what patterns mean is no other log', async () => {
  const { folder, path, input } = await rig();
  await writeFile(join(folder, '10.log.20260101-000001'), 'of another');
  await writeFile(join(folder, '0.log.20260101-000001.bak'), 'of a person');
  await writeFile(path, 'more than ten bytes');
  await rotateLogs({ ...input, maxFiles: 2 }, NEVER, at(2));
  expect((await readdir(folder)).sort()).toEqual([
    '0.log',
    '0.log.20260101-000001.bak',
    name(2),
    '10.log.20260101-000001',
  ]);
});
