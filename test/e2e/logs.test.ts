import { afterEach, expect, test } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { status as grpcStatus } from '@grpc/grpc-js';
import { Daemon, NODE_NAME } from '../support/daemon.ts';
import { faultyRuntime } from '../support/node.ts';
import { shellPod } from '../support/pods.ts';
import { tearDown } from '../support/tear-down.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(() => tearDown(...undo.splice(0).reverse()), 60_000);

/** An agent that looks at logs as often as is accepted, on a runtime that a test can make fail. */
async function node() {
  const { runtime, discard } = await faultyRuntime();
  undo.push(discard);
  const config = {
    containerLogMaxSize: '4Ki',
    containerLogMaxFiles: 3,
    containerLogMaxWorkers: 2,
    containerLogMonitorInterval: '3s',
  };
  const daemon = await Daemon.make({ endpoint: runtime.endpoint, config });
  undo.push(() => daemon.discard());
  await daemon.start();
  return { runtime, daemon };
}

const COUNTS = 'i=0; while true; do echo n$i; i=$((i+1)); sleep 0.01; done';

async function folderOf(daemon: Daemon, name: string): Promise<string> {
  await daemon.ready(name);
  const uid = (await daemon.pods()).get(name)?.metadata?.uid ?? '';
  return join(daemon.podLogsDir, `default_${name}-${NODE_NAME}_${uid}`, 'main');
}

/** The numbers in all files that are kept, oldest first. */
async function numbers(folder: string): Promise<number[]> {
  const [live, ...rotated] = (await readdir(folder)).sort();
  const texts = [...rotated, live ?? ''].map(async (file) => {
    const bytes = await readFile(join(folder, file));
    return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  });
  return [...(await Promise.all(texts)).join('').matchAll(/ F n(\d+)$/gm)].map(([, n]) => Number(n));
}

test('B139 logs are rotated while they are written: files within their number, older ones compressed, no line lost', async () => {
  const { daemon } = await node();
  await daemon.put(shellPod('counts', COUNTS));
  const folder = await folderOf(daemon, 'counts');
  const seen = await daemon.until(
    'two logs are rotated away',
    async () => {
      const files = await readdir(folder);
      expect(files.length).toBeLessThanOrEqual(4);
      // One that is just being compressed is there twice for a moment.
      const isSettled = !files.some((file) => files.includes(`${file}.gz`));
      return files.length === 3 && isSettled && files.some((file) => file.endsWith('.gz')) && files.sort();
    },
    40_000,
  );
  expect(seen).toEqual([
    '0.log',
    expect.stringMatching(/^0\.log\.\d{8}-\d{6}\.gz$/),
    expect.stringMatching(/^0\.log\.\d{8}-\d{6}$/),
  ]);
  // A rotation between two reads is seen as a gap, in this look and not in the next.
  await daemon.until('the numbers are without a gap', async () => {
    const all = await numbers(folder);
    return all.length > 100 && all.every((n, i) => n === (all[0] ?? 0) + i);
  });
}, 90_000);

test('a log that the runtime does not open anew goes on as it was, which is told once, and is rotated when it can be', async () => {
  const { runtime, daemon } = await node();
  const fail = { code: grpcStatus.UNKNOWN, message: 'no file for you' };
  runtime.faults.add({ method: 'ReopenContainerLog', fail });
  await daemon.put(shellPod('stays', COUNTS));
  const folder = await folderOf(daemon, 'stays');
  await daemon.until('it was tried twice', () => runtime.faults.calls('ReopenContainerLog').length > 1, 40_000);
  await daemon.until('it is put back', async () => (await readdir(folder)).join() === '0.log');
  expect((await numbers(folder))[0]).toBe(0);
  expect(
    daemon.log.match(/^W.*0\.log could not be rotated.*no file for you.*reason="LogRotationFailed"/gm),
  ).toHaveLength(1);
  runtime.faults.clear();
  await daemon.until('it is rotated', async () => (await readdir(folder)).length > 1, 20_000);
}, 90_000);
