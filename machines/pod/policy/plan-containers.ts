import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedContainer, ObservedPod } from '../../runtime.types.ts';
import type { ContainerPlan } from '../container.types.ts';
import type { PodPlan } from '../pod.types.ts';
import type { KeptVerdicts } from '../probe.types.ts';
import { effectiveGrace } from './grace.ts';
import { planInit } from './plan-init.ts';
import { isSidecar } from './pod-phase.ts';
import { endsWithoutSandbox, sandboxNeeded } from './plan-sandbox.ts';
import { givesWayFor, hasRun, reasonToEnd, restarts } from './restart.ts';
import { isLive, stopAll, stopContainer, type PodEnd } from './stop-plan.ts';
import { allContainers } from './all-containers.ts';

/** What the plan is made from besides the spec. */
export interface PodView {
  observed: ObservedPod;
  /** Set once the pod is to end. */
  termination?: PodEnd;
  /** The instances that gave way to another so far, by this agent's last plan or by what another one kept. */
  replaced?: readonly string[];
  /** What probes have found, by container name. */
  verdicts?: KeptVerdicts;
  /** Wall clock, ms. */
  now: number;
}

type PlanView = PodView & Required<Pick<PodView, 'replaced'>>;

const RUN: ContainerPlan = { do: 'run', reason: 'desired' };
const REPLACE: ContainerPlan = { do: 'run', reason: 'definitionChanged' };
const COMPLETED: ContainerPlan = { do: 'hold', reason: 'completed' };
const NOT_YET: ContainerPlan = { do: 'hold', reason: 'initializing' };
const NO_SANDBOX: ContainerPlan = { do: 'hold', reason: 'noSandbox' };
const FIRST_IN_TURN: ContainerPlan = { do: 'hold', reason: 'firstInTurn' };

/**
 * What the pod's sandbox and each container of its spec should do now. A plan, not a step: the same view gives the same
 * plan, and it is made again whenever anything changes (kuberuntime_manager.go:computePodActions).
 *
 * Unlike the kubelet's, it takes an instance that never was a process, in a sandbox that is lost, for none at all
 * (B016), and needs no other word than the spec's that a pod with a terminal phase is over (B017).
 */
export function planContainers(pod: DesiredPod, view: PodView): PodPlan {
  const { observed, termination, now } = view;
  if (termination) {
    const newest = observed.sandboxes[0];
    const sandbox = newest?.state === 'ready' ? { do: 'keep' as const, id: newest.id } : { do: 'none' as const };
    return { sandbox, finished: false, replaced: [], containers: stopAll(pod, observed, termination, now) };
  }
  const sandbox = sandboxNeeded(pod, observed);
  if (isTerminal(pod)) return ending(pod, view, sandbox);
  const replaced = replacedInstances(pod, view);
  if (sandbox.do === 'keep') return planInSandbox(pod, { ...view, replaced }, sandbox);
  if (endsWithoutSandbox(pod, observed, replaced)) return ending(pod, view, sandbox);
  const first = firstInTurn(pod, { ...view, replaced });
  const containers = mapContainers(pod, (container) => {
    if (livesOutside(observed, container)) return stopContainer(pod, container, 'sandboxLost');
    return container === first ? FIRST_IN_TURN : NO_SANDBOX;
  });
  return { sandbox, finished: false, replaced, containers };
}

/** What starts first in a sandbox that is still to be made. */
function firstInTurn(pod: DesiredPod, view: PlanView): Container | undefined {
  const { initContainers = [], containers } = pod.spec;
  return initContainers[0] ?? containers.find((container) => regularContainer(pod, container, view).do === 'run');
}

function planInSandbox(pod: DesiredPod, view: PlanView, sandbox: { do: 'keep'; id: string }): PodPlan {
  const { observed, replaced } = view;
  const regular = mapRegular(pod, (container) => regularContainer(pod, container, view, sandbox.id));
  if (pod.spec.containers.every(({ name }) => regular[name] === COMPLETED)) return ending(pod, view, sandbox);
  const init = planInit(pod, { ...view, replaced }, sandbox.id);
  if (init.failed) return ending(pod, view, sandbox);
  const containers = mapContainers(pod, (container) => {
    if (livesOutside(observed, container, sandbox.id)) return stopContainer(pod, container, 'sandboxLost');
    const own = regular[container.name];
    return own ? (init.over || own === COMPLETED ? own : NOT_YET) : (init.containers[container.name] ?? NOT_YET);
  });
  return { sandbox, finished: false, replaced, containers };
}

/** The pod is over: what still runs (sidecars) is stopped in its order, and then the pod is finished. */
function ending(pod: DesiredPod, view: PodView, sandbox: PodPlan['sandbox']): PodPlan {
  const { observed, now } = view;
  const rest: PodPlan['sandbox'] = sandbox.do === 'create' ? { do: 'none' } : sandbox;
  if (!observed.containers.some(isLive))
    return { sandbox: rest, finished: true, replaced: [], containers: mapContainers(pod, () => COMPLETED) };
  const end = { gracePeriodSeconds: effectiveGrace({ pod }), startedAt: now };
  return { sandbox: rest, finished: false, replaced: [], containers: stopAll(pod, observed, end, now) };
}

function regularContainer(
  pod: DesiredPod,
  container: Container,
  { observed, replaced, verdicts }: PlanView,
  sandboxId?: string,
): ContainerPlan {
  const newest = observed.containers.find((c) => c.name === container.name && (c.sandboxId === sandboxId || hasRun(c)));
  const isReplaced = newest !== undefined && replaced.includes(newest.id);
  const reason = newest && (reasonToEnd(container, newest, verdicts?.[container.name]) ?? setBack(newest, isReplaced));
  if (reason) return stopContainer(pod, container, reason);
  if (newest?.state !== 'exited') return RUN;
  if (isReplaced) return REPLACE;
  return restarts(pod, container, newest) ? RUN : COMPLETED;
}

/**
 * The instances that give way to another: those that run with an old definition or failed a probe, and those that had to
 * before. They are followed whatever the restart policy says, as their end was no end of their own, and also where the
 * definition is set back meanwhile. One that had ended by itself before its definition changed is none of them.
 *
 * The kubelet keeps no account of it: there a container that cannot be started again at once, or before the kubelet itself
 * is, has ended for good where its pod does not restart it.
 */
function replacedInstances(pod: DesiredPod, { observed, replaced = [], verdicts }: PodView): string[] {
  return observed.containers.filter((c) => replaced.includes(c.id) || givesWay(pod, c, verdicts)).map(({ id }) => id);
}

/** An init container that is no sidecar is left to end. */
function givesWay({ spec }: DesiredPod, instance: ObservedContainer, verdicts: KeptVerdicts | undefined): boolean {
  const container = [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers].find(
    ({ name }) => name === instance.name,
  );
  if (!container) return false;
  return givesWayFor(reasonToEnd(container, instance, verdicts?.[instance.name]), container, spec);
}

/** What was to give way does, also where its definition is what it was again: its stop signal may be sent. */
function setBack({ state }: ObservedContainer, isReplaced: boolean): 'definitionChanged' | undefined {
  return state === 'running' && isReplaced ? 'definitionChanged' : undefined;
}

/** The API's word that the pod ended: it never runs again, even where the runtime has no trace of it left. */
function isTerminal({ status }: DesiredPod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function livesOutside(observed: ObservedPod, { name }: Container, sandboxId?: string): boolean {
  return observed.containers.some((c) => c.name === name && c.sandboxId !== sandboxId && isLive(c));
}

type Plans = Record<string, ContainerPlan>;

function mapRegular({ spec }: DesiredPod, plan: (container: Container) => ContainerPlan): Plans {
  return Object.fromEntries(spec.containers.map((c) => [c.name, plan(c)]));
}

function mapContainers({ spec }: DesiredPod, plan: (container: Container) => ContainerPlan): Plans {
  return Object.fromEntries(allContainers(spec).map((c) => [c.name, plan(c)]));
}
