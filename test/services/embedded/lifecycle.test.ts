import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';

import { ContainerState, PodSandboxState } from '../../../services/cri/proto/generated/cri.ts';
import { Bench, call } from './client.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start();
});
afterAll(() => bench.stop());

describe('a container', () => {
  test('is created, runs and exits with its code, times rising', async () => {
    const sandboxId = await bench.sandbox();
    const id = await bench.create(sandboxId, { command: ['sh', '-c', 'sleep 0.1; exit 3'] });
    expect(await bench.status(id)).toMatchObject({ state: ContainerState.CONTAINER_CREATED, startedAt: 0n });
    await bench.begin(id);
    expect((await bench.status(id)).state).toBe(ContainerState.CONTAINER_RUNNING);
    const end = await bench.exited(id);
    expect(end).toMatchObject({ exitCode: 3, reason: 'Error' });
    expect(end.createdAt).toBeLessThan(end.startedAt);
    expect(end.startedAt).toBeLessThan(end.finishedAt);
  });

  test('that exits with 0 has reason Completed', async () => {
    expect(await bench.exited(await bench.shell('exit 0'))).toMatchObject({ exitCode: 0, reason: 'Completed' });
  });

  test('ended by signal n has exit code 128+n', async () => {
    expect(await bench.exited(await bench.shell('kill -INT $$'))).toMatchObject({ exitCode: 130, reason: 'Error' });
  });

  test('whose command does not exist fails to start and has exited with 128 and reason StartError', async () => {
    const id = await bench.create(await bench.sandbox(), { command: ['no-such-command'] });
    await expect(bench.begin(id)).rejects.toMatchObject({
      code: status.UNKNOWN,
      details: expect.stringContaining('exec: "no-such-command": executable file not found in $PATH'),
    });
    expect(await bench.status(id)).toMatchObject({
      state: ContainerState.CONTAINER_EXITED,
      exitCode: 128,
      reason: 'StartError',
    });
  });

  test('cannot be started twice', async () => {
    const id = await bench.shell('sleep 60');
    await expect(bench.begin(id)).rejects.toMatchObject({
      details: expect.stringContaining('container is in CONTAINER_RUNNING state'),
    });
  });

  test('started twice at once has one process', async () => {
    const id = await bench.create(await bench.sandbox(), { command: ['sh', '-c', 'echo once; sleep 60'] });
    const results = await Promise.allSettled([bench.begin(id), bench.begin(id)]);
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('that is removed while it runs is killed first', async () => {
    const id = await bench.shell('sleep 60');
    const pid = await bench.pid(id);
    await call(bench.client.removeContainer, bench.client, { containerId: id });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await expect(bench.status(id)).rejects.toMatchObject({ code: status.NOT_FOUND });
  });

  test('that is not there cannot be started, but is stopped and removed', async () => {
    await expect(bench.begin('absent')).rejects.toMatchObject({ code: status.NOT_FOUND });
    await call(bench.client.stopContainer, bench.client, { containerId: 'absent', timeout: 0n });
    await call(bench.client.removeContainer, bench.client, { containerId: 'absent' });
  });

  test('without a command runs the image command: a long sleep', async () => {
    const id = await bench.create(await bench.sandbox());
    await bench.begin(id);
    expect((await bench.status(id)).state).toBe(ContainerState.CONTAINER_RUNNING);
  });

  test('needs an image that was pulled', async () => {
    const sandboxId = await bench.sandbox();
    await expect(bench.create(sandboxId, { image: { image: 'never-pulled' } })).rejects.toMatchObject({
      code: status.NOT_FOUND,
    });
  });
});

describe('a name', () => {
  test('of a container is refused while another has it, and free again after its removal', async () => {
    const config = bench.sandboxConfig();
    const { name, uid } = config.metadata ?? {};
    const sandboxId = await bench.sandbox(config);
    const id = await bench.create(sandboxId);
    await expect(bench.create(sandboxId)).rejects.toMatchObject({
      code: status.UNKNOWN,
      details: expect.stringContaining(`name "main_${name}_default_${uid}_0" is reserved for "${id}"`),
    });
    await call(bench.client.removeContainer, bench.client, { containerId: id });
    await bench.create(sandboxId);
  });

  test('of a sandbox is refused while another has it', async () => {
    const config = bench.sandboxConfig();
    const id = await bench.sandbox(config);
    await expect(bench.sandbox(config)).rejects.toMatchObject({
      details: expect.stringContaining(`is reserved for "${id}"`),
    });
  });

  test('stays free when the create failed', async () => {
    const sandboxId = await bench.sandbox();
    await expect(bench.create(sandboxId, { image: { image: 'never-pulled' } })).rejects.toThrow();
    await bench.create(sandboxId);
  });
});

describe('a sandbox', () => {
  test('is ready with an address of its own until it is stopped', async () => {
    const ids = [await bench.sandbox(), await bench.sandbox()];
    const answers = await Promise.all(
      ids.map((podSandboxId) => call(bench.client.podSandboxStatus, bench.client, { podSandboxId, verbose: false })),
    );
    expect(new Set(answers.map(({ status }) => status?.network?.ip)).size).toBe(2);
    expect(answers[0]?.status).toMatchObject({ state: PodSandboxState.SANDBOX_READY });
  });

  test('that is stopped has its containers killed and takes no new ones', async () => {
    const sandboxId = await bench.sandbox();
    const running = await bench.shell('sleep 60', {}, sandboxId);
    const created = await bench.create(sandboxId, { metadata: { name: 'other', attempt: 0 } });
    await call(bench.client.stopPodSandbox, bench.client, { podSandboxId: sandboxId });
    await call(bench.client.stopPodSandbox, bench.client, { podSandboxId: sandboxId });
    expect(await bench.status(running)).toMatchObject({ state: ContainerState.CONTAINER_EXITED, exitCode: 137 });
    await expect(bench.begin(created)).rejects.toMatchObject({ details: expect.stringContaining('is not running') });
    await expect(bench.create(sandboxId, { metadata: { name: 'late', attempt: 0 } })).rejects.toThrow();
  });

  test('that is removed takes its containers with it; removing it again is fine', async () => {
    const sandboxId = await bench.sandbox();
    const id = await bench.shell('sleep 60', {}, sandboxId);
    await call(bench.client.removePodSandbox, bench.client, { podSandboxId: sandboxId });
    await call(bench.client.removePodSandbox, bench.client, { podSandboxId: sandboxId });
    await expect(bench.status(id)).rejects.toMatchObject({ code: status.NOT_FOUND });
    await expect(
      call(bench.client.podSandboxStatus, bench.client, { podSandboxId: sandboxId, verbose: false }),
    ).rejects.toMatchObject({ code: status.NOT_FOUND });
  });
});
