import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';

import { isAlive, processesByGroup } from '../../../services/cri/embedded/proc.ts';
import { ContainerState, Signal } from '../../../services/cri/proto/generated/cri.ts';
import { Bench, call, until } from './client.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start();
});
afterAll(() => bench.stop());

const stop = (containerId: string, timeout: bigint, deadlineMs?: number): Promise<unknown> =>
  call(bench.client.stopContainer, bench.client, { containerId, timeout }, { deadlineMs });

/** A container that says `up` once its traps are set. */
async function trapping(script: string, fields = {}): Promise<string> {
  const id = await bench.shell(`${script}; echo up; while :; do sleep 0.05; done`, fields);
  await until(async () => ((await bench.output(id)).includes('up') ? true : undefined));
  return id;
}

describe('StopContainer', () => {
  test('lets the process end on TERM within its grace', async () => {
    const id = await trapping(`trap 'echo bye; exit 7' TERM`);
    await stop(id, 30n);
    expect(await bench.status(id)).toMatchObject({ state: ContainerState.CONTAINER_EXITED, exitCode: 7 });
    expect(await bench.output(id)).toContain('bye');
  });

  test('kills with the grace over', async () => {
    const id = await trapping(`trap 'echo ignored' TERM`);
    await stop(id, 1n);
    expect(await bench.status(id)).toMatchObject({ exitCode: 137, reason: 'Error' });
    expect(await bench.output(id)).toContain('ignored');
  });

  test('with a time-out of 0 kills at once, without TERM', async () => {
    const id = await trapping(`trap 'echo asked; exit 0' TERM`);
    await stop(id, 0n);
    expect((await bench.status(id)).exitCode).toBe(137);
    expect(await bench.output(id)).not.toContain('asked');
  });

  test('sends the stop signal of the config', async () => {
    const id = await trapping(`trap 'exit 10' USR1`, { stopSignal: Signal.SIGNAL_SIGUSR1 });
    await stop(id, 30n);
    expect((await bench.status(id)).exitCode).toBe(10);
  });

  test('takes the shorter of two graces', async () => {
    const id = await trapping(`trap '' TERM`);
    const long = stop(id, 600n);
    await stop(id, 0n);
    await long;
    expect((await bench.status(id)).exitCode).toBe(137);
  });

  test('whose client gives up kills nothing', async () => {
    const id = await trapping(`trap 'echo asked' TERM`);
    await expect(stop(id, 600n, 300)).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await until(async () => ((await bench.output(id)).includes('asked') ? true : undefined));
    await sleep(50);
    expect((await bench.status(id)).state).toBe(ContainerState.CONTAINER_RUNNING);
  });

  test('of an exited container is fine', async () => {
    const id = await bench.shell('exit 4');
    await bench.exited(id);
    await stop(id, 30n);
    expect((await bench.status(id)).exitCode).toBe(4);
  });
});

describe('processes', () => {
  test('that the first one left behind end with it', async () => {
    const id = await bench.shell('sleep 600 & sleep 600 & exit 0');
    const pid = await bench.pid(id);
    await bench.exited(id);
    await until(async () => ((await processesByGroup()).has(pid) ? undefined : true));
  });

  test('of 30 containers made and removed in parallel are all gone, with their directories', async () => {
    const pids = await Promise.all(
      Array.from({ length: 30 }, async (_, number) => {
        const sandboxId = await bench.sandbox();
        const id = await bench.shell(`echo ${number}; sleep 600 & sleep 600`, {}, sandboxId);
        const pid = await bench.pid(id);
        expect(await isAlive(pid, String(await startTime(pid)))).toBe(true);
        await call(bench.client.stopPodSandbox, bench.client, { podSandboxId: sandboxId });
        await call(bench.client.removePodSandbox, bench.client, { podSandboxId: sandboxId });
        return pid;
      }),
    );
    await until(async () => {
      const groups = await processesByGroup();
      return pids.some((pid) => groups.has(pid)) ? undefined : true;
    });
  }, 60_000);
});

async function startTime(pid: number): Promise<string | undefined> {
  return (await processesByGroup()).get(pid)?.find((each) => each.pid === pid)?.startTime;
}
