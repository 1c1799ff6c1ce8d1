import { describe, expect, test } from '@jest/globals';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createActor, toPromise } from 'xstate';
import { createFactStore, podFacts } from '../../../services/host/index.ts';
import type { PodStatus } from '../../../machines/kubernetes.types.ts';
import type { Verdicts } from '../../../machines/pod/probe.types.ts';
import { rig } from './rig.ts';

async function ended() {
  const { paths, logger, warnings } = await rig();
  const pods = podFacts(createFactStore(paths, logger), logger);
  const record = (uid: string, status: PodStatus) => {
    const actor = createActor(pods.recordEnd, { input: { uid, name: 'web', namespace: 'default', status } });
    const settled = toPromise(actor);
    actor.start();
    return settled;
  };
  return {
    folder: join(paths.rootDir, 'statelet/facts'),
    load: async () => (await pods.load()).ended,
    stops: async () => (await pods.load()).stops,
    pods,
    record,
    warnings,
  };
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

const stop = (id: string, killAt: number) => ({ id, killAt, gracePeriodSeconds: 30, reason: 'podStopping' as const });

test('stops that were begun are known to the next agent, the last one of each container, until the pod has ended', async () => {
  const { stops, pods, record } = await ended();
  await Promise.all([
    pods.recordStop('uid-1', 'app', stop('c1', 1_000)),
    pods.recordStop('uid-1', 'side', { ...stop('c2', 1_000), podEnd: { removed: true } }),
    pods.recordStop('uid-2', 'app', stop('c3', 2_000)),
  ]);
  await pods.recordStop('uid-1', 'app', stop('c1', 500));
  expect(await stops()).toEqual({
    'uid-1': { app: stop('c1', 500), side: { ...stop('c2', 1_000), podEnd: { removed: true } } },
    'uid-2': { app: stop('c3', 2_000) },
  });
  await record('uid-1', { phase: 'Failed' });
  expect(Object.keys(await stops())).toEqual(['uid-2']);
});

test('a stop that cannot be kept is told, and is no reason not to stop', async () => {
  const { pods, warnings } = await ended();
  await expect(pods.recordStop('../uid', 'app', stop('c1', 1_000))).resolves.toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining('the deadline of a stop could not be kept')]);
});

test('a file that is no fact is set aside, and the others are read', async () => {
  const { folder, load, record, warnings } = await ended();
  await record('uid-1', { phase: 'Succeeded' });
  await writeFile(join(folder, 'uid-2.json'), '{"version":1,');
  expect(Object.keys(await load())).toEqual(['uid-1']);
  expect(warnings).toHaveLength(1);
  expect((await readdir(folder)).sort()).toEqual(['uid-1.json', 'uid-2.json.corrupt']);
});

describe('what probes found', () => {
  async function keeper() {
    const { paths, logger, warnings } = await rig();
    const store = createFactStore(paths, logger);
    const disk = { isFull: false };
    const full = () => Promise.reject(new Error('ENOSPC: no space left on device'));
    const pods = podFacts({ ...store, write: (...facts) => (disk.isFull ? full() : store.write(...facts)) }, logger);
    const keep = (verdicts: Verdicts, podUid = 'uid-1') => {
      const actor = createActor(pods.keepVerdict, { input: { podUid, name: 'app', verdicts } });
      const settled = toPromise(actor);
      actor.start();
      return settled;
    };
    return { disk, keep, pods, warnings, load: async () => (await pods.load()).verdicts };
  }

  test('is known to the next agent, by container, beside the stops; another instance begins anew', async () => {
    const { keep, load, pods } = await keeper();
    await pods.recordStop('uid-1', 'side', stop('c9', 1_000));
    await Promise.all([keep({ id: 'c1', startup: true }), keep({ id: 'c1', readiness: false })]);
    await keep({ id: 'c1', readiness: true });
    expect(await load()).toEqual({ 'uid-1': { app: { id: 'c1', startup: true, readiness: true } } });
    await keep({ id: 'c2', startup: true });
    expect(await load()).toEqual({ 'uid-1': { app: { id: 'c2', startup: true } } });
    expect(Object.keys((await pods.load()).stops)).toEqual(['uid-1']);
  });

  test('that cannot be kept is told once until it can, and what is not ready any more is not kept as ready', async () => {
    const { disk, keep, load, warnings } = await keeper();
    await keep({ id: 'c1', startup: true, readiness: true });
    disk.isFull = true;
    for (let tries = 0; tries < 3; tries += 1)
      await expect(keep({ id: 'c1', startup: true, readiness: false })).rejects.toThrow('no space left');
    expect(warnings).toEqual([expect.stringContaining('what a probe found could not be kept')]);
    expect(await load()).toEqual({});
    disk.isFull = false;
    await keep({ id: 'c1', startup: true, readiness: false });
    expect(await load()).toEqual({ 'uid-1': { app: { id: 'c1', startup: true, readiness: false } } });
  });

  test('goes with no stop that is kept', async () => {
    const { disk, keep, pods } = await keeper();
    await pods.recordStop('uid-1', 'app', stop('c1', 1_000));
    disk.isFull = true;
    await expect(keep({ id: 'c1', readiness: false })).rejects.toThrow();
    expect((await pods.load()).stops).toEqual({ 'uid-1': { app: stop('c1', 1_000) } });
  });
});
