import type { Pod } from '../../../machines/kubernetes.types.ts';
import type { Target } from '../apiserver/api.ts';
import type { DeleteOptions } from '../apiserver/deletion.ts';
import type { Dict } from '../apiserver/objects.ts';
import { NO_API_FAULTS } from './api-server.ts';
import type { SimCluster } from './cluster.ts';
import { disagreements } from './cluster-agreement.ts';
import type { Random } from './random.ts';
import { ACTS, act, manifest, originOf, prepare, settle, unsettled, verdict, type Verdict } from './scenario.ts';
import { NODE, World, type Charts } from './world.ts';

/** The time a run takes before it is left alone, ms; an outage of the API may last longer than that. */
const BUSY_MS = 80_000;

/**
 * Runs the whole agent in a cluster through a random life: besides what happens to a node with manifests, users create,
 * change and delete pods, mirror pods, the Node and its Lease, and the API server fails in every way.
 */
export async function runClusterScenario(
  seed: number,
  trace?: (line: string) => void,
  charts?: Partial<Charts>,
): Promise<Verdict> {
  const world = new World(seed, charts, { cluster: true });
  if (trace) world.trace = trace;
  prepare(world);
  const { random, clock } = world;
  const { server } = clusterOf(world);
  server.faults = {
    refused: random.pick([0, 0.03, 0.1]),
    answerLost: random.pick([0, 0.02, 0.1]),
    hangs: random.pick([0, 0, 0.02]),
    slow: random.pick([0, 0.05]),
    everyNth: random.pick([0, 0, 10, 3]),
  };
  if (random.chance(0.2)) away(world);
  if (random.chance(0.2)) cutEachSecond(world, 60_000);
  for (let i = 0; i < random.between(0, 2); i++) world.put(originOf(i), manifest(random, i));
  for (let i = 0; i < random.between(0, 3); i++) createPod(world, i);
  world.start();

  const all = { ...ACTS, ...CLUSTER_ACTS, ...CLUSTER_ACTS_AGAIN };
  const busyUntil = clock.elapsed + BUSY_MS;
  while (clock.elapsed < busyUntil) {
    await clock.advance(random.pick([3, 50, 500, 3_000, 10_000]));
    act(world, all);
  }
  // In the middle of what was begun last.
  if (random.chance(0.3)) {
    server.away = random.pick(['refuses', 'silent']);
    for (let i = 0; i < 4; i++) act(world, USER_ACTS);
    await clock.advance(random.between(600_000, 900_000));
  }
  server.faults = { ...NO_API_FAULTS };
  server.away = undefined;
  releaseFinalizers(clusterOf(world));
  const left = (w: World) => [...unsettled(w), ...disagreements(w)];
  await settle(world, left);
  return verdict(world, left(world));
}

function clusterOf(world: World): SimCluster {
  if (!world.cluster) throw new Error('this world has no API server');
  return world.cluster;
}

const podTarget = (cluster: SimCluster, index: number) => cluster.server.target('pods', 'default', `web${index}`);

const remove = ({ server }: SimCluster, target: Target, options: DeleteOptions = {}) =>
  server.attempt((api, call) => api.delete(target, options, call));

/** A pod is created for the node, or without one and bound a moment later. */
export function createPod(world: World, index: number): void {
  const cluster = clusterOf(world);
  const { random, clock } = world;
  const { spec } = manifest(random, index);
  const isBound = random.chance(0.5);
  const name = `web${index}`;
  const body = {
    metadata: { name, ...(random.chance(0.1) && { finalizers: ['example.com/held'] }) },
    spec: {
      ...spec,
      automountServiceAccountToken: false,
      ...(random.chance(0.1) && { nodeSelector: { nowhere: 'true' } }),
      ...(random.chance(0.1) && { readinessGates: [{ conditionType: 'example.com/gate' }] }),
      ...(isBound && { nodeName: NODE }),
    },
  };
  cluster.server.attempt((api, call) =>
    api.create(podTarget(cluster, index), JSON.parse(JSON.stringify(body)) as Dict, call),
  );
  if (!isBound) clock.setTimeout(() => cluster.server.bind('default', name, NODE), random.between(1, 2_000));
}

function change(cluster: SimCluster, target: Target, how: (pod: Pod) => void): void {
  cluster.server.attempt((api, call) =>
    api.update(
      target,
      'patch',
      (current) => {
        how(current as unknown as Pod);
        return current;
      },
      call,
    ),
  );
}

function releaseFinalizers(cluster: SimCluster): void {
  for (const { metadata } of cluster.pods())
    if (metadata?.finalizers)
      change(cluster, cluster.server.target('pods', metadata.namespace ?? '', metadata.name ?? ''), (pod) => {
        delete pod.metadata?.finalizers;
      });
}

/** The line is cut for seconds to a quarter of an hour. */
function away(world: World): void {
  const { server } = clusterOf(world);
  server.away = world.random.pick(['refuses', 'silent']);
  const ms = world.random.pick([1_000, 20_000, 120_000, 120_000, 660_000]);
  world.clock.setTimeout(() => (server.away = undefined), ms);
}

function cutEachSecond(world: World, ms: number): void {
  const { clock } = world;
  const { server } = clusterOf(world);
  const clean = world.random.chance(0.5);
  const until = clock.elapsed + ms;
  const cut = () => {
    server.cutWatches(clean);
    if (clock.elapsed < until) clock.setTimeout(cut, 1_000);
  };
  cut();
}

type ClusterActs = Record<string, (world: World) => void>;
const someIndex = (random: Random) => random.between(0, 4);
const somePod = (world: World) => podTarget(clusterOf(world), someIndex(world.random));

/** What users do to pods. */
const USER_ACTS: ClusterActs = {
  create: (world) => createPod(world, someIndex(world.random)),
  delete: (world) => void remove(clusterOf(world), somePod(world)),
  deleteWithGrace(world) {
    remove(clusterOf(world), somePod(world), { gracePeriodSeconds: world.random.pick([1, 3, 60]) });
  },
  deleteTwice(world) {
    const target = somePod(world);
    remove(clusterOf(world), target, { gracePeriodSeconds: 60 });
    world.clock.setTimeout(
      () => remove(clusterOf(world), target, { gracePeriodSeconds: 2 }),
      world.random.between(1, 10_000),
    );
  },
  forceDelete: (world) => void remove(clusterOf(world), somePod(world), { gracePeriodSeconds: 0 }),
  /** Gone and there again under its name within a second. */
  replace(world) {
    const index = someIndex(world.random);
    remove(clusterOf(world), podTarget(clusterOf(world), index), { gracePeriodSeconds: 0 });
    world.clock.setTimeout(() => createPod(world, index), world.random.between(0, 900));
  },
  deleteMirror(world) {
    const mirrors = clusterOf(world).mirrors();
    if (!mirrors.length) return;
    const { metadata } = world.random.pick(mirrors);
    remove(
      clusterOf(world),
      clusterOf(world).server.target('pods', metadata?.namespace ?? '', metadata?.name ?? ''),
      world.random.pick<DeleteOptions>([{}, { gracePeriodSeconds: 0 }]),
    );
  },
};

/** What happens in a cluster beside what happens to a node. */
const CLUSTER_ACTS: ClusterActs = {
  ...USER_ACTS,
  changePodImage(world) {
    change(clusterOf(world), somePod(world), (pod) => {
      const [first] = pod.spec?.containers ?? [];
      if (first) first.image = first.image === 'present:1' ? 'present:2' : 'present:1';
    });
  },
  label(world) {
    change(clusterOf(world), somePod(world), (pod) => {
      if (pod.metadata) pod.metadata.labels = { turn: String(world.random.between(0, 9)) };
    });
  },
  openGate(world) {
    const status = world.random.pick(['True', 'False']);
    change(clusterOf(world), { ...somePod(world), subresource: 'status' }, (pod) => {
      const others = pod.status?.conditions?.filter(({ type }) => type !== 'example.com/gate') ?? [];
      if (pod.status) pod.status.conditions = [...others, { type: 'example.com/gate', status }];
    });
  },
  deleteNode: (world) => void remove(clusterOf(world), clusterOf(world).server.target('nodes', '', NODE)),
  deleteLease: (world) =>
    void remove(clusterOf(world), clusterOf(world).server.target('leases', 'kube-node-lease', NODE)),
  apiAway: away,
  apiBack: (world) => void (clusterOf(world).server.away = undefined),
  cutWatches: (world) => clusterOf(world).server.cutWatches(world.random.chance(0.5)),
  cutEachSecond: (world) => cutEachSecond(world, world.random.between(2_000, 60_000)),
  compact(world) {
    clusterOf(world).server.compact();
    clusterOf(world).server.cutWatches(world.random.chance(0.5));
  },
  drain(world) {
    world.agent?.send({ type: 'agent.drain' });
    const agent = world.agent;
    world.clock.setTimeout(
      () => {
        if (world.agent !== agent) return;
        world.kill();
        world.start();
      },
      world.random.between(10, 8_000),
    );
  },
};

/** Pods come more often than other things happen. */
const CLUSTER_ACTS_AGAIN: ClusterActs = {
  createAgain: (world) => createPod(world, someIndex(world.random)),
  createOnceMore: (world) => createPod(world, someIndex(world.random)),
};
