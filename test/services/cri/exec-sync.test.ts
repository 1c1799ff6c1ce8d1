import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import type { Probe } from '../../../machines/kubernetes.types.ts';
import { readStat } from '../../../services/cri/embedded/proc.ts';
import { execSync } from '../../../services/cri/verbs/exec-sync.ts';
import { runProbe } from '../../../services/host/probes/index.ts';
import { container } from '../../support/fixtures.ts';
import { until } from '../../support/until.ts';
import { embeddedRig } from './embedded-rig.ts';
import type { EmbeddedRig } from './embedded-rig.ts';
import { launch, shellPod, stopAndRemove } from './lifecycle.ts';
import { effect, STOP } from './rig.ts';

let embedded: EmbeddedRig;
let id: string;
const desired = shellPod('sleep 600', {
  spec: {
    containers: [
      container({
        image: 'busybox:1.35',
        command: ['sh', '-c', 'sleep 600'],
        env: [{ name: 'GREETING', value: 'hi' }],
      }),
    ],
  },
});
beforeAll(async () => {
  embedded = await embeddedRig();
  ({ id } = await launch(embedded.rig, desired));
});
afterEach(() => embedded.runtime.faults.clear());
afterAll(async () => {
  await stopAndRemove(embedded.rig, desired);
  await embedded.close();
});

const exec = (script: string, seconds = 10, signal?: AbortSignal) =>
  execSync(embedded.rig.cri, id, ['sh', '-c', script], seconds, signal);

async function isGone(pid: number): Promise<void> {
  await until(`process ${pid} is gone`, async () => ((await readStat(pid))?.state ?? 'Z') === 'Z');
}

/** The pids that a script has written into a file of the rig's folder. */
async function written(file: string): Promise<number[]> {
  const { output } = await exec(`cat ${file}`);
  return output.trim().split('\n').map(Number);
}

describe('execSync', () => {
  test('gives both outputs and the exit code, in the environment of the container', async () => {
    await expect(exec('echo $GREETING; echo problem >&2; exit 3')).resolves.toEqual({
      exitCode: 3,
      output: 'hi\nproblem\n',
    });
  });

  test('reads 10,240 bytes of output, and no half of a character', async () => {
    const { output, exitCode } = await exec('head -c 1000000 /dev/zero | tr "\\0" x');
    expect([exitCode, output]).toEqual([0, 'x'.repeat(10_240)]);
    const two = await exec('printf x; i=0; while [ $i -lt 6000 ]; do printf ö; i=$((i+1)); done');
    expect(two.output).toBe(`x${'ö'.repeat(5_119)}`);
  });

  test('a command over its time is told apart, and killed although it ignores TERM', async () => {
    const file = `${embedded.rig.directory}/ignores`;
    const began = performance.now();
    await expect(exec(`trap '' TERM INT HUP; echo $$ > ${file}; while :; do sleep 1; done`, 1)).rejects.toMatchObject({
      op: 'ExecSync',
      reason: 'ExecTimeout',
      message: expect.stringMatching(/^command timed out: "sh -c trap .*" timed out after 1s$/),
    });
    expect(performance.now() - began).toBeGreaterThan(990);
    expect(performance.now() - began).toBeLessThan(2_900);
    for (const pid of await written(file)) await isGone(pid);
  });

  test('what a command over its time has started is killed too', async () => {
    const file = `${embedded.rig.directory}/forks`;
    const script = `for i in 1 2 3; do sleep 600 & echo $! >> ${file}; done; echo $$ >> ${file}; wait`;
    await expect(exec(script, 1)).rejects.toMatchObject({ reason: 'ExecTimeout' });
    const pids = await written(file);
    expect(pids).toHaveLength(4);
    for (const pid of pids) await isGone(pid);
  });

  test('a command whose caller gives it up is killed', async () => {
    const file = `${embedded.rig.directory}/given-up`;
    const gone = new AbortController();
    const refusal = expect(exec(`echo $$ > ${file}; sleep 600`, 60, gone.signal)).rejects.toMatchObject({
      reason: 'CANCELLED',
    });
    const [pid = 0] = await until('the command runs', async () => {
      const pids = await written(file);
      return (pids[0] ?? 0) > 0 ? pids : undefined;
    });
    gone.abort();
    await refusal;
    await isGone(pid);
  });

  test('the refusals of the runtime stay what they are', async () => {
    await expect(execSync(embedded.rig.cri, 'nobody', ['true'], 1)).rejects.toMatchObject({ reason: 'NOT_FOUND' });
    const other = shellPod('sleep 600');
    const stopped = await launch(embedded.rig, other);
    await effect(embedded.rig.container.stopContainer, {
      pod: other,
      name: 'app',
      id: stopped.id,
      gracePeriodSeconds: 0,
      ...STOP,
    });
    await expect(execSync(embedded.rig.cri, stopped.id, ['true'], 1)).rejects.toMatchObject({
      reason: 'UNKNOWN',
      message: expect.stringContaining('not in running state'),
    });
    await stopAndRemove(embedded.rig, other);
    await expect(execSync(embedded.rig.cri, id, ['no-such-command'], 1)).rejects.toMatchObject({
      message: expect.stringContaining('executable file not found'),
    });
  });

  test.each([
    [status.DEADLINE_EXCEEDED, 'failed to exec in container: timeout 1s exceeded: context deadline exceeded'],
    [status.DEADLINE_EXCEEDED, 'context deadline exceeded'],
    [status.UNKNOWN, 'failed to exec in container: timeout 1s exceeded: context deadline exceeded'],
  ])('status %d with the words %j is a command over its time', async (code, message) => {
    embedded.runtime.faults.add({ method: 'ExecSync', fail: { code, message } });
    await expect(exec('true', 1)).rejects.toMatchObject({ reason: 'ExecTimeout' });
  });

  test.each([
    [status.UNKNOWN, 'failed to exec in container: failed to start exec', 'UNKNOWN'],
    [status.UNAVAILABLE, 'shutting down', 'UNAVAILABLE'],
  ])('status %d with the words %j is the trouble of the runtime', async (code, message, reason) => {
    embedded.runtime.faults.add({ method: 'ExecSync', fail: { code, message } });
    await expect(exec('true', 1)).rejects.toMatchObject({ reason });
  });

  test('a runtime that answers, though not this call, has a command that hangs', async () => {
    embedded.runtime.faults.add({ method: 'ExecSync', hang: true });
    await expect(exec('true', 1)).rejects.toMatchObject({ reason: 'ExecTimeout' });
  });

  test('a runtime that answers no call at all is not the fault of the command', async () => {
    embedded.runtime.faults.add({ method: 'ExecSync', hang: true });
    embedded.runtime.faults.add({ method: 'ContainerStatus', hang: true });
    await expect(exec('true', 1)).rejects.toMatchObject({
      reason: 'DEADLINE_EXCEEDED',
      message: expect.stringContaining('did not answer within 3'),
    });
  });
});

describe('exec probes', () => {
  const probeWith = (probe: Probe) =>
    runProbe((...call) => execSync(embedded.rig.cri, ...call))(
      { type: 'liveness', probe, pod: desired, container: desired.spec.containers[0]!, id },
      new AbortController().signal,
    );

  test('B043 B044 a command over its timeoutSeconds is a failure each time, after that time', async () => {
    for (let run = 0; run < 2; run += 1) {
      const began = performance.now();
      await expect(probeWith({ exec: { command: ['sleep', '10'] }, timeoutSeconds: 1 })).resolves.toEqual({
        result: 'failure',
        message: 'command timed out: "sleep 10" timed out after 1s',
      });
      expect(performance.now() - began).toBeLessThan(2_900);
    }
  });

  test('B053 the commands of probes over their time do not pile up', async () => {
    const file = `${embedded.rig.directory}/probes`;
    const command = ['sh', '-c', `echo $$ >> ${file}; sleep 1000 & echo $! >> ${file}; sleep 1000`];
    await Promise.all([1, 2, 3, 4].map(() => probeWith({ exec: { command }, timeoutSeconds: 1 })));
    const pids = await written(file);
    expect(pids).toHaveLength(8);
    for (const pid of pids) await isGone(pid);
  });

  test('what a failing command says is what the probe saw', async () => {
    await expect(
      probeWith({ exec: { command: ['sh', '-c', 'echo $(GREETING) >&2; exit 1'] }, timeoutSeconds: 5 }),
    ).resolves.toEqual({ result: 'failure', message: 'hi\n' });
  });
});
