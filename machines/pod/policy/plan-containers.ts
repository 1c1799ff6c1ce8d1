import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedContainer, ObservedPod } from '../../runtime.types.ts';
import type { ContainerPlan, StopReason } from '../container.types.ts';
import type { PodPlan } from '../pod.types.ts';
import { containerHash } from './container-hash.ts';
import { succeeded } from './exit-success.ts';
import { effectiveGrace, remainingGrace } from './grace.ts';
import { endsWithoutSandbox, sandboxNeeded } from './plan-sandbox.ts';
import { isSidecar, restartsAfter } from './pod-phase.ts';

/** What the plan is made from besides the spec. */
export interface PodView {
  observed: ObservedPod;
  /** Set once the pod is to end: its grace in seconds, and when that began, ms. */
  termination?: { gracePeriodSeconds: number; startedAt: number };
  /** Wall clock, ms. */
  now: number;
}

const RUN: ContainerPlan = { do: 'run', reason: 'desired' };
const COMPLETED: ContainerPlan = { do: 'hold', reason: 'completed' };
const NOT_YET: ContainerPlan = { do: 'hold', reason: 'initializing' };
const NO_SANDBOX: ContainerPlan = { do: 'hold', reason: 'noSandbox' };
const POD_STOPPING: ContainerPlan = { do: 'hold', reason: 'podStopping' };

/**
 * What the pod's sandbox and each container of its spec should do now. A plan, not a step: the same view gives the same
 * plan, and it is made again whenever anything changes (kuberuntime_manager.go:computePodActions and
 * kuberuntime_container.go:computeInitContainerActions).
 */
export function planContainers(pod: DesiredPod, view: PodView): PodPlan {
  const { observed } = view;
  if (view.termination) {
    const newest = observed.sandboxes[0];
    const sandbox = newest?.state === 'ready' ? { do: 'keep' as const, id: newest.id } : { do: 'none' as const };
    return { sandbox, finished: false, containers: stopAll(pod, view) };
  }
  const sandbox = sandboxNeeded(pod, observed);
  if (sandbox.do === 'create') {
    const over = endsWithoutSandbox(pod, observed);
    if (over && !isRunning(observed))
      return { sandbox: { do: 'none' }, finished: true, containers: every(pod, COMPLETED) };
    const containers = mapContainers(pod, (c) => (lives(view, c.name) ? stop(pod, c, 'sandboxLost') : NO_SANDBOX));
    return { sandbox: over ? { do: 'none' } : sandbox, finished: false, containers };
  }
  return planInSandbox(pod, view, sandbox.id);
}

function planInSandbox(pod: DesiredPod, view: PodView, sandboxId: string): PodPlan {
  const { observed } = view;
  const sandbox = { do: 'keep' as const, id: sandboxId };
  const containers: Record<string, ContainerPlan> = {};
  const initialized = isInitialized(pod, observed, sandboxId);
  let blocked = false;
  for (const container of pod.spec.initContainers ?? []) {
    const newest = newestIn(observed, container.name, sandboxId);
    const step = initContainer(pod, container, newest, initialized);
    if (step === 'failed') return failedInit(pod, view, sandbox);
    containers[container.name] = blocked && step.plan.do === 'run' && newest?.state !== 'running' ? NOT_YET : step.plan;
    blocked ||= !initialized && !step.over;
  }
  for (const container of pod.spec.containers)
    containers[container.name] = blocked ? NOT_YET : regularContainer(pod, container, observed);
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers])
    if (
      observed.containers.some((c) => c.name === container.name && c.state === 'running' && c.sandboxId !== sandboxId)
    )
      containers[container.name] = stop(pod, container, 'sandboxLost');
  const over = !blocked && pod.spec.containers.every(({ name }) => containers[name] === COMPLETED);
  if (!over) return { sandbox, finished: false, containers };
  return ending(pod, view, sandbox);
}

/** Regular containers are over for good: sidecars are stopped, and then the pod is finished. */
function ending(pod: DesiredPod, view: PodView, sandbox: PodPlan['sandbox']): PodPlan {
  const gracePeriodSeconds = effectiveGrace({ pod });
  const containers = stopAll(pod, { ...view, termination: { gracePeriodSeconds, startedAt: view.now } });
  const finished = !isRunning(view.observed);
  return { sandbox, finished, containers: finished ? every(pod, COMPLETED) : containers };
}

const failedInit = ending;

/** Whether init is over: nothing to initialize, or a regular container was made in this very sandbox (B035, B036). */
function isInitialized(pod: DesiredPod, observed: ObservedPod, sandboxId: string): boolean {
  if (!pod.spec.initContainers?.length) return true;
  return pod.spec.containers.some(({ name }) => newestIn(observed, name, sandboxId) !== undefined);
}

function initContainer(
  pod: DesiredPod,
  container: Container,
  newest: ObservedContainer | undefined,
  initialized: boolean,
): { plan: ContainerPlan; over: boolean } | 'failed' {
  const running = newest?.state === 'running';
  if (running && isChanged(container, newest)) return { plan: stop(pod, container, 'definitionChanged'), over: false };
  if (isSidecar(container)) return { plan: RUN, over: running };
  if (initialized) return { plan: COMPLETED, over: true };
  if (newest?.state !== 'exited') return { plan: RUN, over: false };
  if (succeeded(newest)) return { plan: COMPLETED, over: true };
  return restarts(pod, container, newest) ? { plan: RUN, over: false } : 'failed';
}

function regularContainer(pod: DesiredPod, container: Container, observed: ObservedPod): ContainerPlan {
  const newest = observed.containers.find((c) => c.name === container.name);
  if (!newest || newest.state === 'created' || newest.state === 'unknown') return RUN;
  if (isChanged(container, newest)) return newest.state === 'running' ? stop(pod, container, 'definitionChanged') : RUN;
  if (newest.state === 'running') return RUN;
  return restarts(pod, container, newest) ? RUN : COMPLETED;
}

/** Whether the container that ended is to be followed by another (container/helpers.go:ShouldContainerBeRestarted). */
function restarts(pod: DesiredPod, container: Container, { exitCode, reason }: ObservedContainer): boolean {
  return restartsAfter(container, pod.spec, { exitCode: exitCode ?? UNKNOWN_EXIT_CODE, reason });
}

/** What a container that ended without a record is taken to have ended with. */
const UNKNOWN_EXIT_CODE = 137;

/** Image or name differ from those it was made with; another program's container has no hash to differ. */
function isChanged(container: Container, { hash }: ObservedContainer): boolean {
  return hash !== '' && hash !== containerHash(container);
}

/**
 * Everything stops: regular and init containers together, sidecars after them, the last one first, all within the pod's
 * one grace (kuberuntime_termination_order.go).
 */
function stopAll(pod: DesiredPod, view: PodView): Record<string, ContainerPlan> {
  const { gracePeriodSeconds, startedAt } = view.termination ?? { gracePeriodSeconds: 0, startedAt: view.now };
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).reverse();
  const others = allContainers(pod).filter((c) => !sidecars.includes(c));
  const plan: Record<string, ContainerPlan> = {};
  const stopping = (container: Container): ContainerPlan =>
    lives(view, container.name)
      ? {
          do: 'stop',
          reason: 'podStopping',
          message: `Stopping container ${container.name}`,
          gracePeriodSeconds: remainingGrace(gracePeriodSeconds, startedAt, view.now),
        }
      : POD_STOPPING;
  for (const container of others) plan[container.name] = stopping(container);
  let waits = others.some((c) => lives(view, c.name));
  for (const sidecar of sidecars) {
    plan[sidecar.name] = waits ? POD_STOPPING : stopping(sidecar);
    waits ||= lives(view, sidecar.name);
  }
  return plan;
}

function stop(pod: DesiredPod, { name }: Container, reason: StopReason): ContainerPlan {
  const message =
    reason === 'definitionChanged'
      ? `Container ${name} definition changed, will be restarted`
      : `Stopping container ${name}`;
  return { do: 'stop', reason, message, gracePeriodSeconds: Math.max(2, effectiveGrace({ pod })) };
}

const allContainers = ({ spec }: DesiredPod) => [...(spec.initContainers ?? []), ...spec.containers];
const newestIn = (observed: ObservedPod, name: string, sandboxId: string) =>
  observed.containers.find((c) => c.name === name && c.sandboxId === sandboxId);
const lives = ({ observed }: PodView, name: string) =>
  observed.containers.some((c) => c.name === name && (c.state === 'running' || c.state === 'unknown'));
const isRunning = (observed: ObservedPod) =>
  observed.containers.some((c) => c.state === 'running' || c.state === 'unknown');

function mapContainers(pod: DesiredPod, plan: (container: Container) => ContainerPlan): Record<string, ContainerPlan> {
  return Object.fromEntries(allContainers(pod).map((c) => [c.name, plan(c)]));
}

const every = (pod: DesiredPod, plan: ContainerPlan) => mapContainers(pod, () => plan);
