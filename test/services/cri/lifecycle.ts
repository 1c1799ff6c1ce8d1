import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { createActor } from 'xstate';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import type { WatchRuntimeEvent } from '../../../machines/syncloop/syncloop.types.ts';
import { reopenContainerLog } from '../../../services/cri/verbs/reopen-container-log.ts';
import { watchRuntime } from '../../../services/cri/watch-runtime.ts';
import { rotateLogs } from '../../../services/host/index.ts';
import { setup } from 'xstate';
import { container, pod } from '../../support/fixtures.ts';
import { until } from '../../support/until.ts';
import { effect, STOP, type Rig } from './rig.ts';

let count = 0;

/** A pod of one busybox container that runs a shell script. */
export function shellPod(script: string, over: Parameters<typeof pod>[0] = {}): DesiredPod {
  count += 1;
  return pod({
    uid: `uid-${process.pid}-${count}`,
    name: `shell-${count}`,
    ...over,
    spec: {
      containers: [
        container({ image: 'busybox:1.35', command: ['sh', '-c', script], terminationMessagePolicy: 'File' }),
      ],
      ...over.spec,
    },
  });
}

export const ref = ({ metadata: { uid, name, namespace } }: DesiredPod) => ({ uid, name, namespace });
const first = (desired: DesiredPod) => desired.spec.containers[0] ?? container();

/** Sandbox, container, start. */
export async function launch(rig: Rig, desired: DesiredPod) {
  await effect(rig.pod.makeDirectories, { pod: desired });
  const sandbox = await effect(rig.pod.runSandbox, { pod: desired, attempt: 0 });
  const image = await effect(rig.image.inspectImage, { image: first(desired).image ?? '' });
  const input = {
    pod: desired,
    container: first(desired),
    kind: 'regular' as const,
    attempt: 0,
    sandbox: { ...sandbox, hostIPs: [] },
  };
  const { id } = await effect(rig.container.createContainer, { ...input, imageRef: image?.imageRef ?? '' });
  const started = await effect(rig.container.startContainer, { pod: desired, container: first(desired), id });
  return { sandbox, id, started };
}

export const stopAndRemove = async (rig: Rig, desired: DesiredPod) => {
  const { sandboxes } = await effect(rig.pod.observePod, ref(desired));
  for (const { id } of sandboxes) await effect(rig.pod.stopSandbox, { id });
  const { containers } = await effect(rig.pod.observePod, ref(desired));
  await effect(rig.pod.removePod, { ...ref(desired), pod: desired, containers, sandboxes });
};

/** What the watch sends, in a list that grows, and a wait for something in it. */
export function watch(rig: Rig) {
  const seen: WatchRuntimeEvent[] = [];
  const waiting: { wanted: (event: WatchRuntimeEvent) => boolean; done: (event: WatchRuntimeEvent) => void }[] = [];
  const note = (event: WatchRuntimeEvent) => {
    seen.push(event);
    for (const { wanted, done } of waiting) if (wanted(event)) done(event);
  };
  const logic = watchRuntime(rig.cri, rig.services.observer, Date.now);
  const machine = setup({ actors: { watch: logic } }).createMachine({
    invoke: { src: 'watch', input: {} },
    on: { '*': { actions: ({ event }) => note(event as unknown as WatchRuntimeEvent) } },
  });
  const actor = createActor(machine).start();
  const until = (wanted: (event: WatchRuntimeEvent) => boolean) =>
    new Promise<WatchRuntimeEvent>((done) => {
      const found = seen.find(wanted);
      if (found) done(found);
      else waiting.push({ wanted, done });
    });
  return { seen, until, stop: () => actor.stop() };
}

/** The same tests for every runtime: what a pod's life looks like through the slots. */
export function lifecycleTests(rigOf: () => Rig): void {
  test('a pod runs, is seen in full and in brief, and its container is stopped in its grace', async () => {
    const rig = rigOf();
    const desired = shellPod('trap "exit 3" TERM; while true; do sleep 0.05; done');
    const { sandbox, id, started } = await launch(rig, desired);
    expect(sandbox).toMatchObject({ state: 'ready', attempt: 0 });
    expect(started).toMatchObject({
      id,
      sandboxId: sandbox.id,
      name: 'app',
      attempt: 0,
      state: 'running',
      restartCount: 0,
    });
    expect(started.logPath).toBe(`${rig.host.logDirectory(desired)}/app/0.log`);
    expect(started.startedAt).toBeGreaterThan(Date.now() - 60_000);
    expect(rig.host.asked).toContain(`link app/0 ${id}`);

    const listing = await effect(rig.pleg.listRuntime, {});
    expect(listing.pods.filter(({ uid }) => uid === desired.metadata.uid)).toEqual([
      { ...ref(desired), sandboxes: [{ id: sandbox.id, state: 'ready' }], containers: [{ id, state: 'running' }] },
    ]);
    const seen = await effect(rig.pleg.observePod, ref(desired));
    expect(seen.sandboxes).toEqual([{ ...sandbox, at: seen.at }]);
    expect(seen.containers).toEqual([{ ...started, at: seen.at }]);

    const grace = { pod: desired, name: 'app', id, gracePeriodSeconds: 20, ...STOP };
    expect(await effect(rig.container.stopContainer, grace)).toMatchObject({
      state: 'exited',
      exitCode: 3,
      message: 'said by policy File at exit 3',
      gracePeriodSeconds: 30,
    });
    await stopAndRemove(rig, desired);
    expect(await effect(rig.pod.observePod, ref(desired))).toMatchObject({ sandboxes: [], containers: [] });
    expect(rig.host.asked).toContain(`remove pod ${desired.metadata.uid}`);
  });

  test('stopping and removing what is gone is done', async () => {
    const rig = rigOf();
    const gone = { pod: shellPod('true'), name: 'app', id: 'no-such-container', gracePeriodSeconds: 1, ...STOP };
    expect(await effect(rig.container.stopContainer, gone)).toBeUndefined();
    await effect(rig.container.removeContainer, { id: 'no-such-container', logPath: '/none' });
    await effect(rig.pod.stopSandbox, { id: 'no-such-sandbox' });
    expect(await effect(rig.image.inspectImage, { image: 'docker.io/library/absent:1' })).toBeUndefined();
  });

  test('the end of a container is told by the event stream, with its pod', async () => {
    const rig = rigOf();
    const watching = watch(rig);
    await watching.until(({ type }) => type === 'stream.opened');
    const desired = shellPod('read line < /proc/self/stat; sleep 0.2; exit 4');
    const { id } = await launch(rig, desired);
    const stopped = await watching.until(
      (e) => e.type === 'runtime.event' && e.event.kind === 'stopped' && e.event.containerId === id,
    );
    expect(stopped).toMatchObject({ event: { podUid: desired.metadata.uid } });
    watching.stop();
    await stopAndRemove(rig, desired);
  });

  test('B068 a name that is taken is told as NameReserved, and the id that holds it is found by looking', async () => {
    const rig = rigOf();
    const desired = shellPod('sleep 1000');
    const { sandbox, id } = await launch(rig, desired);
    const image = await effect(rig.image.inspectImage, { image: 'busybox:1.35' });
    const again = {
      pod: desired,
      container: first(desired),
      kind: 'regular' as const,
      attempt: 0,
      sandbox: { ...sandbox, hostIPs: [] },
    };
    const create = effect(rig.container.createContainer, { ...again, imageRef: image?.imageRef ?? '' });
    await expect(create).rejects.toMatchObject({ reason: 'NameReserved', op: 'CreateContainer' });
    const found = await effect(rig.container.inspectContainer, { podUid: desired.metadata.uid, name: 'app' });
    expect(found.map((instance) => instance.id)).toEqual([id]);
    await stopAndRemove(rig, desired);
  });

  test('B139 the log of a container that writes is rotated: no line is lost or doubled in the files that are kept', async () => {
    const rig = rigOf();
    const numbers = (text: string) => [...text.matchAll(/ F n(\d+)$/gm)].map(([, n]) => Number(n));
    const desired = shellPod('i=0; while true; do echo n$i; i=$((i+1)); sleep 0.001; done');
    const { started } = await launch(rig, desired);
    const path = started.logPath;
    const limits = { maxSizeBytes: 4096, maxFiles: 3, maxWorkers: 2 };
    for (let rounds = 0; rounds < 4;) {
      await until('the log has grown', async () => (await readFile(path)).length > 6_000);
      const { rotated, failed } = await effect(rig.logs.rotateLogs, limits);
      expect(failed.filter((failure) => failure.path === path)).toEqual([]);
      if (rotated.includes(path)) rounds += 1;
    }
    await until('the new log is written', async () => numbers(await readFile(path, 'utf8')).length > 10);
    await effect(rig.container.stopContainer, {
      pod: desired,
      name: 'app',
      id: started.id,
      gracePeriodSeconds: 1,
      ...STOP,
    });
    const files = (await readdir(dirname(path))).sort();
    expect(files).toEqual([
      basename(path),
      expect.stringMatching(/^0\.log\.\d{8}-\d{6}\.gz$/),
      expect.stringMatching(/^0\.log\.\d{8}-\d{6}$/),
    ]);
    const texts = await Promise.all(
      [...files.slice(1), basename(path)].map(async (file) => {
        const bytes = await readFile(join(dirname(path), file));
        return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
      }),
    );
    const kept = numbers(texts.join(''));
    expect(kept[0]).toBeGreaterThan(0);
    expect(kept).toEqual(kept.map((_, i) => (kept[0] ?? 0) + i));
    await stopAndRemove(rig, desired);
  });

  test('the log of a container that ended meanwhile is not opened anew: it is put back, and the failure names it', async () => {
    const rig = rigOf();
    const desired = shellPod('echo the last words; sleep 1000');
    const { started } = await launch(rig, desired);
    const path = started.logPath;
    await until('it has said all', async () => (await readFile(path, 'utf8')).includes('words'));
    await effect(rig.container.stopContainer, {
      pod: desired,
      name: 'app',
      id: started.id,
      gracePeriodSeconds: 0,
      ...STOP,
    });
    const reopen = (id: string) => reopenContainerLog(rig.cri, id);
    const input = { containers: [{ id: started.id, path }], maxSizeBytes: 10, maxFiles: 3, maxWorkers: 1, reopen };
    const { rotated, failed } = await rotateLogs(input, new AbortController().signal);
    expect([rotated, failed.map((failure) => failure.path)]).toEqual([[], [path]]);
    expect(await readdir(dirname(path))).toEqual([basename(path)]);
    expect(await readFile(path, 'utf8')).toContain('the last words');
    await stopAndRemove(rig, desired);
  });

  test('health is what the conditions of the runtime say', async () => {
    const healthy = { runtimeReady: true, networkReady: true, message: '' };
    expect(await effect(rigOf().health.checkRuntime, {})).toEqual(healthy);
  });
}
