import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import { NO_FAULTS } from './runtime.ts';
import { World } from './world.ts';

/** What a run ended with: breaches of the invariants, what did not settle, and bugs that surfaced as crashes. */
export interface Verdict {
  seed: number;
  problems: string[];
  calls: number;
}

/** The time a run takes before it is left alone, and the time it then gets to settle (back-offs reach 5 min), ms. */
const BUSY_MS = 10 * 60_000;
const SETTLE_MS = 25 * 60_000;

/** Runs the whole agent through a random life: pods come, change and go, calls fail, the agent and the runtime die. */
export async function runScenario(seed: number, trace?: (line: string) => void): Promise<Verdict> {
  const world = new World(seed);
  if (trace) world.trace = trace;
  const { random, runtime, clock } = world;
  world.stream = random.chance(0.7);
  runtime.images.add('present:1');
  if (random.chance(0.3)) runtime.absentImages.add('absent:1');
  runtime.faults = {
    fails: random.pick([0, 0.02, 0.1]),
    doneButFails: random.pick([0, 0.02, 0.05]),
    late: random.pick([0, 0.01, 0.04]),
    hangs: random.pick([0, 0.01, 0.04]),
    eventLost: random.pick([0, 0.1, 0.5]),
    eventDoubled: random.pick([0, 0.2]),
  };
  world.hostFails = random.pick([0, 0, 0.05]);
  for (let i = 0; i < random.between(1, 4); i++) world.put(`/manifests/${i}.yaml`, manifest(world, i));
  world.start();

  while (clock.elapsed < BUSY_MS) {
    await clock.advance(random.pick([3, 50, 500, 5_000, 30_000]));
    act(world);
  }

  runtime.faults = { ...NO_FAULTS };
  world.hostFails = 0;
  runtime.up = true;
  runtime.networkReady = true;
  runtime.absentImages.clear();
  if (!world.agent) world.start();
  await clock.advance(SETTLE_MS);
  const problems = [
    ...world.invariants.breaches,
    ...world.crashes.map((error) => `crash: ${JSON.stringify(error)} ${String((error as { error?: unknown }).error)}`),
    ...unsettled(world),
  ];
  world.kill();
  return { seed, problems, calls: runtime.ledger.length };
}

function act(world: World): void {
  const { random, runtime } = world;
  const origin = `/manifests/${random.between(0, 4)}.yaml`;
  const what = random.between(0, 11);
  world.trace?.(`${world.clock.elapsed} act ${what} ${origin}`);
  switch (what) {
    case 0:
    case 1:
      world.put(origin, manifest(world, random.between(0, 4)));
      break;
    case 2:
      world.remove(origin);
      break;
    case 3:
      if (world.agent) world.kill();
      else world.start();
      break;
    case 4:
      if (!world.agent) world.start();
      break;
    case 5: {
      const running = [...runtime.containers.values()].filter((c) => c.state === 'running');
      if (running.length) runtime.crash(random.pick(running).id, random.pick([0, 1, 137]));
      break;
    }
    case 6: {
      const sandboxes = [...runtime.sandboxes.keys()];
      if (sandboxes.length) runtime.stopSandbox(random.pick(sandboxes));
      break;
    }
    case 7: {
      const exited = [...runtime.containers.values()].filter((c) => c.state === 'exited');
      if (exited.length) runtime.removeContainer(random.pick(exited).id);
      break;
    }
    case 8:
      runtime.up = random.chance(0.7);
      break;
    case 9:
      runtime.networkReady = random.chance(0.7);
      break;
    case 10:
      world.clock.skewMs += random.pick([-3_600_000, -1_000, 1_000, 60_000]);
      break;
    default:
      if (!world.agent) world.start();
  }
}

function manifest(world: World, index: number): object {
  const { random } = world;
  const program = () => [
    ...random.pick([['run'], ['run'], ['exit', '0', '3000'], ['exit', '1', '2000'], ['exit', '1', '100']]),
    ...(random.chance(0.2) ? ['ignoreTerm'] : []),
  ];
  const image = () => random.pick(['present:1', 'present:1', 'pulled:1', 'absent:1']);
  const containers = Array.from({ length: random.between(1, 3) }, (_, i) => ({
    name: `c${i}`,
    image: image(),
    imagePullPolicy: 'IfNotPresent',
    command: program(),
  }));
  const initContainers = Array.from({ length: random.pick([0, 0, 1, 2]) }, (_, i) =>
    random.chance(0.3)
      ? {
          name: `side${i}`,
          image: 'present:1',
          imagePullPolicy: 'IfNotPresent',
          command: ['run'],
          restartPolicy: 'Always',
        }
      : {
          name: `init${i}`,
          image: 'present:1',
          imagePullPolicy: 'IfNotPresent',
          command: ['exit', random.pick(['0', '0', '0', '1']), '500'],
        },
  );
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod${index}` },
    spec: {
      restartPolicy: random.pick(['Always', 'Always', 'OnFailure', 'Never']),
      hostNetwork: random.chance(0.3) || undefined,
      terminationGracePeriodSeconds: random.pick([1, 5, 30]),
      activeDeadlineSeconds: random.chance(0.1) ? random.between(5, 120) : undefined,
      initContainers: initContainers.length ? initContainers : undefined,
      containers,
    },
  };
}

/** What should be true once nothing disturbs any more: the node and the manifests agree. */
function unsettled(world: World): string[] {
  const problems: string[] = [];
  const { runtime } = world;
  const entries = world.agent?.getSnapshot().context.entries ?? {};
  const wanted = new Map(firstOfEachName(world.desired()).map((pod) => [pod.metadata.uid, pod]));
  for (const uid of new Set([
    ...[...runtime.sandboxes.values(), ...runtime.containers.values()].map((o) => o.podUid),
    ...world.disk,
    ...world.cgroups,
    ...world.mounts,
  ]))
    if (!wanted.has(uid)) problems.push(`pod ${uid} was removed and something of it is left`);
  for (const [uid, pod] of wanted) {
    const status = entries[uid]?.status;
    const phase = status?.phase;
    const own = [...runtime.containers.values()].filter((c) => c.podUid === uid);
    const where = () => JSON.stringify(world.agent?.getSnapshot().context.pods[uid]?.getSnapshot().value);
    if (phase === 'Failed' || phase === 'Succeeded') {
      if (own.some((c) => c.state === 'running')) problems.push(`pod ${uid} is ${phase} and something of it runs`);
      if ([...runtime.sandboxes.values()].some((s) => s.podUid === uid && s.state === 'ready'))
        problems.push(`pod ${uid} is ${phase} and its sandbox is ready`);
      if (world.cgroups.has(uid) || world.mounts.has(uid)) problems.push(`pod ${uid} is ${phase} and holds its cgroup`);
      continue;
    }
    if (!status) problems.push(`pod ${uid} has no status; it is ${where()}`);
    const initialized = status?.conditions?.some((c) => c.type === 'Initialized' && c.status === 'True');
    if (!initialized && !pod.spec.initContainers?.some((c) => c.command?.[1] === '1'))
      problems.push(`pod ${uid} never initialized; it is ${where()}`);
    if (!initialized) continue;
    for (const { name, command } of pod.spec.containers) {
      const running = own.filter((c) => c.name === name && c.state === 'running').length;
      if (command?.[0] === 'run' && running !== 1)
        problems.push(`${uid}/${name} has ${running} running instances; its pod is ${phase} and ${where()}`);
      if (command?.[0] === 'exit' && pod.spec.restartPolicy === 'Always' && (world.logs.get(`${uid}/${name}`) ?? 0) < 1)
        problems.push(`${uid}/${name} was never restarted; its pod is ${where()}`);
    }
  }
  return problems;
}

/** A second pod of the same name in one source is refused; the first by origin runs. */
function firstOfEachName(pods: DesiredPod[]): DesiredPod[] {
  const names = new Set<string>();
  return pods.filter(({ metadata }) => !names.has(metadata.name) && names.add(metadata.name));
}
