import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../machines/kubernetes.types.ts';
import { disagreements } from '../support/world/cluster-agreement.ts';
import type { SimCluster } from '../support/world/cluster.ts';
import { NODE, World } from '../support/world/world.ts';

/** A pod of one container; `bound` to the node from the start. */
function pod(name: string, spec: object = {}, command = ['run']) {
  const container = { name: 'app', image: 'present:1', imagePullPolicy: 'IfNotPresent', command };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 10, containers: [container], ...spec },
  };
}

const bound = (name: string, spec: object = {}, command = ['run']) =>
  pod(name, { nodeName: NODE, automountServiceAccountToken: false, ...spec }, command);

function makeWorld(): { world: World; cluster: SimCluster } {
  const world = new World(1, {}, { cluster: true });
  world.runtime.images.add('present:1');
  world.runtime.images.add('present:2');
  if (!world.cluster) throw new Error('no cluster');
  return { world, cluster: world.cluster };
}

const target = ({ server }: SimCluster, name: string) => server.target('pods', 'default', name);
function create(cluster: SimCluster, body: ReturnType<typeof pod>): string {
  const made = cluster.server.attempt((api, call) => api.create(target(cluster, body.metadata.name), body, call));
  if (!made?.metadata.uid) throw new Error(`pod ${body.metadata.name} was refused`);
  return made.metadata.uid;
}
const remove = (cluster: SimCluster, name: string, gracePeriodSeconds?: number) =>
  cluster.server.attempt((api, call) => api.delete(target(cluster, name), { gracePeriodSeconds }, call));
const get = (cluster: SimCluster, name: string) =>
  cluster.server.attempt((api) => api.get(target(cluster, name))) as unknown as Pod | undefined;
const phase = (cluster: SimCluster, name: string) => get(cluster, name)?.status?.phase;
const running = ({ runtime }: World) =>
  [...runtime.containers.values()].filter((c) => c.state === 'running').map((c) => c.fullName);
const left = ({ runtime, disk, mounts, cgroups }: World) =>
  runtime.containers.size + runtime.sandboxes.size + disk.size + mounts.size + cgroups.size;
/** Pods that are gone from the API and still have something in the runtime, on disk or in cgroups. */
const remains = ({ runtime, disk, mounts, cgroups, cluster }: World) => {
  const objects = [...runtime.containers.values(), ...runtime.sandboxes.values()];
  const uids = [...objects.map(({ podUid }) => podUid), ...disk, ...mounts, ...cgroups];
  const there = new Set(cluster?.bound().map(({ metadata }) => metadata.uid));
  return uids.filter((uid) => !there.has(uid));
};
const sound = (world: World) => {
  expect(world.invariants.breaches).toEqual([]);
  expect(world.crashes).toEqual([]);
  expect(disagreements(world)).toEqual([]);
};

describe('a container that gave way to an image that cannot be had is shown waiting until the next one runs, never ended', () => {
  const container = (name: string, image: string) => ({
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['run'],
  });
  const init = { ...container('init', 'present:1'), command: ['exit', '0', '1000'] };
  const dies = ({ runtime }: World) => [...runtime.sandboxes.keys()].forEach((id) => runtime.stopSandbox(id));

  test.each([
    ['its sandbox dies', [], ['app'], dies],
    ['its sandbox dies, and init has to run again', [init], ['app'], dies],
    ['it comes after another one that waits', [], ['first', 'app'], () => undefined],
  ] as const)('%s', async (_, initContainers, names, befalls) => {
    const { world, cluster } = makeWorld();
    world.runtime.absentImages.add('absent:1');
    const containers = (image: string) => names.map((name) => container(name, image));
    create(cluster, bound('a', { restartPolicy: 'OnFailure', initContainers, containers: containers('present:1') }));
    const ended = new Set<string>();
    const look = async (ms: number) => {
      for (let at = 0; at < ms; at += 50) {
        await world.clock.advance(50);
        for (const { name, state } of get(cluster, 'a')?.status?.containerStatuses ?? [])
          if (state?.terminated) ended.add(name);
      }
    };
    const setImage = (image: string) =>
      cluster.server.attempt((api, call) =>
        api.update(
          target(cluster, 'a'),
          'patch',
          (now) => ({ ...now, spec: { ...(now['spec'] as object), containers: containers(image) } }),
          call,
        ),
      );
    world.start();
    await look(10_000);
    setImage('absent:1');
    await look(20_000);
    expect(running(world)).toEqual([]);
    befalls(world);
    await look(20_000);
    setImage('present:2');
    await look(60_000);
    expect(running(world)).toHaveLength(names.length);
    expect(ended).toEqual(new Set());
    const statuses = get(cluster, 'a')?.status?.containerStatuses;
    expect(statuses?.map(({ name, ready }) => [name, ready])).toEqual(names.map((name) => [name, true]));
    sound(world);
  });
});

test('a pod that was deleted is shown as what it ended, though its volumes are busy, and goes once they are given back', async () => {
  const { world, cluster } = makeWorld();
  world.start();
  create(cluster, bound('a'));
  await world.clock.advance(5_000);
  world.hostFault = (op) => (op === 'release' ? 'device or resource busy' : undefined);
  remove(cluster, 'a');
  await world.clock.advance(30_000);
  expect(running(world)).toEqual([]);
  expect(get(cluster, 'a')?.metadata?.deletionTimestamp).toBeDefined();
  expect(get(cluster, 'a')?.status?.phase).toMatch(/^(Failed|Succeeded)$/);
  expect(get(cluster, 'a')?.status?.containerStatuses?.[0]?.state?.terminated).toBeDefined();
  world.hostFault = undefined;
  await world.clock.advance(30_000);
  expect(get(cluster, 'a')).toBeUndefined();
  expect(remains(world)).toEqual([]);
  sound(world);
});

test('B020 a pod that was refused at admission is gone as soon as it is deleted', async () => {
  const { world, cluster } = makeWorld();
  world.start();
  await world.clock.advance(5_000);
  create(cluster, bound('a', { nodeSelector: { nowhere: 'true' } }));
  await world.clock.advance(2_000);
  expect(get(cluster, 'a')?.status).toMatchObject({ phase: 'Failed', reason: 'NodeAffinity' });
  remove(cluster, 'a');
  await world.clock.advance(1_000);
  expect(get(cluster, 'a')).toBeUndefined();
  sound(world);
});

test.each([0, 3_000])(
  'B063 a pod that completed %i ms before its agent ended, and was deleted meanwhile, is let go by the next one',
  async (ms) => {
    const { world, cluster } = makeWorld();
    create(cluster, bound('a', { restartPolicy: 'Never' }, ['exit', '0', '2000']));
    world.start();
    const hasExited = () => [...world.runtime.containers.values()].some((c) => c.state === 'exited');
    while (!hasExited() && world.clock.elapsed < 10_000) await world.clock.advance(1);
    await world.clock.advance(ms);
    world.kill();
    remove(cluster, 'a');
    world.start();
    await world.clock.advance(30_000);
    expect(get(cluster, 'a')).toBeUndefined();
    expect(left(world)).toBe(0);
    sound(world);
  },
);

describe('an API server that is not there', () => {
  test.each(['refuses', 'silent'] as const)(
    'B100 at boot (%s) holds up no static pod, and is found once it answers',
    async (how) => {
      const { world, cluster } = makeWorld();
      cluster.server.away = how;
      world.put('/manifests/a.yaml', pod('a'));
      world.start();
      await world.clock.advance(2_000);
      expect(running(world)).toEqual([`a-${NODE}_default`]);
      await world.clock.advance(3_600_000);
      expect(running(world)).toEqual([`a-${NODE}_default`]);
      cluster.server.away = undefined;
      await world.clock.advance(90_000);
      expect(phase(cluster, `a-${NODE}`)).toBe('Running');
      sound(world);
    },
  );

  test('since it is itself a static pod: the mended manifest starts though the old version has not ended', async () => {
    const { world, cluster } = makeWorld();
    cluster.server.away = 'refuses';
    world.put('/manifests/kube-apiserver.yaml', pod('kube-apiserver'));
    world.start();
    await world.clock.advance(5_000);
    // Changed under the running agent, and once more while none runs.
    world.put('/manifests/kube-apiserver.yaml', pod('kube-apiserver', { hostNetwork: true }));
    await world.clock.advance(30_000);
    const first = [...world.runtime.containers.values()].map(({ podUid }) => podUid);
    world.kill();
    const { metadata } = world.put('/manifests/kube-apiserver.yaml', pod('kube-apiserver', { hostPID: true }));
    world.start();
    await world.clock.advance(30_000);
    expect(first).toHaveLength(1);
    expect([...world.runtime.containers.values()].map(({ podUid }) => podUid)).toEqual([metadata.uid]);
    world.remove('/manifests/kube-apiserver.yaml');
    await world.clock.advance(30_000);
    expect(left(world)).toBe(0);
    cluster.server.away = undefined;
    await world.clock.advance(90_000);
    sound(world);
  });

  test.each(['refuses', 'silent'] as const)(
    'for ten minutes (%s) in the middle of creates and deletes: afterwards both sides agree',
    async (how) => {
      const { world, cluster } = makeWorld();
      const [container] = pod('').spec.containers;
      const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }];
      const spec = { volumes: [{ name: 'scratch', emptyDir: {} }], containers: [{ ...container, volumeMounts }] };
      for (let i = 0; i < 20; i++) create(cluster, bound(`old${i}`, spec));
      world.start();
      await world.clock.advance(10_000);
      const before = [...world.runtime.containers.values()].map(({ id }) => id);
      for (let i = 0; i < 5; i++) remove(cluster, `old${i}`);
      for (let i = 0; i < 5; i++) create(cluster, bound(`early${i}`, spec));
      await world.clock.advance(5);
      cluster.server.away = how;
      for (let i = 5; i < 10; i++) remove(cluster, `old${i}`);
      for (let i = 0; i < 10; i++) create(cluster, bound(`new${i}`, spec));
      await world.clock.advance(600_000);
      cluster.server.away = undefined;
      await world.clock.advance(120_000);
      expect(running(world)).toHaveLength(25);
      expect(cluster.bound()).toHaveLength(25);
      expect(before.filter((id) => world.runtime.containers.has(id))).toHaveLength(10);
      expect(remains(world)).toEqual([]);
      // Of each that runs there is something to leave.
      expect([world.disk, world.mounts, world.cgroups].map(({ size }) => size)).toEqual([25, 25, 25]);
      sound(world);
    },
  );

  test('while the agent starts: the pods that an earlier one was given go on, and what ends is started again', async () => {
    const { world, cluster } = makeWorld();
    create(cluster, bound('a'));
    world.start();
    await world.clock.advance(10_000);
    world.kill();
    cluster.server.away = 'refuses';
    world.start();
    await world.clock.advance(30_000);
    world.runtime.crash([...world.runtime.containers.keys()][0] ?? '', 1);
    await world.clock.advance(60_000);
    expect(running(world)).toEqual(['a_default']);
    cluster.server.away = undefined;
    await world.clock.advance(60_000);
    expect(get(cluster, 'a')?.status?.containerStatuses?.[0]?.restartCount).toBe(1);
    sound(world);
  });
});

test('B185 fifty pods that are bound at once all run at once, and are shown so', async () => {
  const { world, cluster } = makeWorld();
  world.start();
  await world.clock.advance(5_000);
  for (let i = 0; i < 50; i++) create(cluster, bound(`p${i}`));
  await world.clock.advance(2_000);
  expect(running(world)).toHaveLength(50);
  expect(cluster.bound().filter(({ status }) => status?.phase === 'Running')).toHaveLength(50);
  sound(world);
});

describe('what users do to objects of the node', () => {
  test('a pod that is deleted by force and made again within a second: one ends, the other runs', async () => {
    const { world, cluster } = makeWorld();
    const old = create(cluster, bound('a', {}, ['run', 'ignoreTerm']));
    world.start();
    await world.clock.advance(5_000);
    remove(cluster, 'a', 0);
    await world.clock.advance(300);
    const uid = create(cluster, bound('a'));
    expect(uid).not.toBe(old);
    await world.clock.advance(60_000);
    expect([...world.runtime.containers.values()].map(({ podUid }) => podUid)).toEqual([uid]);
    expect(phase(cluster, 'a')).toBe('Running');
    sound(world);
  });

  test('a mirror pod that is deleted comes back, and its static pod never ends', async () => {
    const { world, cluster } = makeWorld();
    world.put('/manifests/a.yaml', pod('a'));
    world.start();
    await world.clock.advance(5_000);
    const before = world.runtime.ledger.length;
    for (const grace of [undefined, 0]) {
      const uid = get(cluster, `a-${NODE}`)?.metadata?.uid;
      remove(cluster, `a-${NODE}`, grace);
      await world.clock.advance(5_000);
      expect(get(cluster, `a-${NODE}`)?.metadata?.uid).not.toBe(uid);
      expect(phase(cluster, `a-${NODE}`)).toBe('Running');
    }
    expect(world.runtime.ledger).toHaveLength(before);
    sound(world);
  });

  test('a new agent goes on from what the mirror pod says, though the runtime has lost the record', async () => {
    const { world, cluster } = makeWorld();
    world.put('/manifests/a.yaml', pod('a'));
    world.start();
    await world.clock.advance(5_000);
    const before = get(cluster, `a-${NODE}`);
    world.kill();
    for (const { id } of [...world.runtime.sandboxes.values()]) world.runtime.removeSandbox(id);
    world.start();
    const phases = new Set<string | undefined>();
    for (let step = 0; step < 1000; step++) {
      await world.clock.advance(5);
      phases.add(phase(cluster, `a-${NODE}`));
    }
    expect([...phases]).toEqual(['Running']);
    const after = get(cluster, `a-${NODE}`);
    expect(after?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(after?.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 1, ready: true });
    sound(world);
  });

  test('a Node that is deleted is registered again, with its lease and its mirror pods; a Lease comes back by itself', async () => {
    const { world, cluster } = makeWorld();
    const { server } = cluster;
    world.put('/manifests/a.yaml', pod('a'));
    create(cluster, bound('b'));
    world.start();
    await world.clock.advance(20_000);
    const uid = server.api.store.get(`nodes/${NODE}`)?.metadata.uid;
    const before = world.runtime.ledger.length;
    server.attempt((api, call) => api.delete(server.target('nodes', '', NODE), {}, call));
    await world.clock.advance(60_000);
    expect(server.api.store.get(`nodes/${NODE}`)?.metadata.uid).not.toBe(uid);
    sound(world);
    server.attempt((api, call) => api.delete(server.target('leases', 'kube-node-lease', NODE), {}, call));
    await world.clock.advance(30_000);
    expect(world.runtime.ledger).toHaveLength(before);
    sound(world);
  });
});
