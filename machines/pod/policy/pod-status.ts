import type { ContainerStatus, PodStatus } from '../../kubernetes.types.ts';
import { podConditions, rfc3339 } from './conditions.ts';
import { containerStatus, unknownEnd, type ContainerStatusInput } from './container-status.ts';
import { isStaticPod } from './names.ts';
import { podIPs, readySandbox } from './pod-ips.ts';
import { podPhase, type PodPhase } from './pod-phase.ts';
import type { PodStatusInput } from './pod-status-input.ts';
import { qosClass } from './qos.ts';

const TERMINATED_MESSAGE = 'The container could not be located when the pod was terminated';

/**
 * The pod's status as the API shows it (kubelet_pods.go:generateAPIPodStatus and status/status_manager.go:
 * mergePodStatus, TerminatePod). A terminal phase is shown only once no container can run, and never changes.
 */
export function podStatus(input: PodStatusInput): PodStatus {
  const { pod, previous, released, failed } = input;
  // Over before anything of it began; that it was not taken in may have been said by an earlier agent.
  const refused =
    (failed ?? isTerminal(previous?.phase)) && input.observed.containers.length === 0 && !previous?.containerStatuses;
  const initialized = hasInitialized(input);
  const ended = input.terminating && released;
  const statuses = refused ? { init: [], regular: [] } : containerStatuses(input, initialized, ended);
  const computed = ended && failed ? 'Failed' : phaseOf(input, statuses, initialized, ended);
  const published = publish(input, computed);
  const sandbox = readySandbox(pod, input.observed);
  const generation = Math.max(pod.metadata.generation ?? 0, previous?.observedGeneration ?? 0);
  return {
    ...(generation > 0 && { observedGeneration: generation }),
    phase: published.phase,
    conditions: podConditions({
      pod,
      phase: isTerminal(published.phase) ? published.phase : computed,
      initContainerStatuses: refused ? undefined : statuses.init,
      containerStatuses: refused ? undefined : statuses.regular,
      initialized,
      sandboxReady: sandbox !== undefined,
      previous: previous?.conditions ?? [],
      disruption: failed?.disruption,
      now: input.now,
    }),
    ...(published.message && { message: published.message }),
    ...(published.reason && { reason: published.reason }),
    ...podIPs(input),
    startTime: previous?.startTime ?? pod.status?.startTime ?? rfc3339(firstSeen(input)),
    ...(statuses.init.length > 0 && { initContainerStatuses: statuses.init }),
    ...(statuses.regular.length > 0 && { containerStatuses: statuses.regular }),
    qosClass: previous?.qosClass ?? qosClass(pod.spec),
  };
}

interface Statuses {
  init: ContainerStatus[];
  regular: ContainerStatus[];
}

function containerStatuses(input: PodStatusInput, initialized: boolean, ended: boolean): Statuses {
  const { pod, observed } = input;
  const newest = observed.sandboxes[0];
  const shared = { ...input, initialized, readySandboxId: newest?.state === 'ready' ? newest.id : undefined };
  const before = [input.previous, pod.status];
  const find = (list: 'initContainerStatuses' | 'containerStatuses', name: string) =>
    lastKnown(before.flatMap((status) => status?.[list] ?? []).filter((status) => status.name === name));
  const make = (context: ContainerStatusInput, list: 'initContainerStatuses' | 'containerStatuses') =>
    (context.init ? (pod.spec.initContainers ?? []) : pod.spec.containers).map((container) =>
      containerStatus(context, container, find(list, container.name)),
    );
  const init = make({ ...shared, init: true }, 'initContainerStatuses');
  const regular = make({ ...shared, init: false }, 'containerStatuses');
  if (!ended) return { init, regular };
  const reached = init.findLastIndex(hasStarted);
  const everInitialized = initialized || init.length === 0 || regular.some(hasStarted) || (init.at(-1)?.ready ?? false);
  return {
    init: init.map((status, index) => (index <= reached || everInitialized ? finalStatus(status) : status)),
    regular: everInitialized ? regular.map(finalStatus) : regular,
  };
}

/**
 * What was published last of a container. What the API had may be heard only after a status was made without it: then it
 * alone knows that the container has run.
 */
function lastKnown(statuses: readonly ContainerStatus[]): ContainerStatus | undefined {
  const last = statuses.find(hasStarted) ?? statuses[0];
  return last && { ...last, restartCount: Math.max(...statuses.map(({ restartCount }) => restartCount)) };
}

/** A pod that ended leaves no container but ended; how, is what is known of it, else unknown (B078). */
function finalStatus(status: ContainerStatus): ContainerStatus {
  if (status.state?.terminated) return status;
  const terminated = status.lastState?.terminated ?? unknownEnd(TERMINATED_MESSAGE);
  return { ...status, state: { terminated }, ready: false, started: false };
}

function hasStarted(status: ContainerStatus): boolean {
  return Boolean(status.state?.running ?? status.state?.terminated ?? status.lastState?.terminated);
}

/** A regular container has started in the newest sandbox, which proves that init is over there (B033, B036). */
function hasInitialized({ pod, observed }: PodStatusInput): boolean {
  const sandboxId = observed.sandboxes[0]?.id;
  const regular = new Set(pod.spec.containers.map(({ name }) => name));
  return observed.containers.some(
    (c) =>
      regular.has(c.name) &&
      (sandboxId === undefined || c.sandboxId === sandboxId) &&
      (c.state === 'running' || c.state === 'exited'),
  );
}

function phaseOf(input: PodStatusInput, statuses: Statuses, initialized: boolean, ended: boolean): PodPhase {
  const { pod, over = false } = input;
  // A static pod that is made to end keeps its phase; one that will never run again does not wait.
  const mayBeForced = ended && (over || !isStaticPod(pod));
  const phase = podPhase({
    spec: pod.spec,
    initContainerStatuses: statuses.init,
    containerStatuses: statuses.regular,
    replaced: input.replaced,
    initialized,
    ended: mayBeForced,
  });
  return mayBeForced && !isTerminal(phase) ? 'Failed' : phase;
}

function isTerminal(phase: string | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** The phase to show with its reason: terminal stays (B077), and comes only when nothing can run (B019). */
function publish(
  input: PodStatusInput,
  computed: PodPhase,
): Pick<PodStatus, 'reason' | 'message'> & { phase: PodPhase } {
  const { pod, previous, failed, released } = input;
  const old = [previous, pod.status].find((status) => isTerminal(status?.phase)) ?? previous ?? pod.status;
  const oldPhase = (old?.phase ?? 'Pending') as PodPhase;
  const phase = isTerminal(oldPhase) || (isTerminal(computed) && !released) ? oldPhase : computed;
  if (phase === oldPhase) return { phase, reason: old?.reason, message: old?.message };
  return phase === 'Failed' && failed ? { phase, reason: failed.reason, message: failed.message } : { phase };
}

/**
 * When the pod began, ms, where no status tells: its oldest sandbox outlives the agent, so that a deadline does not start
 * anew with a restart.
 */
function firstSeen({ observed, now }: PodStatusInput): number {
  return Math.min(now, ...observed.sandboxes.map((s) => s.createdAt));
}
