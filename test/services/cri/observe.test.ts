import type { RuntimeEcho } from '../../../machines/runtime.types.ts';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { PodSandboxConfig } from '../../../services/cri/proto/generated/cri.ts';
import { runPodSandbox } from '../../../services/cri/verbs/run-pod-sandbox.ts';
import { Observer } from '../../../services/cri/observe.ts';
import { embeddedRig } from './embedded-rig.ts';
import type { EmbeddedRig } from './embedded-rig.ts';
import { launch, ref, shellPod } from './lifecycle.ts';
import { until } from '../../support/until.ts';
import { effect, STOP } from './rig.ts';

const never = new AbortController().signal;

describe('looks at the runtime', () => {
  let embedded: EmbeddedRig;
  beforeEach(async () => {
    embedded = await embeddedRig();
  });
  afterEach(() => embedded.close());
  const calls = (method: 'ContainerStatus' | 'PodSandboxStatus' | 'ListContainers' | 'ListPodSandbox') =>
    embedded.runtime.faults.calls(method).length;
  const freshObserver = () => new Observer(embedded.rig.cri, embedded.rig.host, Date.now);

  test('B159 a container whose status hangs holds up its own pod alone', async () => {
    const { rig, runtime } = embedded;
    const [stuck, fine] = [shellPod('sleep 1000'), shellPod('sleep 1000')];
    const { id } = await launch(rig, stuck);
    await launch(rig, fine);
    runtime.faults.add({ method: 'ContainerStatus', hang: true, match: ({ containerId }) => containerId === id });
    const observer = freshObserver();
    const hung = observer.observePod(ref(stuck), never);
    const listing = await observer.listRuntime(never);
    expect(listing.pods.map(({ uid }) => uid).sort()).toEqual([stuck.metadata.uid, fine.metadata.uid].sort());
    expect((await observer.observePod(ref(fine), never)).containers).toMatchObject([{ state: 'running' }]);
    runtime.faults.clear();
    await expect(hung).rejects.toMatchObject({ op: 'ContainerStatus', reason: 'ABORTED' });
  });

  test('many pods looked at together cost one listing and one status for each object; again, the listing alone', async () => {
    const { rig } = embedded;
    const pods = Array.from({ length: 6 }, () => shellPod('sleep 1000'));
    for (const desired of pods) await launch(rig, desired);
    const observer = freshObserver();
    const before = {
      list: calls('ListContainers'),
      status: calls('ContainerStatus'),
      sandbox: calls('PodSandboxStatus'),
    };
    const look = () => Promise.all(pods.map((desired) => observer.observePod(ref(desired), never)));
    const seen = await look();
    expect(seen.map(({ containers }) => containers.length)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(calls('ListContainers') - before.list).toBe(1);
    expect(calls('ContainerStatus') - before.status).toBe(6);
    expect(calls('PodSandboxStatus') - before.sandbox).toBe(6);
    const again = await look();
    expect(again.map((pod) => pod.containers[0]?.id)).toEqual(seen.map((pod) => pod.containers[0]?.id));
    expect(calls('ListContainers') - before.list).toBe(2);
    expect(calls('ContainerStatus') - before.status).toBe(6);
    expect(calls('PodSandboxStatus') - before.sandbox).toBe(6);
  });

  test('a change of state is looked at afresh, and carries the time at which the look began', async () => {
    const { rig } = embedded;
    const desired = shellPod('sleep 1000');
    const { id } = await launch(rig, desired);
    const running = await rig.services.observer.observePod(ref(desired), never);
    const began = Date.now();
    await effect(rig.container.stopContainer, { pod: desired, name: 'app', id, gracePeriodSeconds: 0, ...STOP });
    const exited = await rig.services.observer.observePod(ref(desired), never);
    expect(running.containers).toMatchObject([{ id, state: 'running' }]);
    expect(exited.containers).toMatchObject([{ id, state: 'exited', exitCode: 137 }]);
    expect(exited.at).toBeGreaterThanOrEqual(began);
    expect(exited.containers[0]?.at).toBe(exited.at);
  });

  test('an end that the stream tells in full is the container as it will be recorded, but for a SIGKILL', async () => {
    const { rig } = embedded;
    const { observer } = rig.services;
    const { id } = await launch(rig, shellPod('sleep 1000'));
    const end = (exitCode: number) =>
      observer.ended({ kind: 'stopped', containerId: id, at: 9, exit: { exitCode, finishedAt: 8 } });
    expect(end(3)).toMatchObject({
      id,
      name: 'app',
      state: 'exited',
      exitCode: 3,
      finishedAt: 8,
      reason: 'Error',
      at: 9,
    });
    expect(end(0)).toMatchObject({ reason: 'Completed' });
    expect(end(137)).toBeUndefined();
    expect(observer.ended({ kind: 'stopped', containerId: id, at: 9 })).toBeUndefined();
    expect(
      observer.ended({ kind: 'stopped', containerId: 'x', at: 9, exit: { exitCode: 0, finishedAt: 8 } }),
    ).toBeUndefined();
  });

  test('what an own call makes while a listing is under way is not forgotten over it: its events would be nobody’s', async () => {
    const { rig, runtime } = embedded;
    const { observer } = rig.services;
    const desired = shellPod('sleep 1000');
    runtime.faults.add({ method: 'ListPodSandbox', delayMs: 1500, after: true, times: 1 });
    runtime.faults.add({ method: 'ListContainers', delayMs: 1500, after: true, times: 1 });
    const listing = observer.listRuntime(never);
    await until('the listing is under way', () => calls('ListContainers') > 0 && calls('ListPodSandbox') > 0);
    const { id, sandbox } = await launch(rig, desired);
    expect((await listing).pods).toEqual([]);
    expect([observer.podUidOf(id), observer.podUidOf(sandbox.id)]).toEqual([
      desired.metadata.uid,
      desired.metadata.uid,
    ]);
    expect(
      observer.ended({ kind: 'stopped', containerId: id, at: 9, exit: { exitCode: 1, finishedAt: 8 } }),
    ).toBeDefined();
  });

  test('own calls tell what they have done, from the sandbox to its removal', async () => {
    const { rig } = embedded;
    const { observer } = rig.services;
    const told: RuntimeEcho[] = [];
    const unfollow = observer.own.follow((echo) => told.push(echo));
    const desired = shellPod('sleep 1000');
    const { id, sandbox } = await launch(rig, desired);
    await effect(rig.container.stopContainer, { pod: desired, name: 'app', id, gracePeriodSeconds: 0, ...STOP });
    await effect(rig.pod.stopSandbox, { id: sandbox.id });
    await effect(rig.container.removeContainer, { id, logPath: '' });
    unfollow();
    expect(told.every(({ pod }) => pod.name === desired.metadata.name)).toBe(true);
    expect(
      told.map(({ sandboxes, containers, gone }) => gone ?? [...(sandboxes ?? containers ?? [])].map((o) => o.state)),
    ).toEqual([['ready'], ['created'], ['running'], ['exited'], ['notReady'], [id]]);
  });

  test('instances are newest first', async () => {
    const { rig } = embedded;
    const desired = shellPod('exit 0');
    const { sandbox } = await launch(rig, desired);
    const [container] = desired.spec.containers;
    if (!container) throw new Error('the pod has a container');
    for (const attempt of [2, 1]) {
      const input = {
        pod: desired,
        container,
        kind: 'regular' as const,
        attempt,
        sandbox: { ...sandbox, hostIPs: [] },
        imageRef: 'busybox:1.35',
      };
      await effect(rig.container.createContainer, input);
    }
    const look = { podUid: desired.metadata.uid, name: 'app' };
    const instances = await effect(rig.container.inspectContainer, look);
    expect(instances.map(({ attempt, restartCount }) => [attempt, restartCount])).toEqual([
      [2, 2],
      [1, 1],
      [0, 0],
    ]);
  });

  test('what bears no labels of a pod is not ours', async () => {
    const { rig } = embedded;
    const config = PodSandboxConfig.fromPartial({
      metadata: { name: 'foreign', uid: 'u', namespace: 'n', attempt: 0 },
      logDirectory: rig.directory,
    });
    await runPodSandbox(rig.cri, config);
    expect((await rig.services.observer.listRuntime(never)).pods).toEqual([]);
  });

  test('a look at a pod that the runtime does not have is an empty one', async () => {
    const nobody = { uid: 'uid-none', name: 'none', namespace: 'default' };
    const seen = await embedded.rig.services.observer.observePod(nobody, never);
    expect(seen).toMatchObject({ ...nobody, sandboxes: [], containers: [] });
  });

  test('looks that share a listing can be given up one by one', async () => {
    const { rig, runtime } = embedded;
    runtime.faults.add({ method: 'ListContainers', hang: true });
    const leave = new AbortController();
    const observer = freshObserver();
    const looks = ['a', 'b', 'c', 'd'].map((uid, i) =>
      observer.observePod({ uid, name: uid, namespace: 'default' }, i === 0 ? leave.signal : never),
    );
    const others = Promise.allSettled(looks.slice(1));
    const left = expect(looks[0]).rejects.toMatchObject({ reason: 'CANCELLED' });
    await until('the listing hangs', () => calls('ListContainers') > 0);
    leave.abort();
    await left;
    runtime.faults.clear();
    expect((await others).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(rig.services.turns.load.taken).toBe(0);
  });
});
