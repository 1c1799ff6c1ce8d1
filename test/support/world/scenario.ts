import { AgentError } from '../../../machines/agent-error.types.ts';
import type { Container, DesiredPod, PodSpec, Probe } from '../../../machines/kubernetes.types.ts';
import type { Random } from './random.ts';
import { AUDIT_MS, NO_FAULTS } from './runtime.ts';
import { World, type Charts } from './world.ts';

/** What a run ended with: breaches of the invariants, what did not settle, and bugs that surfaced as crashes. */
export interface Verdict {
  seed: number;
  problems: string[];
  calls: number;
}

/** The time a run takes before it is left alone, and the time it then gets to settle (back-offs reach 5 min), ms. */
const BUSY_MS = 8 * 60_000;
const SETTLE_MS = 25 * 60_000;

/** Runs the whole agent through a random life: pods come, change and go, calls fail, the agent and the runtime die. */
export async function runScenario(
  seed: number,
  trace?: (line: string) => void,
  charts?: Partial<Charts>,
): Promise<Verdict> {
  const world = new World(seed, charts);
  if (trace) world.trace = trace;
  prepare(world);
  for (let i = 0; i < world.random.between(1, 4); i++) world.put(originOf(i), manifest(world.random, i));
  world.start();

  while (world.clock.elapsed < BUSY_MS) {
    await world.clock.advance(world.random.pick([3, 50, 500, 5_000, 30_000]));
    act(world, ACTS);
  }
  await settle(world, unsettled);
  return verdict(world, unsettled(world));
}

/** How often what misbehaves in this life. */
export function prepare(world: World): void {
  const { random, runtime } = world;
  world.stream = random.chance(0.7);
  for (const image of ['present:1', 'present:2']) runtime.images.add(image);
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
  const ails = random.pick([0, 0.1, 0.5]);
  world.probe = () => {
    if (random.chance(ails / 10))
      throw new AgentError({ op: 'ExecSync', reason: 'UNKNOWN', message: 'no', transient: true });
    return !random.chance(ails);
  };
}

/** The life is over: what was wrong with it. */
export function verdict(world: World, left: string[]): Verdict {
  const problems = [
    ...world.invariants.breaches,
    ...world.crashes.map((error) => `crash: ${JSON.stringify(error)} ${String((error as { error?: unknown }).error)}`),
    ...left,
  ];
  world.kill();
  return { seed: world.seed, problems, calls: world.runtime.ledger.length };
}

/** Nothing disturbs any more. Settled twice, an audit apart, is settled. */
export async function settle(world: World, unsettled: (world: World) => string[]): Promise<void> {
  const { runtime, clock } = world;
  runtime.faults = { ...NO_FAULTS };
  world.undisturbed();
  runtime.up = true;
  runtime.networkReady = true;
  runtime.absentImages.clear();
  world.hostFails = 0;
  world.probe = () => true;
  world.mend();
  if (!world.agent) world.start();
  const until = clock.elapsed + SETTLE_MS;
  for (let calm = 0; calm < 2 && clock.elapsed < until; calm = unsettled(world).length ? 0 : calm + 1)
    await clock.advance(AUDIT_MS);
}

export const originOf = (index: number) => `/manifests/${index}.yaml`;

type Acts = Record<string, (world: World, origin: string) => void>;

/** What can happen in a life, each as often as the others. */
export const ACTS: Acts = {
  put: putAny,
  putAgain: putAny,
  changeImage(world, origin) {
    const found = world.manifest(origin) as Manifest | undefined;
    if (!found) return putAny(world, origin);
    const [first, ...others] = found.spec.containers;
    const image = first.image === 'present:1' ? 'present:2' : 'present:1';
    world.put(origin, { ...found, spec: { ...found.spec, containers: [{ ...first, image }, ...others] } });
  },
  remove(world, origin) {
    const found = world.manifest(origin);
    world.remove(origin);
    // Some come back as they were, while their pod still ends or after it.
    if (found && world.random.chance(0.5))
      world.clock.setTimeout(
        () => world.manifests.has(origin) || world.put(origin, found),
        world.random.between(1, 40_000),
      );
  },
  spoil(world, origin) {
    world.spoil(origin, world.random.pick(['', '{', 'kind: [', 'apiVersion: v1\nkind: Pod\n', '\u0000']));
  },
  mend: (world) => world.mend(),
  killOrStart: (world) => (world.agent ? world.kill() : start(world)),
  killInCall: (world) => world.killAtCall(world.random.between(1, 30), world.random.between(1, 20_000)),
  start,
  crash({ runtime, random }) {
    const running = [...runtime.containers.values()].filter((c) => c.state === 'running');
    if (running.length) runtime.crash(random.pick(running).id, random.pick([0, 1, 137]));
  },
  stopSandbox({ runtime, random }) {
    const sandboxes = [...runtime.sandboxes.keys()];
    if (sandboxes.length) runtime.stopSandbox(random.pick(sandboxes));
  },
  removeExited({ runtime, random, specs }) {
    // How a container ended that is not to run again is known from these records alone, until the pod's end is kept.
    const mayGo = ({ podUid, exitCode }: { podUid: string; exitCode?: number }) => {
      const policy = specs.get(podUid)?.spec.restartPolicy ?? 'Always';
      return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
    };
    const exited = [...runtime.containers.values()].filter((c) => c.state === 'exited' && mayGo(c));
    if (exited.length) runtime.removeContainer(random.pick(exited).id);
  },
  runtimeAway: ({ runtime, random }) => void (runtime.up = random.chance(0.7)),
  networkAway: ({ runtime, random }) => void (runtime.networkReady = random.chance(0.7)),
  clockJumps: ({ clock, random }) => void (clock.skewMs += random.pick([-3_600_000, -1_000, 1_000, 60_000])),
};

/** Something of it happens. */
export function act(world: World, acts: Acts): void {
  const { random } = world;
  const origin = originOf(random.between(0, 4));
  const what = random.pick(Object.keys(acts));
  world.trace?.(`${world.clock.elapsed} act ${what} ${origin}`);
  acts[what]?.(world, origin);
}

function start(world: World): void {
  if (!world.agent) world.start();
}

function putAny(world: World, origin: string): void {
  world.put(origin, manifest(world.random, world.random.between(0, 4)));
}

export interface Manifest {
  metadata: { name: string; uid?: string };
  spec: Omit<PodSpec, 'containers'> & { containers: [Container, ...Container[]] };
}

export function manifest(random: Random, index: number): Manifest {
  const program = () => [
    ...random.pick([['run'], ['run'], ['exit', '0', '3000'], ['exit', '1', '2000'], ['exit', '1', '100']]),
    ...(random.chance(0.2) ? ['ignoreTerm'] : []),
  ];
  const base = { imagePullPolicy: 'IfNotPresent' };
  const container = (i: number): Container => ({
    ...base,
    name: `c${i}`,
    image: random.pick(['present:1', 'present:1', 'pulled:1', 'absent:1']),
    command: program(),
    ...probes(random),
  });
  const initContainers = Array.from({ length: random.pick([0, 0, 1, 2]) }, (_, i): Container => {
    if (random.chance(0.3))
      return {
        ...base,
        name: `side${i}`,
        image: 'present:1',
        command: ['run'],
        restartPolicy: 'Always',
        ...probes(random),
      };
    return {
      ...base,
      name: `init${i}`,
      image: 'present:1',
      command: ['exit', random.pick(['0', '0', '0', '1']), '500'],
    };
  });
  const more = Array.from({ length: random.between(0, 2) }, (_, i) => container(i + 1));
  // A UID of its own keeps the pod the same through every change of its manifest.
  const uid = random.chance(0.2) ? `uid-${index}-${random.between(0, 999_999)}` : undefined;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod${index}`, ...(uid && { uid }) },
    spec: {
      restartPolicy: random.pick(['Always', 'Always', 'OnFailure', 'Never']),
      hostNetwork: random.chance(0.3) || undefined,
      terminationGracePeriodSeconds: random.pick([1, 5, 30]),
      activeDeadlineSeconds: random.chance(0.1) ? random.between(5, 120) : undefined,
      initContainers: initContainers.length ? initContainers : undefined,
      containers: [container(0), ...more] satisfies [Container, ...Container[]] as [Container, ...Container[]],
    },
  };
  return pod;
}

/** Some containers are probed, in one way or in several. */
function probes(random: Random): Partial<Container> {
  const probe = (): Probe => ({
    exec: { command: ['true'] },
    initialDelaySeconds: random.pick([0, 0, 5]),
    periodSeconds: random.pick([1, 5, 10]),
    failureThreshold: random.pick([1, 3]),
  });
  return {
    ...(random.chance(0.15) && { startupProbe: { ...probe(), failureThreshold: 10 } }),
    ...(random.chance(0.15) && { livenessProbe: probe() }),
    ...(random.chance(0.3) && { readinessProbe: { ...probe(), successThreshold: random.pick([1, 2]) } }),
  };
}

/** What should be true once nothing disturbs any more: the node and what is wanted of it agree. */
export function unsettled(world: World): string[] {
  const problems: string[] = [];
  const { runtime } = world;
  const entries = world.agent?.getSnapshot().context.entries ?? {};
  // A pod whose end is kept has its name as long as it is wanted, also where it never got a sandbox.
  const there = new Set([...[...runtime.sandboxes.values()].map(({ podUid }) => podUid), ...world.facts.keys()]);
  const wanted = new Map(oneOfEachName(world.wanted(), there).map((pod) => [pod.metadata.uid, pod]));
  for (const uid of new Set([
    ...[...runtime.sandboxes.values(), ...runtime.containers.values()].map((o) => o.podUid),
    ...world.disk,
    ...world.cgroups,
    ...world.mounts,
  ]))
    if (!wanted.has(uid)) problems.push(`pod ${uid} was removed and something of it is left`);
  for (const [uid, pod] of wanted) {
    const status = world.cluster?.isOfApi(uid) ? pod.status : entries[uid]?.status;
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
    for (const { name, command, image } of pod.spec.containers) {
      const running = own.filter((c) => c.name === name && c.state === 'running');
      // A process that was made to end stays ended where the restart policy has it so.
      const { exitCode } = own.findLast((c) => c.name === name && c.state === 'exited') ?? {};
      const policy = pod.spec.restartPolicy;
      const isOver = exitCode !== undefined && (policy === 'Never' || (policy === 'OnFailure' && exitCode === 0));
      if (command?.[0] === 'run' && running.length !== 1 && !(running.length === 0 && isOver))
        problems.push(`${uid}/${name} has ${running.length} running instances; its pod is ${phase} and ${where()}`);
      const shown = status?.containerStatuses?.find((c) => c.name === name);
      if (running.length === 1 && !shown?.ready) problems.push(`${uid}/${name} runs and is not ready`);
      if (running.some((c) => c.image !== image)) problems.push(`${uid}/${name} runs by an old definition`);
      if (command?.[0] === 'exit' && pod.spec.restartPolicy === 'Always' && (world.logs.get(`${uid}/${name}`) ?? 0) < 1)
        problems.push(`${uid}/${name} was never restarted; its pod is ${where()}`);
    }
  }
  return problems;
}

/**
 * A second pod of the same name in one source is refused. Which came first depends on when the agent read, so the one that
 * is there counts; where none is, the first by its origin.
 */
export function oneOfEachName(pods: DesiredPod[], there: ReadonlySet<string>): DesiredPod[] {
  const names = new Set<string>();
  const isThere = ({ metadata }: DesiredPod) => there.has(metadata.uid);
  return [...pods.filter(isThere), ...pods.filter((pod) => !isThere(pod))].filter(
    ({ metadata }) => !names.has(metadata.name) && names.add(metadata.name),
  );
}
