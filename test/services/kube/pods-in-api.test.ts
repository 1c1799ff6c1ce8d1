import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createActor } from 'xstate';
import type { AgentEnv } from '../../../machines/agent.types.ts';
import type { DesiredPod, Node, Pod, PodStatus } from '../../../machines/kubernetes.types.ts';
import { apiSourceMachine } from '../../../machines/syncloop/api-source.machine.ts';
import { podWriterMachine } from '../../../machines/syncloop/pod-writer.machine.ts';
import { statusWriterMachine } from '../../../machines/syncloop/status-writer.machine.ts';
import type { StatusWriterEvent, WantedPod } from '../../../machines/syncloop/status-writer.types.ts';
import type { SourceSet } from '../../../machines/syncloop/syncloop.types.ts';
import { createFactStore } from '../../../services/host/facts.ts';
import { connectKube, type Kube } from '../../../services/kube/client.ts';
import { apiSourceSlots, podWriterSlots } from '../../../services/kube/index.ts';
import { loadKubeconfig } from '../../../services/kube/kubeconfig.ts';
import { condition, podStatus } from '../../support/api-pods.ts';
import { ApiServer } from '../../support/apiserver/server.ts';
import { stays, until } from '../../support/until.ts';

const NODE = 'worker-1';
const PODS = '/api/v1/namespaces/default/pods';
const OPTIONS = { qps: 200, burst: 400, events: { qps: 50, burst: 100 }, userAgent: 'statelet/test' };
const env: AgentEnv = { now: Date.now, elapsed: () => performance.now(), random: () => 0.5 };
const directory = mkdtempSync(join(tmpdir(), 'pods-in-api-'));

let server: ApiServer;
let admin: Kube;
let kube: Kube;
let nodeUid: string;
beforeAll(async () => {
  server = await ApiServer.start({ directory });
  admin = connectKube(await loadKubeconfig(await server.admin()), OPTIONS);
  kube = connectKube(await loadKubeconfig(await server.node(NODE)), OPTIONS);
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } };
  const node = await admin.request<Node>({ method: 'POST', path: '/api/v1/nodes', body });
  nodeUid = node.metadata?.uid ?? '';
});
afterAll(async () => {
  admin.close();
  kube.close();
  await server.close();
  rmSync(directory, { recursive: true });
});

const actors: { stop(): void }[] = [];
afterEach(async () => {
  server.faults.clear();
  for (const actor of actors.splice(0)) actor.stop();
  await kube.settled();
});

/** An agent of which nothing is there but what hears and tells of pods in the API. */
function agent() {
  const sets: SourceSet[] = [];
  const parent = {
    send: (event: { type: string }) => {
      if (event.type === 'api.pods') writer.send(event as StatusWriterEvent);
      if (event.type === 'source.set') sets.push(event as SourceSet);
    },
  };
  const podWriter = podWriterMachine.provide({ actors: podWriterSlots(kube) });
  const writer = createActor(statusWriterMachine.provide({ actors: { podWriter } }), { input: { env, parent } });
  const facts = createFactStore(
    { rootDir: mkdtempSync(join(directory, 'root-')) },
    { warn: () => undefined } as never,
    'manifests',
  );
  const source = createActor(apiSourceMachine.provide({ actors: apiSourceSlots(kube, facts, env.random) }), {
    input: { env, parent, nodeName: NODE },
  });
  actors.push(source, writer);
  writer.start();
  source.start();
  writer.send({ type: 'node.known', uid: nodeUid });
  writer.send({ type: 'sources.ready' });
  return {
    sets,
    want: (wanted: WantedPod) => writer.send({ type: 'pod.wanted', uid: wanted.pod.metadata.uid, ...wanted }),
    forget: (uid: string) => writer.send({ type: 'pod.forgotten', uid }),
    /** The pod as the source delivers it. */
    delivered: (name: string) =>
      until(`${name} is delivered`, () => sets.at(-1)?.pods.find(({ metadata }) => metadata.name === name)),
  };
}

let names = 0;
const unused = (prefix: string) => `${prefix}-${(names += 1)}`;
const create = (name: string) =>
  admin.request<DesiredPod>({
    method: 'POST',
    path: PODS,
    body: { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { nodeName: NODE, restartPolicy: 'Never', automountServiceAccountToken: false, containers: [{ name: 'app', image: 'busybox' }] } }, // prettier-ignore
  });
const get = (name: string) =>
  admin.request<Pod>({ method: 'GET', path: `${PODS}/${name}` }).catch((error: unknown) => {
    if ((error as { reason?: string }).reason === 'NotFound') return undefined;
    throw error;
  });
const remove = (name: string, gracePeriodSeconds: number) =>
  admin.request({
    method: 'DELETE',
    path: `${PODS}/${name}`,
    body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds },
  });
const phaseIs = (name: string, phase: string) =>
  until(`${name} is ${phase}`, async () => (await get(name))?.status?.phase === phase);
const requests = (name: string, verb: string) =>
  server.journal.filter(({ path, verb: is }) => is === verb && path.includes(`/${name}`)).length;
const END: PodStatus = podStatus('Succeeded', {
  containerStatuses: [
    {
      name: 'app',
      image: 'busybox',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode: 0, reason: 'Completed', finishedAt: '2026-01-01T00:00:09Z' } },
    },
  ],
});
const api = (pod: DesiredPod, over: Partial<WantedPod>): WantedPod => ({
  pod,
  source: 'api',
  released: false,
  ...over,
});

describe('a pod of the API', () => {
  test('shows what the agent makes of it, keeps what others set, and goes when it is deleted and has ended', async () => {
    const [name, { want, delivered, sets }] = [unused('pod'), agent()];
    await create(name);
    const pod = await delivered(name);
    want(api(pod, { status: podStatus('Running') }));
    await phaseIs(name, 'Running');
    const gate = { status: { conditions: [condition('example.com/gate', 'True')] } };
    const contentType = 'application/strategic-merge-patch+json';
    await admin.request({ method: 'PATCH', path: `${PODS}/${name}/status`, contentType, body: gate });
    await until('the gate is delivered', async () =>
      (await delivered(name)).status?.conditions?.some(({ type }) => type === 'example.com/gate'),
    );
    await remove(name, 30);
    await until('its deletion is delivered', async () => (await delivered(name)).metadata.deletionTimestamp);
    want(api(await delivered(name), { status: END }));
    await phaseIs(name, 'Succeeded');
    expect((await get(name))?.status?.conditions?.map(({ type }) => type)).toContain('example.com/gate');
    want(api(await delivered(name), { status: END, released: true }));
    await until('its object is gone', async () => (await get(name)) === undefined);
    await until('that is delivered', () => sets.at(-1)?.pods.every(({ metadata }) => metadata.name !== name));
    expect([requests(name, 'patch') - 1, requests(name, 'delete') - 1]).toEqual([2, 1]);
  });

  test('B084 ends in the API as it ended, though every write is refused for a while', async () => {
    const [name, { want, delivered }] = [unused('pod'), agent()];
    await create(name);
    const pod = await delivered(name);
    server.faults.add({ resources: ['pods/status'], times: 2, status: { code: 409, reason: 'Conflict' } });
    server.faults.add({ resources: ['pods/status'], times: 4, status: { code: 500, reason: 'InternalError' } });
    want(api(pod, { status: podStatus('Running') }));
    want(api(pod, { status: END }));
    await phaseIs(name, 'Succeeded');
    expect((await get(name))?.status?.containerStatuses).toMatchObject(END.containerStatuses!);
  });

  test('an API server that was away is told of what happened meanwhile', async () => {
    const [name, { want, delivered }] = [unused('pod'), agent()];
    await create(name);
    const pod = await delivered(name);
    await server.down();
    want(api(pod, { status: podStatus('Running') }));
    want(api(pod, { status: END }));
    await server.up();
    await phaseIs(name, 'Succeeded');
  });

  test('that is made again under its name is another: the status of the one that is gone is not written to it', async () => {
    const [name, { want, delivered }] = [unused('pod'), agent()];
    const first = await create(name);
    const pod = await delivered(name);
    await remove(name, 0);
    const second = await create(name);
    want(api(pod, { status: END }));
    await until('the new one is delivered', async () => (await delivered(name)).metadata.uid === second.metadata.uid);
    want(api(await delivered(name), { status: podStatus('Running') }));
    await phaseIs(name, 'Running');
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
  });

  test('that asks for what the agent cannot do says so, and can be deleted', async () => {
    const name = unused('pod');
    agent();
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { nodeName: NODE, containers: [{ name: 'app', image: 'busybox', volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] }] } }; // prettier-ignore
    await admin.request({ method: 'POST', path: PODS, body });
    const waiting = await until(
      'it says why',
      async () => (await get(name))?.status?.containerStatuses?.[0]?.state?.waiting,
    );
    expect(waiting.reason).toBe('CreateContainerConfigError');
    expect(waiting.message).toContain('volumeDevices');
    await remove(name, 30);
    await until('its object is gone', async () => (await get(name)) === undefined);
  });
});

describe('the mirror pod of a static pod', () => {
  const staticPod = (name: string, uid: string): DesiredPod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid,
      annotations: { 'kubernetes.io/config.hash': uid, 'kubernetes.io/config.source': 'file' },
    },
    spec: { nodeName: NODE, containers: [{ name: 'app', image: 'busybox' }] },
  });
  const wanted = (name: string, uid: string): WantedPod => ({
    pod: staticPod(name, uid),
    source: 'file',
    released: false,
    status: podStatus('Running'),
  });
  const mirrors = (name: string, hash: string) =>
    until(`${name} shows ${hash}`, async () => {
      const found = await get(name);
      return found?.metadata?.annotations?.['kubernetes.io/config.mirror'] === hash && found.status?.phase === 'Running'
        ? found.metadata.uid
        : undefined;
    });

  test('is made, shows the status, follows the manifest, and goes with it', async () => {
    const [name, { want, forget, sets }] = [unused('static'), agent()];
    want(wanted(name, 'hash-1'));
    await mirrors(name, 'hash-1');
    want(wanted(name, 'hash-2'));
    forget('hash-1');
    await mirrors(name, 'hash-2');
    forget('hash-2');
    await until('it is gone', async () => (await get(name)) === undefined);
    const delivered = sets.flatMap(({ pods }) => pods.map(({ metadata }) => metadata.name));
    expect(delivered).not.toContain(name);
  });

  test('B095 is made again when it was deleted, with grace and with force', async () => {
    const [name, { want }] = [unused('static'), agent()];
    want(wanted(name, 'hash-1'));
    let uid = await mirrors(name, 'hash-1');
    for (const grace of [30, 0]) {
      await remove(name, grace);
      uid = await until('another is there', async () => {
        const next = await mirrors(name, 'hash-1');
        return next === uid ? undefined : next;
      });
    }
    const created = requests(name, 'delete');
    await stays('nobody touches it', 500, () => requests(name, 'delete') === created);
    expect((await get(name))?.metadata?.ownerReferences).toMatchObject([{ kind: 'Node', uid: nodeUid }]);
  });

  test('of which nobody knows the static pod is deleted', async () => {
    const name = unused('static');
    const body = { apiVersion: 'v1', kind: 'Pod', ...staticPod(name, 'unused') };
    const annotations = { 'kubernetes.io/config.mirror': 'old', 'kubernetes.io/config.hash': 'old' };
    await admin.request({ method: 'POST', path: PODS, body: { ...body, metadata: { name, annotations } } });
    agent();
    await until('it is gone', async () => (await get(name)) === undefined);
  });
});
