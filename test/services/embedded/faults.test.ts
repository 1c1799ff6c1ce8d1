import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';

import { ContainerState } from '../../../services/cri/proto/generated/cri.ts';
import { Bench, call, until } from './client.ts';

let bench: Bench;
let id: string;
beforeEach(async () => {
  bench = await Bench.start();
  id = await bench.create(await bench.sandbox(), { command: ['sleep', '600'] });
});
afterEach(() => bench.stop());

const unavailable = { code: status.UNAVAILABLE, message: 'out to lunch' };
const start = (deadlineMs?: number): Promise<unknown> =>
  call(bench.client.startContainer, bench.client, { containerId: id }, { deadlineMs });
const state = async (): Promise<ContainerState> => (await bench.status(id)).state;

describe('a fault', () => {
  test('refuses the call with nothing done, as many times as told', async () => {
    bench.runtime.faults.add({ method: 'StartContainer', fail: unavailable, times: 2 });
    await expect(start()).rejects.toMatchObject({ code: status.UNAVAILABLE, details: 'out to lunch' });
    await expect(start()).rejects.toMatchObject({ code: status.UNAVAILABLE });
    expect(await state()).toBe(ContainerState.CONTAINER_CREATED);
    await start();
    expect(await state()).toBe(ContainerState.CONTAINER_RUNNING);
  });

  test('refuses the call with the work done', async () => {
    bench.runtime.faults.add({ method: 'StartContainer', fail: unavailable, after: true });
    await expect(start()).rejects.toMatchObject({ code: status.UNAVAILABLE });
    expect(await state()).toBe(ContainerState.CONTAINER_RUNNING);
  });

  test('keeps to the requests that match', async () => {
    bench.runtime.faults.add({
      method: 'ContainerStatus',
      match: (request) => request.containerId === 'other',
      fail: unavailable,
    });
    await expect(bench.status('other')).rejects.toMatchObject({ code: status.UNAVAILABLE });
    expect(await state()).toBe(ContainerState.CONTAINER_CREATED);
  });

  test('delays a call, which finishes late though its client has gone', async () => {
    bench.runtime.faults.add({ method: 'StartContainer', delayMs: 400 });
    await expect(start(100)).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    expect(await state()).toBe(ContainerState.CONTAINER_CREATED);
    await until(async () => ((await state()) === ContainerState.CONTAINER_RUNNING ? true : undefined));
  });

  test('answers late what is done at once', async () => {
    bench.runtime.faults.add({ method: 'StartContainer', delayMs: 500, after: true });
    const answered = start();
    await until(async () => ((await state()) === ContainerState.CONTAINER_RUNNING ? true : undefined));
    expect(bench.runtime.faults.calls('StartContainer')[0]?.outcome).toBeUndefined();
    await answered;
    expect(bench.runtime.faults.calls('StartContainer')[0]?.outcome).toBe('OK');
  });

  test('hangs a call until its client gives up, others go on', async () => {
    bench.runtime.faults.add({ method: 'StartContainer', hang: true });
    await expect(start(150)).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    expect(await state()).toBe(ContainerState.CONTAINER_CREATED);
  });

  test('hangs a call with the work done, until it is cleared', async () => {
    bench.runtime.faults.add({ method: 'StartContainer', hang: true, after: true });
    const answered = expect(start()).rejects.toMatchObject({ code: status.ABORTED });
    await until(async () => ((await state()) === ContainerState.CONTAINER_RUNNING ? true : undefined));
    bench.runtime.faults.clear();
    await answered;
  });

  test('midway in CreateContainer holds the name of a container that no list shows', async () => {
    const sandboxId = await bench.sandbox();
    bench.runtime.faults.add({ method: 'CreateContainer', hang: true, midway: true, times: 1 });
    const first = expect(bench.create(sandboxId)).rejects.toMatchObject({ code: status.ABORTED });
    await until(() => (bench.runtime.faults.calls('CreateContainer').length === 2 ? true : undefined));
    await expect(bench.create(sandboxId)).rejects.toMatchObject({
      details: expect.stringContaining('is reserved for'),
    });
    const { containers } = await call(bench.client.listContainers, bench.client, { filter: undefined });
    expect(containers.map((each) => each.id)).toEqual([id]);
    bench.runtime.faults.clear();
    await first;
    await bench.create(sandboxId);
  });

  test('midway is refused for a method that has no such point', () => {
    expect(() => bench.runtime.faults.add({ method: 'Version', midway: true })).toThrow('midway is for');
  });
});

test('the ledger has every call in the order of arrival, with request, times and outcome', async () => {
  const { faults } = bench.runtime;
  await start();
  await expect(bench.status('absent')).rejects.toThrow();
  const calls = faults.calls();
  expect(calls.map(({ method, outcome }) => [method, outcome])).toEqual([
    ['RunPodSandbox', 'OK'],
    ['CreateContainer', 'OK'],
    ['StartContainer', 'OK'],
    ['ContainerStatus', 'NOT_FOUND'],
  ]);
  expect(calls[2]?.request).toEqual({ containerId: id });
  for (const { startedAt, endedAt } of calls) expect(endedAt).toBeGreaterThanOrEqual(startedAt);
});
