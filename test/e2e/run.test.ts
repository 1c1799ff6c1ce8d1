import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { condition, Daemon, lines } from '../support/daemon.ts';
import { processesWith, type EmbeddedProcess } from '../support/embedded-process.ts';
import { embeddedNode } from '../support/node.ts';
import { FOREVER, shellPod } from '../support/pods.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

let node: Awaited<ReturnType<typeof embeddedNode>>;
let runtime: EmbeddedProcess;
let daemon: Daemon;

beforeAll(async () => {
  node = await embeddedNode();
  ({ runtime, daemon } = node);
}, 60_000);

afterAll(() => node?.discard(), 60_000);

test('the examples run: one goes on, one succeeds, one starts in its order', async () => {
  for (const file of await readdir(EXAMPLES)) await copyFile(join(EXAMPLES, file), join(daemon.manifests, file));
  const clock = await daemon.ready('clock');
  expect(clock).toMatchObject({
    phase: 'Running',
    qosClass: 'BestEffort',
    containerStatuses: [{ name: 'clock', ready: true, started: true, restartCount: 0, state: { running: {} } }],
  });
  expect(clock.podIP).toMatch(/^127\.88\./);
  expect(clock.podIPs).toEqual([{ ip: clock.podIP }]);
  expect(Date.parse(clock.startTime ?? '')).toBeGreaterThan(Date.now() - 60_000);

  const once = await daemon.phase('once', 'Succeeded');
  expect(once.containerStatuses).toMatchObject([
    { name: 'hello', ready: false, restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
  ]);
  expect(['Ready', 'ContainersReady', 'Initialized'].map((type) => condition(once, type))).toEqual([
    'False',
    'False',
    'True',
  ]);

  const ordered = await daemon.ready('ordered');
  expect(ordered.initContainerStatuses).toMatchObject([
    { name: 'prepare', ready: true, state: { terminated: { reason: 'Completed' } } },
    { name: 'sidecar', ready: true, started: true, state: { running: {} } },
  ]);
  const uid = (await daemon.pods()).get('ordered')?.metadata?.uid;
  expect(await lines(join(daemon.rootDir, 'pods', `${uid}`, 'volumes/kubernetes.io~empty-dir/data/state'))).toEqual([
    'prepared',
  ]);
});

test('ps draws the tree of actors of the agent that runs', async () => {
  const { stdout } = await daemon.command('ps', '--root-dir', daemon.rootDir);
  expect(stdout).toMatch(/^ACTOR +STATE +AGE\nsyncloop +running/);
  expect(stdout).toMatch(/─ pod \S+ +syncing\.active/);
  expect(stdout).toMatch(/─ container \S*clock\S* +running/);
  const { stdout: json } = await daemon.command('ps', '--json', '--root-dir', daemon.rootDir);
  expect(JSON.parse(json)).toMatchObject([{ machine: 'syncloop', state: 'running' }]);
});

test('ps without an agent says where it looked', async () => {
  const nowhere = join(daemon.directory, 'nowhere');
  await expect(daemon.command('ps', '--root-dir', nowhere)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(nowhere) as unknown,
  });
});

test('config prints the effective configuration with the origin of each value', async () => {
  const { stdout } = await daemon.command('config', ...daemon.arguments, '--output', 'json');
  expect(JSON.parse(stdout)).toMatchObject({ healthzPort: daemon.healthzPort, staticPodPath: daemon.manifests });
  const { stdout: table } = await daemon.command('config', ...daemon.arguments, '--output', 'table');
  expect(table).toMatch(new RegExp(`staticPodPath +\\S+ .*${daemon.configFile}`));
  expect(table).toMatch(/syncFrequency +"1m0s" +default/);
});

test('a configuration that is wrong ends with code 1 and names file, field and accepted values', async () => {
  const wrong = join(daemon.directory, 'wrong.yaml');
  await daemon.writeConfig(wrong, { healthzPort: 'many' });
  await expect(daemon.command('run', '--config', wrong)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/wrong\.yaml.*healthzPort.*accepted/s) as unknown,
  });
});

test('a second agent on the same root directory is refused', async () => {
  await expect(daemon.command('run', ...daemon.arguments)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('another agent') as unknown,
  });
  expect((await daemon.status('clock'))?.phase).toBe('Running');
});

test('a port that is in use is told with its field, and the agent runs without that server', async () => {
  const other = await Daemon.make({ endpoint: runtime.endpoint, config: { staticPodPath: '' } });
  const taken = createServer().listen(other.healthzPort, '127.0.0.1');
  other.launch();
  await other.until('the log names the field', () => other.log.includes('healthzPort'));
  expect(other.log).toMatch(/127\.0\.0\.1:\d+ \(healthzBindAddress, healthzPort\): the port is in use/);
  await other.until('pods are shown', () => other.pods());
  await new Promise((done) => taken.close(done));
  expect(await other.stop()).toEqual({ code: 0, signal: null });
  await other.discard();
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s drains: code 0, and the containers run on', async (signal) => {
  const marker = `drain-${signal}-${process.pid}`;
  await daemon.put(shellPod('drained', `: ${marker}; ${FOREVER}`));
  await daemon.ready('drained');
  const before = await processesWith(marker);
  expect(before).toHaveLength(1);
  const began = performance.now();
  daemon.signal(signal);
  expect(await daemon.ended()).toEqual({ code: 0, signal: null });
  // Calls in flight are waited for, five seconds at the most; here are none.
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(await processesWith(marker)).toEqual(before);
  await daemon.start();
  await daemon.ready('drained');
  await daemon.remove('drained');
  await daemon.gone('drained');
  expect(await processesWith(marker)).toEqual([]);
});
