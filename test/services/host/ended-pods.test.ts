import { expect, test } from '@jest/globals';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createActor, toPromise } from 'xstate';
import { createFactStore, endedPods } from '../../../services/host/index.ts';
import type { PodStatus } from '../../../machines/kubernetes.types.ts';
import { rig } from './rig.ts';

async function ended() {
  const { paths, logger, warnings } = await rig();
  const pods = endedPods(createFactStore(paths, logger));
  const record = (uid: string, status: PodStatus) => {
    const actor = createActor(pods.recordEnd, { input: { uid, name: 'web', namespace: 'default', status } });
    const settled = toPromise(actor);
    actor.start();
    return settled;
  };
  return { folder: join(paths.rootDir, 'statelet/facts'), load: () => pods.load(), record, warnings };
}

test('how a pod ended is known to the next agent, though the runtime has no record of it', async () => {
  const { load, record } = await ended();
  expect(await load()).toEqual({});
  await record('uid-1', { phase: 'Succeeded' });
  await record('uid-2', { phase: 'Failed', reason: 'DeadlineExceeded' });
  expect(await load()).toEqual({
    'uid-1': { phase: 'Succeeded' },
    'uid-2': { phase: 'Failed', reason: 'DeadlineExceeded' },
  });
});

test('a pod that was stopped before its end leaves no such fact', async () => {
  const { load, record } = await ended();
  await record('uid-1', { phase: 'Running' });
  expect(await load()).toEqual({});
});

test('a file that is no fact is set aside, and the others are read', async () => {
  const { folder, load, record, warnings } = await ended();
  await record('uid-1', { phase: 'Succeeded' });
  await writeFile(join(folder, 'uid-2.json'), '{"version":1,');
  expect(Object.keys(await load())).toEqual(['uid-1']);
  expect(warnings).toHaveLength(1);
  expect((await readdir(folder)).sort()).toEqual(['uid-1.json', 'uid-2.json.corrupt']);
});
