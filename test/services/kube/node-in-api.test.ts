import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createActor, fromPromise } from 'xstate';
import type { CoreEvent, Lease, Node } from '../../../machines/kubernetes.types.ts';
import { leaseMachine } from '../../../machines/node/lease.machine.ts';
import { nodeStatusMachine } from '../../../machines/node/node-status.machine.ts';
import { nodeMachine } from '../../../machines/node/node.machine.ts';
import type { NodeSettings, NodeSlots } from '../../../machines/node/node.types.ts';
import { conditionOf } from '../../../machines/node/policy/node-conditions.ts';
import { eventRecorderMachine } from '../../../machines/syncloop/event-recorder.machine.ts';
import { connectKube, type Kube } from '../../../services/kube/client.ts';
import { eventRecorderSlots, nodeSlots } from '../../../services/kube/index.ts';
import { loadKubeconfig } from '../../../services/kube/kubeconfig.ts';
import { ApiServer } from '../../support/apiserver/server.ts';
import { fakeParent } from '../../support/fake-parent.ts';
import { nodeFacts, nodeSettings } from '../../support/node-fixtures.ts';
import { stays, until } from '../../support/until.ts';

const OPTIONS = { qps: 50, burst: 100, events: { qps: 50, burst: 100 }, userAgent: 'statelet/test' };
const directory = mkdtempSync(join(tmpdir(), 'node-in-api-'));
const env = { now: () => Date.now(), elapsed: () => performance.now(), random: () => 0.5 };

let server: ApiServer;
let admin: Kube;
const stops: (() => void)[] = [];
beforeAll(async () => {
  server = await ApiServer.start({ directory });
  admin = connectKube(await loadKubeconfig(await server.admin()), OPTIONS);
});
afterEach(() => {
  server.faults.clear();
  for (const stop of stops.splice(0)) stop();
});
afterAll(async () => {
  admin.close();
  await server.close();
  rmSync(directory, { recursive: true });
});

async function connect(nodeName: string, heartbeatMs?: number): Promise<Kube> {
  const kube = connectKube(await loadKubeconfig(await server.node(nodeName)), { ...OPTIONS, heartbeatMs });
  stops.push(() => kube.close());
  return kube;
}

async function startNode(nodeName: string, over: Partial<NodeSettings> = {}, heartbeatMs?: number) {
  const slots = nodeSlots(await connect(nodeName, heartbeatMs));
  const readNodeFacts: NodeSlots['readNodeFacts'] = fromPromise(() => Promise.resolve(nodeFacts()));
  const { createNode, getNode, patchNode, patchNodeStatus, getLease, createLease, updateLease } = slots;
  const machine = nodeMachine.provide({
    actors: {
      readNodeFacts,
      createNode,
      getNode,
      patchNode,
      nodeStatus: nodeStatusMachine.provide({ actors: { readNodeFacts, getNode, patchNodeStatus } }),
      lease: leaseMachine.provide({ actors: { getLease, createLease, updateLease } }),
    },
  });
  const parent = fakeParent();
  const settings = nodeSettings({ hostname: nodeName, statusFrequencyMs: 100, leaseDurationSeconds: 1, ...over });
  const actor = createActor(machine, { input: { env, parent, nodeName, settings } });
  stops.push(() => actor.stop());
  actor.start();
  return { actor, parent };
}

const nodePath = (name: string) => `/api/v1/nodes/${name}`;
const getNode = (name: string) => admin.request<Node>({ method: 'GET', path: nodePath(name) });
const getLease = (name: string) =>
  admin.request<Lease>({
    method: 'GET',
    path: `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`,
  });
const there = <T>(promise: Promise<T>): Promise<T | undefined> => promise.catch(() => undefined);
const statusOf = async (name: string, type = 'Ready') =>
  conditionOf((await there(getNode(name)))?.status?.conditions, type)?.status;
const healthy = { type: 'health.changed', health: 'healthy', message: '' } as const;

describe('a node in the API', () => {
  test('is registered, gets ready when its runtime is, and holds its lease', async () => {
    const { actor } = await startNode('n-new');
    await until('the Node is created', async () => (await statusOf('n-new')) === 'False');
    actor.send(healthy);
    await until('it is ready', async () => (await statusOf('n-new')) === 'True');
    const node = await getNode('n-new');
    expect(node.status).toMatchObject({ capacity: { cpu: '4', memory: '8Gi' }, nodeInfo: { bootID: 'boot-1' } });
    await until('the lease is there', async () => (await there(getLease('n-new'))) !== undefined);
    const first = await getLease('n-new');
    expect(first.metadata?.ownerReferences?.map(({ uid }) => uid)).toEqual([node.metadata?.uid]);
    await until(
      'the lease is renewed',
      async () => (await getLease('n-new')).spec?.renewTime !== first.spec?.renewTime,
    );
  });

  test('is written no more than it changes', async () => {
    const { actor } = await startNode('n-quiet');
    actor.send(healthy);
    await until('it is ready', async () => (await statusOf('n-quiet')) === 'True');
    const { metadata } = await getNode('n-quiet');
    const isSame = async () => (await getNode('n-quiet')).metadata?.resourceVersion === metadata?.resourceVersion;
    await stays('its resourceVersion', 500, isSame);
  });

  test('that was there is reconciled; what others wrote in it stays', async () => {
    const network = {
      type: 'NetworkUnavailable',
      status: 'False',
      reason: 'RouteCreated',
      message: 'a route was made',
    };
    const body: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n-old', labels: { team: 'a' } },
      spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] },
      status: {
        conditions: [network],
        addresses: [
          { type: 'InternalIP', address: '192.0.2.8' },
          { type: 'InternalIP', address: '192.0.2.9' },
        ],
      },
    };
    await admin.request({ method: 'POST', path: '/api/v1/nodes', body });
    const { actor } = await startNode('n-old');
    actor.send(healthy);
    await until('it is ready', async () => (await statusOf('n-old')) === 'True');
    const node = await getNode('n-old');
    expect(node.metadata?.labels).toMatchObject({ team: 'a', 'kubernetes.io/hostname': 'n-old' });
    expect(node.spec?.taints?.map(({ key }) => key)).toContain('k');
    expect(conditionOf(node.status?.conditions, 'NetworkUnavailable')).toMatchObject(network);
    expect(node.status?.addresses).toEqual([
      { type: 'InternalIP', address: '192.0.2.1' },
      { type: 'Hostname', address: 'n-old' },
    ]);
  });

  test('B156 that is deleted is registered anew, and its lease is owned by the new Node', async () => {
    const { parent } = await startNode('n-gone');
    await until('the lease is there', async () => (await there(getLease('n-gone'))) !== undefined);
    const { metadata: old } = await getNode('n-gone');
    await admin.request({ method: 'DELETE', path: nodePath('n-gone') });
    await until('Node and lease are new', async () => {
      const node = await there(getNode('n-gone'));
      const lease = await there(getLease('n-gone'));
      const uid = node?.metadata?.uid;
      return uid !== undefined && uid !== old?.uid && lease?.metadata?.ownerReferences?.[0]?.uid === uid;
    });
    expect(parent.ofType('node.absent').length).toBeGreaterThan(0);
  });

  test('whose heartbeats are not answered sends the next ones', async () => {
    const { actor } = await startNode('n-hung', {}, 200);
    await until('the lease is there', async () => (await there(getLease('n-hung'))) !== undefined);
    const renewed = async () => (await getLease('n-hung')).spec?.renewTime;
    const before = await renewed();
    const HANGS = 600_000;
    server.faults.add({ verbs: ['update'], resources: ['leases'], times: 1, delayMs: HANGS });
    server.faults.add({
      verbs: ['get'],
      resources: ['nodes'],
      username: 'system:node:n-hung',
      times: 1,
      delayMs: HANGS,
    });
    actor.send(healthy);
    await until('it is ready', async () => (await statusOf('n-hung')) === 'True');
    await until('the lease is renewed', async () => (await renewed()) !== before);
  });

  test('B158 that another agent left ready stays ready while a new one starts', async () => {
    const { actor } = await startNode('n-again');
    actor.send(healthy);
    await until('it is ready', async () => (await statusOf('n-again')) === 'True');
    const before = conditionOf((await getNode('n-again')).status?.conditions, 'Ready');
    for (let restart = 0; restart < 10; restart += 1) {
      const again = await startNode('n-again');
      await until('the Node is known', () => again.parent.ofType('node.known').length > 0);
      again.actor.stop();
    }
    const after = conditionOf((await getNode('n-again')).status?.conditions, 'Ready');
    expect(after?.status).toBe('True');
    expect(after?.lastTransitionTime).toBe(before?.lastTransitionTime);
  });
});

describe('events in the API', () => {
  const events = async () =>
    (await admin.request<{ items: CoreEvent[] }>({ method: 'GET', path: '/api/v1/namespaces/default/events' })).items;

  test('are counted, and those that were told before a drain are there after it', async () => {
    const machine = eventRecorderMachine.provide({ actors: eventRecorderSlots(await connect('n-events')) });
    const parent = fakeParent();
    const actor = createActor(machine, { input: { env, parent, nodeName: 'n-events', drainMs: 5000 } });
    stops.push(() => actor.stop());
    actor.start();
    const event = { type: 'Normal', reason: 'NodeReady', message: 'Node n-events status is now: NodeReady' } as const;
    for (let times = 0; times < 3; times += 1) actor.send({ type: 'event.happened', event });
    actor.send({ type: 'event.happened', event: { ...event, reason: 'Starting', message: 'Starting kubelet.' } });
    actor.send({ type: 'recorder.drain' });
    await until('the recorder is drained', () => parent.ofType('recorder.drained').length > 0);
    const mine = (await events()).filter(({ involvedObject }) => involvedObject.name === 'n-events');
    expect(mine.map(({ reason, count }) => [reason, count]).sort()).toEqual([
      ['NodeReady', 3],
      ['Starting', 1],
    ]);
    expect(parent.ofType('recorder.problem')).toEqual([]);
  });
});
