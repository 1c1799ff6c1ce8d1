import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';

import { processesByGroup } from '../../../services/cri/embedded/proc.ts';
import type { ExecSyncResponse } from '../../../services/cri/proto/generated/cri.ts';
import { Bench, call, until } from './client.ts';

let bench: Bench;
let id: string;
beforeAll(async () => {
  bench = await Bench.start();
  id = await bench.shell('sleep 600', { envs: [{ key: 'GREETING', value: Buffer.from('hello') }] });
});
afterAll(() => bench.stop());

const exec = (cmd: string[], timeout = 0n, options = {}): Promise<ExecSyncResponse> =>
  call(bench.client.execSync, bench.client, { containerId: id, cmd, timeout }, options);

async function groupIsGone(pid: number): Promise<true> {
  return until(async () => ((await processesByGroup()).has(pid) ? undefined : (true as const)));
}

describe('ExecSync', () => {
  test('answers both outputs and the exit code, in the environment of the container', async () => {
    const answer = await exec(['sh', '-c', 'echo $GREETING; echo problem >&2; exit 3']);
    expect([String(answer.stdout), String(answer.stderr), answer.exitCode]).toEqual(['hello\n', 'problem\n', 3]);
  });

  test('over its time is DEADLINE_EXCEEDED and leaves no process', async () => {
    const file = `${bench.directory}/exec.pid`;
    await expect(exec(['sh', '-c', `echo $$ > ${file}; sleep 600 & sleep 600`], 1n)).rejects.toMatchObject({
      code: status.DEADLINE_EXCEEDED,
      details: expect.stringContaining('timeout 1s exceeded'),
    });
    await groupIsGone(Number(String((await exec(['cat', file])).stdout)));
  });

  test('whose client gives up leaves no process', async () => {
    const file = `${bench.directory}/left.pid`;
    await expect(exec(['sh', '-c', `echo $$ > ${file}; sleep 600`], 0n, { deadlineMs: 500 })).rejects.toMatchObject({
      code: status.DEADLINE_EXCEEDED,
    });
    await groupIsGone(Number(String((await exec(['cat', file])).stdout)));
  });

  test('of a command that does not exist is refused', async () => {
    await expect(exec(['no-such-command'])).rejects.toMatchObject({
      details: expect.stringContaining('executable file not found'),
    });
  });

  test('ends with its container', async () => {
    const other = await bench.shell('sleep 600');
    const running = call(bench.client.execSync, bench.client, {
      containerId: other,
      cmd: ['sh', '-c', 'sleep 600'],
      timeout: 0n,
    });
    const refusal = expect(running).rejects.toMatchObject({ details: expect.stringContaining('container has exited') });
    await call(bench.client.stopContainer, bench.client, { containerId: other, timeout: 0n });
    await refusal;
  });

  test('in a container that does not run is refused', async () => {
    const done = await bench.shell('true');
    await bench.exited(done);
    await expect(
      call(bench.client.execSync, bench.client, { containerId: done, cmd: ['true'], timeout: 0n }),
    ).rejects.toMatchObject({ details: expect.stringContaining('not in running state') });
  });
});
