import type { ObservedContainer } from '../runtime.types.ts';
import type { ContainerDesired, ContainerInput, KeptStop } from './container.types.ts';
import type { ImageBackoff } from './image-pull.types.ts';
import { backoffRemaining, nextBackoff } from './policy/backoff.ts';
import type { ActorRefFrom } from 'xstate';
import type { probeMachine } from './probe.machine.ts';
import type { ProbeInput, ProbeType } from './probe.types.ts';
import { firstView, viewAfterPush, type ContainerView } from './policy/container-view.ts';
import { unservedCrash, type ContainerFacts, type StopRecord } from './policy/decide-container.ts';
import { keptGraceLeft } from './policy/kept-stop.ts';
import { sameJson } from './policy/same-json.ts';

export type Probes = Partial<Record<ProbeType, ActorRefFrom<typeof probeMachine>>>;

export interface ContainerContext extends Omit<ContainerInput, 'highestLogAttempt' | 'keptStop'>, ContainerFacts {
  /** What the effect in hand is about. */
  target?: { id: string; logPath: string };
  /** When the effect in hand began, ms. */
  calledAt: number;
  /** Sandbox of the last create. */
  createdIn?: string;
  /** What the runtime calls the image that was last pulled or found. */
  imageRef: string;
  /** Kept here because the pull's actor ends whenever the plan changes. */
  imageBackoff?: { image: string; backoff: ImageBackoff };
  waiting?: { reason: string; message: string };
  /** The probes that are made, all of the instance `probed`. */
  probes: Probes;
  /** The running instance, and when it started, in the process's own time. */
  probed?: { id: string; startedAt: number };
  /** Probes whose verdict on that instance could not be kept, and who try again. */
  unkept: ProbeType[];
  /** Ids of probes that threw, until they are made anew. */
  mourned: string[];
}

/** A probe that threw: a bug of its own, answered by a new one (ARCHITECTURE rule 9). */
export interface ProbeFailed {
  type: `xstate.error.actor.probe.${string}`;
  error: unknown;
  actorId: string;
}

/** Some time after a probe threw: a bug that is met at once again must not become a loop. */
export interface ProbeRespawn {
  type: 'child.respawn';
  id: string;
}

export function initialContext({ highestLogAttempt, keptStop, ...input }: ContainerInput): ContainerContext {
  const { now, elapsed } = input.env;
  const stop = keptStop && {
    id: keptStop.id,
    gracePeriodSeconds: keptStop.gracePeriodSeconds,
    killAt: elapsed() + keptGraceLeft(keptStop, now()),
    reason: keptStop.reason,
    settled: false,
  };
  return {
    ...input,
    ...inOwnTime(input, firstView(input.instances, highestLogAttempt)),
    unremovable: [],
    calledAt: input.env.now(),
    imageRef: '',
    probes: {},
    unkept: [],
    mourned: [],
    ...(stop && { stop }),
  };
}

/**
 * Waits are counted in the process's own time, so that a clock that is set neither ends nor lengthens one. An end is told
 * by the agent's clock: what is news in a view is turned into own time as it is learned.
 */
export function inOwnTime(
  { env, ends }: Pick<ContainerContext, 'env'> & Partial<ContainerView>,
  view: ContainerView,
): ContainerView {
  const own = ([id, end]: [string, number]) => [id, ends?.[id] ?? env.elapsed() - Math.max(0, env.now() - end)];
  return { ...view, ends: Object.fromEntries(Object.entries(view.ends).map(own)) };
}

/** The instance that runs where containers are to run, and since when. One that this machine started began just now. */
export function probedInstance(context: ContainerContext): ContainerContext['probed'] {
  const { env, instances, sandbox, made, probed } = context;
  const instance = instances.find(({ state, sandboxId }) => state === 'running' && sandboxId === sandbox?.id);
  if (!instance || instance.id === probed?.id) return instance && probed;
  const since = made?.id === instance.id ? 0 : Math.max(0, env.now() - (instance.startedAt ?? instance.createdAt));
  return { id: instance.id, startedAt: env.elapsed() - since };
}

/** What a probe of that instance is to know. */
export function probeInput(
  context: ContainerContext,
  { id, startedAt }: { id: string; startedAt: number },
  type: ProbeType,
): Omit<ProbeInput, 'parent' | 'fieldPath'> {
  const { env, pod, container, sandbox, made, verdicts } = context;
  const [podIP] = (pod.spec.hostNetwork ? sandbox?.hostIPs : sandbox?.ips) ?? [];
  return {
    env,
    type,
    probe: container[`${type}Probe`] ?? {},
    pod,
    container,
    id,
    startedAt,
    adopted: made?.id !== id,
    hasStarted: verdicts?.id === id && verdicts.startup === true,
    ...(podIP && { podIP }),
    ...(verdicts?.id === id && { verdict: verdicts[type] }),
  };
}

/** The pod pushed its view down. A new image or new resources begin with no back-off (helpers.go:GetBackoffKey). */
export function afterPush(context: ContainerContext, event: ContainerDesired): Partial<ContainerContext> {
  const { pod, container, plan, sandbox, instances } = event;
  const { image, resources } = context.container;
  const same = sameJson({ image, resources }, { image: container.image, resources: container.resources });
  return {
    pod,
    container,
    plan,
    sandbox,
    ...inOwnTime(context, viewAfterPush(context, instances)),
    ...(same ? {} : { backoff: undefined, retry: undefined, fetchedAt: undefined }),
  };
}

/**
 * A create or start failed: its successor waits as a crash's would, at least `retryMs`. A name that the runtime keeps for
 * another id is never asked for again.
 */
export function afterFailure(context: ContainerContext, nameReserved: boolean): Partial<ContainerContext> {
  const { settings, triedAttempt = -1, servedAttempt = -1, highestAttempt } = context;
  const now = context.env.elapsed();
  return {
    retry: { failedAt: now, delayMs: Math.max(settings.retryMs, backoffRemaining(context.backoff, now, now)) },
    backoff: nextBackoff(context.backoff, now, limits(context)),
    servedAttempt: Math.max(servedAttempt, triedAttempt),
    highestAttempt: nameReserved ? Math.max(highestAttempt, triedAttempt) : highestAttempt,
  };
}

/** Wait before a configuration that could not be made is tried again, ms (pod_workers.go: backOffPeriod). */
const CONFIG_RETRY = 10_000;

/** Nothing was asked of the runtime, so no number was taken and no crash is counted. */
export function afterConfigError({ env }: ContainerContext): Partial<ContainerContext> {
  return { retry: { failedAt: env.elapsed(), delayMs: CONFIG_RETRY } };
}

/** The newest end is about to be succeeded: it counts once. */
export function afterServing(context: ContainerContext): Partial<ContainerContext> {
  const crash = unservedCrash(context);
  if (!crash) return {};
  const endedAt = context.ends[crash.id] ?? context.env.elapsed();
  return { backoff: nextBackoff(context.backoff, endedAt, limits(context)), servedAttempt: crash.attempt };
}

const limits = ({ settings }: ContainerContext) => ({
  initialMs: settings.backoffInitialMs,
  maxMs: settings.backoffMaxMs,
});

/** Least grace that a stop is given, s (kuberuntime_manager.go:minimumGracePeriodInSeconds), unless less was asked for. */
const MINIMUM_GRACE = 2;
/** API default of terminationGracePeriodSeconds. */
const DEFAULT_GRACE = 30;

/** The stop to ask for now: a stop that is asked for again has what is left of its grace, never more than before. */
export function stopRecord(context: ContainerContext, { id, state }: ObservedContainer): StopRecord {
  const { plan, pod } = context;
  const now = context.env.elapsed();
  const asked =
    plan.do === 'stop' ? plan.gracePeriodSeconds : (pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE);
  const before = context.stop?.id === id ? context.stop : undefined;
  const lost = state === 'unknown' ? 'stateUnknown' : 'sandboxLost';
  const reason = plan.do === 'stop' ? plan.reason : (before?.reason ?? lost);
  if (!before) return { id, gracePeriodSeconds: asked, killAt: now + asked * 1000, reason, settled: false };
  const left = Math.max(MINIMUM_GRACE, Math.ceil((before.killAt - now) / 1000));
  const gracePeriodSeconds = Math.min(asked, before.gracePeriodSeconds, left);
  return {
    id,
    gracePeriodSeconds,
    killAt: Math.min(before.killAt, now + gracePeriodSeconds * 1000),
    reason,
    settled: before.settled,
  };
}

/** The stop in hand as it is kept: its deadline in wall time, which another agent can read. */
export function keptStopOf({ stop, plan, env }: ContainerContext): KeptStop {
  if (!stop) throw new Error('stopping without a stop');
  const { id, gracePeriodSeconds, killAt, reason } = stop;
  const podEnd = plan.do === 'stop' ? plan.podEnd : undefined;
  return { id, gracePeriodSeconds, killAt: env.now() + killAt - env.elapsed(), reason, ...(podEnd && { podEnd }) };
}
