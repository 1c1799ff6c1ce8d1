import type { ActorRefFrom } from 'xstate';
import type { ContainerDesired, ContainerKind, ContainerInput } from './container.types.ts';
import type { containerMachine } from './container.machine.ts';
import type { volumeMachine } from './volume.machine.ts';
import type { PodEvent, PodInput, PodPlan, Termination, TerminationRequest } from './pod.types.ts';
import { mergeObserved, withContainer, withoutContainer } from './policy/merge-observed.ts';
import { keptEnd } from './policy/kept-stop.ts';
import { orphanPod } from './policy/orphan-pod.ts';
import { currentSandbox, planPod, type PodFacts } from './policy/pod-view.ts';
import { firstVerdicts } from './policy/probe-verdict.ts';
import { willFollow } from './policy/restart.ts';
import { CONFIG_SOURCE_ANNOTATION } from './policy/names.ts';
import { terminationAfter } from './policy/termination.ts';

export interface PodContext extends Omit<PodInput, 'pod'>, PodFacts {
  plan: PodPlan;
  /** Gone from its source: nothing of it may stay. */
  removed: boolean;
  networkReady: boolean;
  prepared: boolean;
  /** A status was reported. */
  shown: boolean;
  /** How it ended is kept as a fact. */
  recorded: boolean;
  /** Its end was told: the last status stands. */
  reported: boolean;
  /** Container actors exist and are told their plans. */
  acting: boolean;
  containers: Record<string, ActorRefFrom<typeof containerMachine>>;
  /** What each container actor was last told. */
  told: Record<string, ContainerDesired>;
  /** Volume actors, one for each volume that a container uses, until the pod is terminated. */
  volumes: Record<string, ActorRefFrom<typeof volumeMachine>>;
  /** Volumes that can be bound into containers. */
  mounted: string[];
  highestLogAttempt: Record<string, number>;
  /** Sandboxes whose StopPodSandbox succeeded; the runtime lists them until they are removed. */
  stoppedSandboxes: string[];
  /** Ids of children that threw, until they are made anew. */
  mourned: string[];
  /** Containers, and volumes as `volume.<name>`, with a mutating effect in flight. */
  busy: string[];
  /** Effects of the pod itself that failed in a row; sets the wait before the next try. */
  failures: number;
  /** What the last failed one said, until one succeeds. */
  failure?: string;
}

/** A child that threw: a bug of the child, answered by a new child (ARCHITECTURE rule 9). */
export interface ChildFailed {
  type: `xstate.error.actor.${'container' | 'volume'}.${string}`;
  error: unknown;
  actorId: string;
}

/** Some time after a child threw: a bug that is met at once again must not become a loop. */
export interface Respawn {
  type: 'child.respawn';
  id: string;
}

/** A pod that is new to this process; an orphan is to end from the start. */
export function initialContext(input: PodInput): PodContext {
  const orphan = input.pod === undefined;
  const pod = input.pod ?? orphanPod(input.observed);
  const elapsed = input.env.elapsed();
  const termination = keptEnd(input.keptStops ?? {}, input.observed, input.env.now(), elapsed);
  const facts: PodFacts = {
    pod,
    orphan,
    observed: input.observed,
    waiting: {},
    released: false,
    sandboxAttemptFloor: 0,
    hostIPs: input.settings.hostIPs,
    runtimeName: input.settings.runtimeName,
    keptStops: input.keptStops,
    verdicts: firstVerdicts(input.keptVerdicts, input.pod, input.observed, input.settings.runtimeName),
    ...(termination && { termination }),
  };
  if (orphan) facts.termination = removal(facts, elapsed);
  else if (pod.metadata.deletionTimestamp) facts.termination = terminationOf(facts, {}, elapsed);
  return {
    ...input,
    ...facts,
    plan: planPod(facts, elapsed),
    removed: facts.termination?.removed === true,
    networkReady: input.networkReady,
    prepared: false,
    recorded: false,
    reported: false,
    shown: false,
    acting: false,
    containers: {},
    told: {},
    volumes: {},
    mounted: [],
    mourned: [],
    highestLogAttempt: {},
    stoppedSandboxes: [],
    busy: [],
    failures: 0,
    status: pod.status,
  };
}

/** The termination that a request leads to; an orphan goes with the grace that its containers' annotations keep. */
export function terminationOf(facts: PodFacts, request: TerminationRequest, elapsed: number): Termination {
  const recorded = facts.observed.containers.find((c) => c.gracePeriodSeconds !== undefined)?.gracePeriodSeconds;
  return terminationAfter(facts.termination, request, facts.pod, facts.orphan ? (recorded ?? 1) : undefined, elapsed);
}

/**
 * The termination of a pod that is gone from its source. The API removes what still runs only at a force delete, which leaves
 * the least grace, whatever was granted before.
 */
function removal(facts: PodFacts, elapsed: number): Termination {
  const isForced = facts.pod.metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] === 'api';
  return { ...terminationOf(facts, isForced ? { gracePeriodSeconds: 0 } : {}, elapsed), removed: true };
}

/** What an event from outside or from a container adds to what the pod knows. */
export function learn(context: PodContext, event: PodEvent | ChildFailed | Respawn): Partial<PodContext> {
  const elapsed = context.env.elapsed();
  switch (event.type) {
    case 'pod.desired': {
      const { pod } = event;
      const known = { ...context, pod };
      const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
      const kept = { ...pod, status: pod.status ?? context.pod.status };
      if (!deletionTimestamp) return { pod: kept };
      return {
        pod: kept,
        termination: terminationOf(known, { gracePeriodSeconds: deletionGracePeriodSeconds }, elapsed),
      };
    }
    case 'pod.terminate':
      return { termination: terminationOf(context, event.request, elapsed) };
    case 'pod.removed':
      return { removed: true, termination: removal(context, elapsed) };
    case 'pod.observed':
      return { observed: mergeObserved(context.observed, event.observed) };
    case 'container.exited':
      return willFollow(context, event.container) ? { observed: withContainer(context.observed, event.container) } : {};
    case 'predecessor.gone':
      return { predecessorUid: undefined };
    case 'network.ready':
      return { networkReady: event.ready };
    case 'node.addressed':
      return { hostIPs: event.hostIPs };
    case 'container.changed': {
      const { name, instance, gone, waiting, busy } = event;
      let { observed } = context;
      if (instance) observed = withContainer(observed, instance);
      if (gone) observed = withoutContainer(observed, gone.id, gone.at);
      const others = { ...context.waiting };
      if (waiting) others[name] = waiting;
      else delete others[name];
      return { observed, waiting: others, busy: busyAfter(context, name, busy) };
    }
    case 'container.probed':
      return { verdicts: { ...context.verdicts, [event.name]: event.verdicts } };
    case 'volume.changed': {
      const { name, mounted, busy } = event;
      const others = context.mounted.filter((n) => n !== name);
      return { mounted: mounted ? [...others, name] : others, busy: busyAfter(context, `volume.${name}`, busy) };
    }
    case 'object.changed':
    case 'event.happened':
      return {};
    case 'child.respawn':
      return { mourned: context.mourned.filter((id) => id !== event.id) };
    default: {
      const mourned = [...context.mourned, event.actorId];
      if (event.type.startsWith('xstate.error.actor.volume.')) {
        const name = event.actorId.slice('volume.'.length);
        const { [name]: _failed, ...volumes } = context.volumes;
        return { volumes, mourned, busy: busyAfter(context, event.actorId, false) };
      }
      const name = event.actorId.slice('container.'.length);
      const { [name]: _failed, ...containers } = context.containers;
      const { [name]: _told, ...told } = context.told;
      return { containers, told, mourned, busy: busyAfter(context, name, false) };
    }
  }
}

function busyAfter({ busy }: PodContext, who: string, is: boolean): string[] {
  const others = busy.filter((each) => each !== who);
  return is ? [...others, who] : others;
}

/** Everything that one container actor is told, whether it is new or not. */
export function containerInput(context: PodContext, plan: PodPlan, name: string): ContainerInput {
  const { env, pod, observed, settings, keptStops } = context;
  const keptStop = keptStops?.[name];
  const verdicts = context.verdicts[name];
  const init = pod.spec.initContainers?.find((c) => c.name === name);
  const instances = observed.containers.filter((c) => c.name === name);
  const container = init ??
    pod.spec.containers.find((c) => c.name === name) ?? { name, image: instances[0]?.image ?? '' };
  const kind: ContainerKind = !init ? 'regular' : init.restartPolicy === 'Always' ? 'sidecar' : 'init';
  return {
    env,
    // The machine's wiring replaces this with the pod actor itself.
    parent: context.parent,
    pod,
    container,
    kind,
    plan: plan.containers[name] ?? { do: 'hold', reason: 'completed' },
    sandbox: currentSandbox(plan, context),
    instances,
    highestLogAttempt: context.highestLogAttempt[name] ?? -1,
    settings,
    ...(keptStop && { keptStop }),
    ...(verdicts && { verdicts }),
  };
}
