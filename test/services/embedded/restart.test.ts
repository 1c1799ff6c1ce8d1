import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { isAlive, processesByGroup, readStat } from '../../../services/cri/embedded/proc.ts';
import { startEmbeddedRuntime } from '../../../services/cri/embedded/index.ts';
import { ContainerState, PodSandboxState } from '../../../services/cri/proto/generated/cri.ts';
import { Bench, call, until } from './client.ts';

const MAIN = resolve('services/cri/embedded/main.ts');

describe('a server that is ended and started again on the same state', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.start();
  });
  afterEach(() => bench.stop());

  test('has every object as it was, and goes on logging what runs', async () => {
    const sandboxId = await bench.sandbox();
    const gate = join(bench.directory, 'gate');
    const script = `echo before; until [ -e ${gate} ]; do sleep 0.02; done; echo after; sleep 600`;
    const id = await bench.shell(script, { labels: { a: 'b' } }, sandboxId);
    const created = await bench.create(sandboxId, { metadata: { name: 'other', attempt: 0 } });
    const ended = await bench.shell('exit 9', { metadata: { name: 'ended', attempt: 0 } }, sandboxId);
    const wasEnded = await bench.exited(ended);
    await until(async () => ((await bench.output(id)).length === 1 ? true : undefined));
    const [was, pid] = [await bench.status(id), await bench.pid(id)];
    await bench.restart('leave');
    expect(await bench.status(id)).toEqual(was);
    expect(await bench.pid(id)).toBe(pid);
    expect(await bench.status(ended)).toEqual(wasEnded);
    expect((await bench.status(created)).state).toBe(ContainerState.CONTAINER_CREATED);
    await call(bench.client.execSync, bench.client, { containerId: id, cmd: ['touch', gate], timeout: 0n });
    await until(async () => ((await bench.output(id)).includes('after') ? true : undefined));
    await expect(bench.create(sandboxId)).rejects.toMatchObject({
      details: expect.stringContaining('is reserved for'),
    });
    await bench.begin(created);
    await call(bench.client.stopContainer, bench.client, { containerId: id, timeout: 0n });
    expect(await bench.status(id)).toMatchObject({ exitCode: 255, reason: 'Unknown' });
    expect((await processesByGroup()).has(pid)).toBe(false);
  });

  test('finds by its environment the process of a start that it was killed in', async () => {
    const id = await bench.shell('sleep 600');
    const never = await bench.create(await bench.sandbox());
    const pid = await bench.pid(id);
    await bench.runtime.stop({ containers: 'leave' });
    for (const each of [id, never]) {
      await bench.editRecord(each, { phase: 'starting', pid: 0, pidStartTime: '', startedAt: '0' });
    }
    await bench.restart('leave');
    expect((await bench.status(id)).state).toBe(ContainerState.CONTAINER_RUNNING);
    expect(await bench.pid(id)).toBe(pid);
    expect((await bench.status(never)).state).toBe(ContainerState.CONTAINER_CREATED);
  });

  test('says which record it cannot read', async () => {
    const id = await bench.create(await bench.sandbox());
    await bench.runtime.stop({ containers: 'leave' });
    const stateDir = join(bench.directory, 'state');
    await writeFile(join(stateDir, 'containers', id, 'record.json'), '{');
    await expect(startEmbeddedRuntime({ socketPath: bench.socketPath, stateDir })).rejects.toThrow(
      `${id}/record.json is not a record`,
    );
  });

  test('that killed its containers shows them exited', async () => {
    const id = await bench.shell('sleep 600');
    await bench.restart('kill');
    expect(await bench.status(id)).toMatchObject({ state: ContainerState.CONTAINER_EXITED, exitCode: 137 });
  });

  test('cannot share its socket with another', async () => {
    await expect(
      startEmbeddedRuntime({ socketPath: bench.socketPath, stateDir: join(bench.directory, 'other') }),
    ).rejects.toThrow('another server answers there');
  });
});

describe('a server process that is killed', () => {
  let directory: string;
  let server: ChildProcess;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'embedded-killed-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  /** Starts main.ts and waits until it serves. */
  async function serve(): Promise<void> {
    const args = [MAIN, '--socket', join(directory, 'cri.sock'), '--state', join(directory, 'state'), '--kill-on-exit'];
    server = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let text = '';
    await new Promise<void>((serving, failed) => {
      server.stderr?.on('data', (chunk: Buffer) => {
        text += String(chunk);
        if (text.includes('"serving"')) serving();
      });
      server.once('exit', () => failed(new Error(text)));
    });
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const exited = new Promise((done) => server.once('exit', done));
    server.kill(signal);
    await exited;
  }

  test('leaves containers running; the next one adopts them, and their output of the meantime', async () => {
    await serve();
    const bench = Bench.connect(directory);
    const sandboxId = await bench.sandbox();
    await call(bench.images.pullImage, bench.images, {
      image: { image: 'busybox', annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' },
      auth: undefined,
      sandboxConfig: undefined,
    });
    const gate = join(directory, 'gate');
    const script = `until [ -e ${gate} ]; do sleep 0.02; done; echo meantime; exec sleep 600`;
    const id = await bench.shell(script, {}, sandboxId);
    const gone = await bench.shell('sleep 600', { metadata: { name: 'gone', attempt: 0 } }, sandboxId);
    const [pid, gonePid] = [await bench.pid(id), await bench.pid(gone)];
    const execution = call(bench.client.execSync, bench.client, {
      containerId: id,
      cmd: ['sh', '-c', `echo $$ > ${directory}/exec.pid; sleep 600`],
      timeout: 0n,
    }).catch(() => undefined);
    const execPid = await until(() => bench.readNumber('exec.pid'));
    const { startTime = '' } = (await readStat(pid)) ?? {};
    await end('SIGKILL');
    await execution;
    process.kill(-gonePid, 'SIGKILL');
    await bench.touch('gate');
    expect(await isAlive(pid, startTime)).toBe(true);

    await serve();
    await until(async () => ((await bench.output(id)).includes('meantime') ? true : undefined));
    expect((await bench.status(id)).state).toBe(ContainerState.CONTAINER_RUNNING);
    expect(await bench.status(gone)).toMatchObject({ exitCode: 255, reason: 'Unknown' });
    const request = { podSandboxId: sandboxId, verbose: false };
    const { status } = await call(bench.client.podSandboxStatus, bench.client, request);
    expect(status?.state).toBe(PodSandboxState.SANDBOX_READY);
    await until(async () => ((await processesByGroup()).has(execPid) ? undefined : true));

    await end('SIGTERM');
    await until(async () => ((await isAlive(pid, startTime)) ? undefined : true));
    bench.disconnect();
  });
});
