import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';

import type { DeepPartial } from '../../../services/cri/proto/generated/cri.ts';
import {
  ContainerFilter,
  ContainerState,
  ContainerStats,
  LinuxContainerResources,
  PodSandboxFilter,
  PodSandboxState,
} from '../../../services/cri/proto/generated/cri.ts';
import { Bench, call, until } from './client.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start();
});
afterAll(() => bench.stop());

async function sandboxes(filter: DeepPartial<PodSandboxFilter>): Promise<string[]> {
  const request = { filter: PodSandboxFilter.fromPartial(filter) };
  return (await call(bench.client.listPodSandbox, bench.client, request)).items.map(({ id }) => id);
}

async function containers(filter: DeepPartial<ContainerFilter>): Promise<string[]> {
  const request = { filter: ContainerFilter.fromPartial(filter) };
  return (await call(bench.client.listContainers, bench.client, request)).containers.map(({ id }) => id);
}

test('the runtime says what it is, that it is ready, and which cgroup driver it shares', async () => {
  const version = await call(bench.client.version, bench.client, { version: 'v1' });
  expect(version).toMatchObject({ runtimeName: 'statelet-embedded', runtimeApiVersion: 'v1' });
  const { status: health } = await call(bench.client.status, bench.client, { verbose: false });
  expect(health?.conditions.map(({ type, status: holds }) => [type, holds])).toEqual([
    ['RuntimeReady', true],
    ['NetworkReady', true],
  ]);
  expect((await call(bench.client.runtimeConfig, bench.client, {})).linux).toBeDefined();
});

test('a method that is not implemented says so', async () => {
  await expect(call(bench.client.listMetricDescriptors, bench.client, {})).rejects.toMatchObject({
    code: status.UNIMPLEMENTED,
  });
});

describe('lists', () => {
  test('of sandboxes keep to id, state and labels', async () => {
    const labels = { app: 'a', tier: 'x' };
    const first = await bench.sandbox(bench.sandboxConfig({ labels }));
    const second = await bench.sandbox(bench.sandboxConfig({ labels: { app: 'a' } }));
    await call(bench.client.stopPodSandbox, bench.client, { podSandboxId: second });
    expect(await sandboxes({ labelSelector: { app: 'a' } })).toEqual([first, second]);
    expect(await sandboxes({ labelSelector: labels })).toEqual([first]);
    const notReady = { state: { state: PodSandboxState.SANDBOX_NOTREADY } };
    expect(await sandboxes({ ...notReady, labelSelector: { app: 'a' } })).toEqual([second]);
    expect(await sandboxes({ id: first })).toEqual([first]);
    expect(await sandboxes({ id: first.slice(0, 13) })).toEqual([first]);
    expect(await sandboxes({ id: 'absent' })).toEqual([]);
    expect(await sandboxes({})).toEqual(expect.arrayContaining([first, second]));
  });

  test('of containers keep to id, sandbox, state and labels', async () => {
    const sandboxId = await bench.sandbox();
    const made = await bench.create(sandboxId, { labels: { app: 'b' } });
    const runs = await bench.shell(
      'sleep 600',
      { metadata: { name: 'b', attempt: 0 }, labels: { app: 'b' } },
      sandboxId,
    );
    const elsewhere = await bench.create(await bench.sandbox(), { labels: { app: 'b' } });
    expect(await containers({ labelSelector: { app: 'b' } })).toEqual([made, runs, elsewhere]);
    expect(await containers({ podSandboxId: sandboxId })).toEqual([made, runs]);
    const running = { state: { state: ContainerState.CONTAINER_RUNNING } };
    expect(await containers({ ...running, podSandboxId: sandboxId })).toEqual([runs]);
    expect(await containers({ id: made })).toEqual([made]);
  });
});

describe('statistics', () => {
  test('tell CPU, memory and written bytes of a running container', async () => {
    const id = await bench.shell('head -c 100000 /dev/zero > file; while :; do :; done');
    const read = async (): Promise<ContainerStats> =>
      ContainerStats.fromPartial(
        (await call(bench.client.containerStats, bench.client, { containerId: id })).stats ?? {},
      );
    const busy = await until(async () => {
      const stats = await read();
      return (stats.cpu?.usageNanoCores?.value ?? 0n) > 0n ? stats : undefined;
    });
    expect(busy.attributes?.id).toBe(id);
    expect(busy.cpu?.usageCoreNanoSeconds?.value).toBeGreaterThan(0n);
    expect(busy.memory?.workingSetBytes?.value).toBeGreaterThan(100_000n);
    expect(busy.writableLayer?.usedBytes?.value).toBeGreaterThanOrEqual(100_000n);
    await call(bench.client.stopContainer, bench.client, { containerId: id, timeout: 0n });
    await expect(read()).rejects.toMatchObject({ details: expect.stringContaining('not running') });
  });

  test('of all running containers keep to the filter', async () => {
    const sandboxId = await bench.sandbox();
    const id = await bench.shell('sleep 600', {}, sandboxId);
    const filter = { id: '', podSandboxId: sandboxId, labelSelector: {} };
    const { stats } = await call(bench.client.listContainerStats, bench.client, { filter });
    expect(stats.map((each) => each.attributes?.id)).toEqual([id]);
  });
});

test('new limits are reported, and what they leave out stays', async () => {
  const resources = { memoryLimitInBytes: 1n, cpuShares: 2n };
  const id = await bench.create(await bench.sandbox(), { linux: { resources } });
  await call(bench.client.updateContainerResources, bench.client, {
    containerId: id,
    linux: LinuxContainerResources.fromPartial({ memoryLimitInBytes: 5n }),
    windows: undefined,
    annotations: {},
  });
  expect((await bench.status(id)).resources?.linux).toMatchObject({ memoryLimitInBytes: 5n, cpuShares: 2n });
});
