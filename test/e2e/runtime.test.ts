import { afterEach, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { status as grpcStatus } from '@grpc/grpc-js';
import type { EmbeddedRuntime } from '../../services/cri/embedded/index.ts';
import { Daemon, lines } from '../support/daemon.ts';
import { EmbeddedProcess } from '../support/embedded-process.ts';
import { faultyRuntime } from '../support/node.ts';
import { FOREVER, shellPod } from '../support/pods.ts';
import { tearDown } from '../support/tear-down.ts';

/** What a test has begun, undone in reverse. */
const undo: (() => Promise<unknown>)[] = [];
afterEach(() => tearDown(...undo.splice(0).reverse()), 60_000);

async function daemonOn(endpoint: string, config = {}): Promise<Daemon> {
  const daemon = await Daemon.make({ endpoint, config });
  undo.push(() => daemon.discard());
  await daemon.start();
  return daemon;
}

async function faulty(): Promise<EmbeddedRuntime> {
  const { runtime, discard } = await faultyRuntime();
  undo.push(discard);
  return runtime;
}

test('a runtime that is absent at the start: pods start once it is there', async () => {
  const runtime = await EmbeddedProcess.make();
  undo.push(() => runtime.discard());
  const daemon = await daemonOn(runtime.endpoint);
  await daemon.put(shellPod('early', FOREVER));
  const socket = runtime.endpoint.replace('unix://', '');
  const absent = `"container runtime is not reachable (try 1): Version: the runtime at ${socket} is not available: connect ENOENT ${socket}"`;
  await daemon.until('the log says that no runtime answers', () => daemon.log.includes(absent));
  await runtime.start();
  await daemon.ready('early');
  expect((await daemon.status('early'))?.containerStatuses).toMatchObject([{ restartCount: 0 }]);
});

test('a runtime that is killed and comes back: nothing that runs is started anew, and new pods start', async () => {
  const runtime = await EmbeddedProcess.start();
  undo.push(() => runtime.discard());
  const daemon = await daemonOn(runtime.endpoint);
  await daemon.put(shellPod('before', FOREVER));
  const { containerStatuses: [before] = [] } = await daemon.ready('before');
  await runtime.end('SIGKILL');
  await daemon.put(shellPod('meanwhile', FOREVER));
  await daemon.until('the new pod is known', async () => (await daemon.pods()).has('meanwhile'));
  await daemon.until('the log says that the runtime is lost', () =>
    /^W.*"container runtime is not ready: Status: the runtime at \S+cri\.sock is not available: .*; no pod is added until it is back.*reason="RuntimeNotReady"/m.test(
      daemon.log,
    ),
  );
  await runtime.start();
  await daemon.ready('meanwhile');
  await daemon.until('the log says that it is back', () =>
    /^I.*"container runtime is back after \d+ s; .*reason="RuntimeReady"/m.test(daemon.log),
  );
  expect(daemon.log).not.toContain('Resolution note');
  expect((await daemon.ready('before')).containerStatuses).toMatchObject([
    { containerID: before?.containerID, restartCount: 0 },
  ]);
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'a %s while it drains ends the agent at once with code 1; the next one finds its work',
  async (second) => {
    const runtime = await faulty();
    const daemon = await daemonOn(runtime.endpoint);
    runtime.faults.add({ method: 'RunPodSandbox', hang: true });
    await daemon.put(shellPod('begun', FOREVER));
    await daemon.until('its start hangs', () => runtime.faults.calls('RunPodSandbox').length > 0);
    daemon.signal('SIGTERM');
    // What comes at the same moment is the same request: a terminal's, and the wrapper's that passes it on.
    daemon.signal('SIGINT');
    await daemon.until('it drains', () => /(SIGTERM|SIGINT): draining/.test(daemon.log));
    await sleep(500);
    daemon.signal(second);
    expect(await daemon.ended()).toEqual({ code: 1, signal: null });
    expect(daemon.log).toContain(`${second} while draining: ends at once`);
    runtime.faults.clear();
    await daemon.start();
    await daemon.ready('begun');
  },
  60_000,
);

test('B159 a runtime that hangs on one container: that pod alone waits, the others start, restart and end', async () => {
  const runtime = await faulty();
  const daemon = await daemonOn(runtime.endpoint);
  await daemon.put(shellPod('stuck', FOREVER));
  await daemon.put(shellPod('worker', 'sleep 1; exit 3'));
  const { containerStatuses: [stuck] = [] } = await daemon.ready('stuck');
  const id = stuck?.containerID?.replace(/^.*:\/\//, '');
  runtime.faults.add({ method: 'ContainerStatus', match: ({ containerId }) => containerId === id, hang: true });
  runtime.faults.add({ method: 'StopContainer', match: ({ containerId }) => containerId === id, hang: true });
  await daemon.remove('stuck');

  await daemon.podIs('worker', 'restarted', ({ containerStatuses: [c] = [] }) => (c?.restartCount ?? 0) > 0);
  await daemon.put(shellPod('later', FOREVER));
  await daemon.ready('later');
  await daemon.remove('later');
  await daemon.gone('later');
  const health = await fetch(`http://127.0.0.1:${daemon.healthzPort}/healthz`);
  expect(health.status).toBe(200);
  expect((await daemon.pods()).has('stuck')).toBe(true);
  runtime.faults.clear();
  await daemon.gone('stuck', 60_000);
}, 90_000);

test('calls that fail are tried again, and the pod tells why meanwhile', async () => {
  const runtime = await faulty();
  const fail = { code: grpcStatus.UNAVAILABLE, message: 'no space on the moon' };
  runtime.faults.add({ method: 'CreateContainer', times: 1, fail });
  const daemon = await daemonOn(runtime.endpoint);
  await daemon.put(shellPod('twice', FOREVER));
  await daemon.until('the log tells why', () => daemon.log.includes('no space on the moon'));
  await daemon.ready('twice', 40_000);
}, 60_000);

test('B068 a create that is answered late: the container that came about is used, not made twice', async () => {
  const runtime = await faulty();
  const daemon = await daemonOn(runtime.endpoint, { runtimeRequestTimeout: '2s' });
  runtime.faults.add({ method: 'CreateContainer', times: 1, delayMs: 3_000 });
  const starts = join(daemon.directory, 'starts');
  await daemon.put(
    shellPod(
      'late',
      `echo $$ >> /starts/late; ${FOREVER}`,
      { volumes: [{ name: 'starts', hostPath: { path: starts, type: 'DirectoryOrCreate' } }] },
      { volumeMounts: [{ name: 'starts', mountPath: '/starts' }] },
    ),
  );
  await daemon.ready('late', 40_000);
  expect(await lines(join(starts, 'late'))).toHaveLength(1);
}, 60_000);

test('B023 a sandbox that cannot be stopped is tried again until it is, without a restart of the agent', async () => {
  const runtime = await faulty();
  const daemon = await daemonOn(runtime.endpoint);
  await daemon.put(shellPod('sticky', FOREVER));
  await daemon.ready('sticky');
  const fail = { code: grpcStatus.UNKNOWN, message: 'the network is held' };
  runtime.faults.add({ method: 'StopPodSandbox', times: 2, fail });
  await daemon.remove('sticky');
  await daemon.gone('sticky', 60_000);
  expect(runtime.faults.calls('StopPodSandbox').length).toBeGreaterThan(2);
  expect(runtime.faults.calls('RemovePodSandbox').at(-1)?.outcome).toBe('OK');
}, 90_000);
