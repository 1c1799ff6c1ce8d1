import type { Container, DesiredPod } from '../../kubernetes.types.ts';
import type { ObservedContainer, ObservedPod } from '../../runtime.types.ts';
import type { ContainerPlan, PodEndFact, StopReason } from '../container.types.ts';
import { effectiveGrace, MINIMUM_STOP_SECONDS, remainingGrace } from './grace.ts';
import { isSidecar } from './pod-phase.ts';
import { allContainers } from './all-containers.ts';
import { givesWayFor } from './restart.ts';

const POD_STOPPING: ContainerPlan = { do: 'hold', reason: 'podStopping' };

/** The end of a pod: its grace in seconds, and when that began, ms of the process's own time. */
export interface PodEnd extends PodEndFact {
  gracePeriodSeconds: number;
  startedAt: number;
}

/** Of the end of a pod, what an agent that is started meanwhile cannot see: as the `podEnd` of a stop, or nothing. */
export function podEndOf({ removed, failed }: PodEndFact): { podEnd?: PodEndFact } {
  if (!removed && !failed) return {};
  return { podEnd: { ...(removed && { removed }), ...(failed && { failed }) } };
}

/** Running, or in a state in which the runtime cannot say that it is not. */
export function isLive({ state }: ObservedContainer): boolean {
  return state === 'running' || state === 'unknown';
}

/** One container stops while the pod goes on; a failed probe may bring a grace of its own (kuberuntime_manager.go:computePodActions, Killing in events.tsv). */
export function stopContainer(pod: DesiredPod, container: Container, reason: StopReason): ContainerPlan {
  const isInit = pod.spec.initContainers?.some(({ name }) => name === container.name);
  const what = STOP_MESSAGES[reason];
  const again = givesWayFor(reason, container, pod.spec) ? ', will be restarted' : '';
  const name = `ontainer ${container.name}`;
  const message = !what ? `Stopping c${name}` : isInit ? `Init c${name} ${what}` : `C${name} ${what}${again}`;
  const own =
    (reason === 'startupFailed' ? container.startupProbe : undefined) ??
    (reason === 'livenessFailed' ? container.livenessProbe : undefined);
  const grace = own?.terminationGracePeriodSeconds ?? effectiveGrace({ pod });
  return { do: 'stop', reason, message, gracePeriodSeconds: Math.max(MINIMUM_STOP_SECONDS, grace) };
}

/** What the Killing event says of a container whose pod goes on. */
const STOP_MESSAGES: Partial<Record<StopReason, string>> = {
  definitionChanged: 'definition changed',
  startupFailed: 'failed startup probe',
  livenessFailed: 'failed liveness probe',
};

/**
 * Everything stops within the pod's one grace: regular and init containers together, sidecars after them, the last one
 * first. Once the grace is over no sidecar waits for its turn any longer (kuberuntime_termination_order.go:waitForTurn).
 */
export function stopAll(
  pod: DesiredPod,
  observed: ObservedPod,
  end: PodEnd,
  now: number,
): Record<string, ContainerPlan> {
  const { gracePeriodSeconds, startedAt } = end;
  const all = allContainers(pod.spec);
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).reverse();
  const lives = ({ name }: Container) => observed.containers.some((c) => c.name === name && isLive(c));
  const stopping = (container: Container): ContainerPlan => ({
    do: 'stop',
    reason: 'podStopping',
    message: `Stopping container ${container.name}`,
    gracePeriodSeconds: remainingGrace(gracePeriodSeconds, startedAt, now),
    ...podEndOf(end),
  });
  const mayWait = now < startedAt + gracePeriodSeconds * 1000;
  const plan = Object.fromEntries(all.map((c) => [c.name, lives(c) ? stopping(c) : POD_STOPPING]));
  let waits = mayWait && all.some((c) => !sidecars.includes(c) && lives(c));
  for (const sidecar of sidecars) {
    if (waits) plan[sidecar.name] = POD_STOPPING;
    waits ||= mayWait && lives(sidecar);
  }
  return plan;
}
