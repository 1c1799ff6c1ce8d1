import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createActor, setup, toPromise } from 'xstate';
import type { DesiredPod, Lease, Node, Pod, PodStatus } from '../../../machines/kubernetes.types.ts';
import type { Slot } from '../../../machines/slot.types.ts';
import type { WatchPodsEvent, WatchPodsInput } from '../../../machines/syncloop/api-source.types.ts';
import { connectKube, type Kube } from '../../../services/kube/client.ts';
import { apiSourceSlots, eventRecorderSlots, nodeSlots, podWriterSlots } from '../../../services/kube/index.ts';
import { loadKubeconfig } from '../../../services/kube/kubeconfig.ts';
import { createFactStore } from '../../../services/host/facts.ts';
import { ApiServer } from '../../support/apiserver/server.ts';
import { until } from '../../support/until.ts';

const NODE = 'worker-1';
const OPTIONS = { qps: 50, burst: 100, events: { qps: 50, burst: 100 }, userAgent: 'statelet/test' };
const directory = mkdtempSync(join(tmpdir(), 'kube-slots-'));

let server: ApiServer;
let admin: Kube;
let kube: Kube;
beforeAll(async () => {
  server = await ApiServer.start({ directory });
  admin = connectKube(await loadKubeconfig(await server.admin()), OPTIONS);
  kube = connectKube(await loadKubeconfig(await server.node(NODE)), OPTIONS);
});
afterAll(async () => {
  admin.close();
  kube.close();
  await server.close();
  rmSync(directory, { recursive: true });
});
const watches: { stop(): void }[] = [];
afterEach(() => {
  server.faults.clear();
  for (const watch of watches.splice(0)) watch.stop();
});

const run = <In, Out>(slot: Slot<In, Out>, input: In): Promise<Out> =>
  toPromise(createActor(slot, { input }).start()) as Promise<Out>;

let names = 0;
const unused = (prefix: string) => `${prefix}-${(names += 1)}`;
const podOf = (name: string, node: string | undefined = NODE): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { nodeName: node, containers: [{ name: 'c', image: 'busybox' }] },
});
const create = (pod: Pod) =>
  admin.request<DesiredPod>({ method: 'POST', path: '/api/v1/namespaces/default/pods', body: pod });
const refOf = ({ metadata: { namespace, name, uid } }: DesiredPod) => ({ namespace, name, uid });
const createNode = (name: string) => admin.request<Node>({ method: 'POST', path: '/api/v1/nodes', body: nodeOf(name) });
const nodeOf = (name: string): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

const kept = () =>
  createFactStore({ rootDir: mkdtempSync(join(directory, 'root-')) }, { warn: () => undefined } as never, 'manifests');
const source = () => apiSourceSlots(kube, kept(), () => 0.5);
const writer = () => podWriterSlots(kube);

describe('the source of pods', () => {
  /** What a watch sends, from this resourceVersion on. */
  function watch(resourceVersion: string, nodeName = NODE) {
    const told: WatchPodsEvent[] = [];
    const machine = setup({
      types: { events: {} as WatchPodsEvent, input: {} as WatchPodsInput },
      actors: { watchPods: source().watchPods },
    }).createMachine({
      invoke: { src: 'watchPods', input: ({ event }) => (event as unknown as { input: WatchPodsInput }).input },
      on: { '*': { actions: ({ event }) => void told.push(event) } },
    });
    const actor = createActor(machine, { input: { nodeName, resourceVersion } }).start();
    watches.push(actor);
    const events = () => told.flatMap((event) => (event.type === 'watch.batch' ? event.events : []));
    return { told, events, actor };
  }

  test('lists the pods of this node and no others, and the watch goes on from there', async () => {
    const [own, other] = [unused('own'), unused('other')];
    const { metadata } = await create(podOf(own));
    await create(podOf(other, 'worker-2'));
    const { resourceVersion, items } = await run(source().listPods, { nodeName: NODE });
    const listed = items.map((pod) => pod.metadata?.name);
    expect(listed).toContain(own);
    expect(listed).not.toContain(other);
    const { events } = watch(resourceVersion);
    const [next, foreign] = [unused('next'), unused('foreign')];
    await create(podOf(foreign, 'worker-2'));
    await create(podOf(next));
    await run(writer().deletePod, refOf({ metadata } as DesiredPod));
    await until('both are told', () => events().some(({ type }) => type === 'DELETED'));
    const told = events().map(({ type, object }) => `${type} ${object.metadata?.name}`);
    expect(told.filter((line) => !line.startsWith('MODIFIED'))).toEqual([`ADDED ${next}`, `DELETED ${own}`]);
  });

  test('a pod that is bound to this node later is told as new', async () => {
    const { resourceVersion } = await run(source().listPods, { nodeName: NODE });
    const { events } = watch(resourceVersion);
    const name = unused('late');
    await create({ ...podOf(name), spec: { containers: [{ name: 'c', image: 'busybox' }] } });
    server.bind('default', name, NODE);
    await until('it is told', () => events().length > 0);
    expect(events()[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name }, spec: { nodeName: NODE } } });
  });

  test('what comes at once is told at once, in order', async () => {
    const { resourceVersion } = await run(source().listPods, { nodeName: NODE });
    const created = Array.from({ length: 50 }, () => unused('many'));
    for (const name of created) await create(podOf(name));
    const { told, events } = watch(resourceVersion);
    await until('all are told', () => events().length === 50);
    expect(events().map(({ object }) => object.metadata?.name)).toEqual(created);
    expect(told.length).toBeLessThan(50);
  });

  test('a watch that the server ends or cuts is over, one that asks for too old a version has expired', async () => {
    const { resourceVersion } = await run(source().listPods, { nodeName: NODE });
    const cut = watch(resourceVersion);
    await create(podOf(unused('open')));
    await until('it is open', () => cut.events().length === 1);
    server.cutWatches();
    await until('it is over', () => cut.told.some(({ type }) => type === 'watch.ended'));
    await create(podOf(unused('more')));
    server.compact();
    const expired = watch(resourceVersion);
    await until('it has expired', () => expired.told.length > 0);
    expect(expired.told).toEqual([{ type: 'watch.expired' }]);
  });

  test('a watch that fails says why, after all that came before', async () => {
    server.faults.add({ verbs: ['watch'], status: { code: 500, reason: 'InternalError', message: 'broken' } });
    const { told } = watch('1');
    await until('it is over', () => told.length > 0);
    expect(told).toEqual([{ type: 'watch.ended', message: 'watch pods: broken' }]);
  });

  test('pods are kept for an API server that is away, each under its UID, and forgotten', async () => {
    const store = kept();
    const { keepPods, recallPods } = apiSourceSlots(kube, store, () => 0);
    const pods = ['a', 'b'].map((uid) => ({ ...podOf(uid), metadata: { name: uid, namespace: 'default', uid } }));
    await run(keepPods, { keep: pods, forget: [] });
    const changed = { ...pods[1], metadata: { ...pods[1]?.metadata, labels: { x: 'y' } } };
    await run(keepPods, { keep: [changed], forget: ['a', 'absent'] });
    expect(await run(recallPods, {})).toEqual([changed]);
    await store.write('odd', { pod: 'none' });
    expect(await run(recallPods, {})).toEqual([changed]);
  });
});

describe('the writer of pods', () => {
  const status: PodStatus = {
    phase: 'Running',
    podIP: '10.1.0.1',
    podIPs: [{ ip: '10.1.0.1' }],
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'False', reason: 'ContainersNotReady' },
    ],
  };

  test('writes a status, then only what changed of it, and leaves alone what others wrote', async () => {
    const pod = await create(podOf(unused('pod')));
    const first = await run(writer().patchStatus, { ...refOf(pod), before: pod.status, status });
    expect(first.status).toMatchObject(status);
    const gate = { conditions: [{ type: 'example.com/gate', status: 'True' }] };
    const path = `/api/v1/namespaces/default/pods/${pod.metadata.name}/status`;
    const contentType = 'application/strategic-merge-patch+json';
    await admin.request({ method: 'PATCH', path, contentType, body: { status: gate } });
    const ready: PodStatus = { ...first.status, conditions: [{ type: 'PodScheduled', status: 'True' }, { type: 'Ready', status: 'True' }] }; // prettier-ignore
    const second = await run(writer().patchStatus, { ...refOf(pod), before: first.status, status: ready });
    const found = second.status.conditions?.map(({ type, status, reason }) => [type, status, reason]);
    expect(found?.sort()).toEqual([
      ['PodScheduled', 'True', undefined],
      ['Ready', 'True', undefined],
      ['example.com/gate', 'True', undefined],
    ]);
    expect(Number(second.resourceVersion)).toBeGreaterThan(Number(first.resourceVersion));
  });

  test('a status for a pod that is gone is NotFound, for another pod of the name Conflict', async () => {
    const ref = { namespace: 'default', name: unused('pod'), uid: 'old' };
    await expect(run(writer().patchStatus, { ...ref, status })).rejects.toMatchObject({ reason: 'NotFound' });
    await create(podOf(ref.name));
    await expect(run(writer().patchStatus, { ...ref, status })).rejects.toMatchObject({ reason: 'Conflict' });
  });

  test('reads a pod, or that there is none', async () => {
    const pod = await create(podOf(unused('pod')));
    expect(await run(writer().getPod, refOf(pod))).toMatchObject({ metadata: { uid: pod.metadata.uid } });
    expect(await run(writer().getPod, { namespace: 'default', name: 'absent' })).toBeUndefined();
  });

  test('removes this pod at once, and no other; one that is gone is done', async () => {
    const pod = await create(podOf(unused('pod')));
    const remove = (ref: object) => run(writer().deletePod, { ...refOf(pod), ...ref });
    await remove({ uid: 'another' });
    expect(await run(writer().getPod, refOf(pod))).toBeDefined();
    await remove({});
    expect(await run(writer().getPod, refOf(pod))).toBeUndefined();
    await remove({});
  });

  test('a refusal of a removal that is about this pod is told', async () => {
    const pod = await create(podOf(unused('pod')));
    for (const [code, reason] of [
      [409, 'Conflict'],
      [500, 'InternalError'],
    ] as const) {
      server.faults.add({ verbs: ['delete'], times: 1, status: { code, reason } });
      await expect(run(writer().deletePod, refOf(pod))).rejects.toMatchObject({ reason });
    }
  });

  test('shows a static pod by a mirror that the Node owns, and removes it', async () => {
    const node = await createNode(NODE);
    const pod: DesiredPod = {
      ...podOf(unused('static')),
      metadata: {
        name: unused(`static-${NODE}`),
        namespace: 'default',
        uid: 'from-the-manifest',
        labels: { app: 'x' },
        annotations: { 'kubernetes.io/config.hash': 'abc', 'kubernetes.io/config.source': 'file' },
      },
      spec: { nodeName: NODE, containers: [{ name: 'c', image: 'busybox' }] },
    };
    const uid = node.metadata?.uid ?? '';
    const mirror = (await run(writer().createMirror, { pod, nodeUid: uid })) as DesiredPod;
    expect(mirror.metadata).toMatchObject({
      name: pod.metadata.name,
      labels: { app: 'x' },
      annotations: { ...pod.metadata.annotations, 'kubernetes.io/config.mirror': 'abc' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: NODE, uid, controller: true }],
    });
    expect(mirror.metadata.uid).not.toBe(pod.metadata.uid);
    await expect(run(writer().createMirror, { pod, nodeUid: uid })).rejects.toMatchObject({ reason: 'AlreadyExists' });
    await run(writer().deleteMirror, refOf(mirror));
    expect(await run(writer().getPod, refOf(mirror))).toBeUndefined();
  });

  test('a write whose answer is lost has been done all the same, and the error says that it may be asked again', async () => {
    const pod = await create(podOf(unused('pod')));
    server.faults.add({ resources: ['pods/status'], drop: 'after', times: 1 });
    const write = () => run(writer().patchStatus, { ...refOf(pod), before: pod.status, status });
    await expect(write()).rejects.toMatchObject({ reason: 'UNAVAILABLE', transient: true });
    expect((await run(writer().getPod, refOf(pod)))?.status?.phase).toBe('Running');
    expect((await write()).status.phase).toBe('Running');
  });

  test('a write goes on when its actor is stopped', async () => {
    const pod = await create(podOf(unused('pod')));
    server.faults.add({ resources: ['pods/status'], delayMs: 100, times: 1 });
    const actor = createActor(writer().patchStatus, { input: { ...refOf(pod), before: pod.status, status } }).start();
    await new Promise((resolve) => setTimeout(resolve, 20));
    actor.stop();
    await kube.settled();
    expect((await run(writer().getPod, refOf(pod)))?.status?.phase).toBe('Running');
  });

  test('an API server that is away is told as such, and what is asked when it is back works', async () => {
    await server.down();
    const ask = () => run(writer().getPod, { namespace: 'default', name: 'absent' });
    await expect(ask()).rejects.toMatchObject({ reason: 'UNAVAILABLE', transient: true });
    await server.up();
    expect(await ask()).toBeUndefined();
  });
});

describe('the node and its lease', () => {
  const slots = () => nodeSlots(kube);

  test('is created, read and patched, its status apart from the rest; another UID is a Conflict', async () => {
    await admin.request({ method: 'DELETE', path: `/api/v1/nodes/${NODE}` }).catch(() => undefined);
    await expect(run(slots().getNode, { nodeName: NODE })).rejects.toMatchObject({ reason: 'NotFound' });
    const node = await run(slots().createNode, { node: nodeOf(NODE) });
    await expect(run(slots().createNode, { node: nodeOf(NODE) })).rejects.toMatchObject({ reason: 'AlreadyExists' });
    const metadata = { uid: node.metadata?.uid ?? '' };
    const labelled = { metadata: { ...metadata, annotations: { a: 'b' } } };
    await run(slots().patchNode, { nodeName: NODE, patch: labelled });
    const patch = { metadata, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    await run(slots().patchNodeStatus, { nodeName: NODE, patch });
    const found = await run(slots().getNode, { nodeName: NODE });
    expect(found.metadata?.annotations).toMatchObject({ a: 'b' });
    expect(found.status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
    const other = { metadata: { uid: 'another' } };
    await expect(run(slots().patchNodeStatus, { nodeName: NODE, patch: other })).rejects.toMatchObject({
      reason: 'Conflict',
    });
  });

  test('the lease is created and renewed; a stale copy of it is a Conflict', async () => {
    await expect(run(slots().getLease, { nodeName: NODE })).rejects.toMatchObject({ reason: 'NotFound' });
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: NODE, namespace: 'kube-node-lease' },
      spec: { holderIdentity: NODE, leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' },
    };
    const created = await run(slots().createLease, { lease });
    await expect(run(slots().createLease, { lease })).rejects.toMatchObject({ reason: 'AlreadyExists' });
    const renewTime = '2026-01-01T00:00:10.000000Z';
    const renewed = { ...created, spec: { ...created.spec, renewTime } };
    await run(slots().updateLease, { lease: renewed });
    expect((await run(slots().getLease, { nodeName: NODE })).spec?.renewTime).toBe(renewTime);
    await expect(run(slots().updateLease, { lease: renewed })).rejects.toMatchObject({ reason: 'Conflict' });
    await expect(run(slots().updateLease, { lease: {} })).rejects.toMatchObject({ reason: 'Invalid' });
  });
});

test('events are created and counted; one that is forgotten is NotFound', async () => {
  const { createEvent, patchEvent } = eventRecorderSlots(kube);
  const name = `${NODE}.1`;
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'default' },
    involvedObject: { kind: 'Node', name: NODE, uid: NODE },
    reason: 'Starting',
    message: 'Starting statelet.',
    type: 'Normal',
    count: 1,
    source: { component: 'kubelet', host: NODE },
  };
  expect(await run(createEvent, { event })).toMatchObject({ reason: 'Starting', count: 1 });
  const patch = { count: 2, lastTimestamp: '2026-01-01T00:00:00Z', message: 'Starting statelet.' };
  expect(await run(patchEvent, { namespace: 'default', name, patch })).toMatchObject(patch);
  await expect(run(patchEvent, { namespace: 'default', name: 'absent', patch })).rejects.toMatchObject({
    reason: 'NotFound',
  });
});
