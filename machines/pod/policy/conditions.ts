import type { ContainerStatus, DesiredPod, PodCondition } from '../../kubernetes.types.ts';
import { isSidecar, type PodPhase } from './pod-phase.ts';

export interface ConditionsInput {
  pod: DesiredPod;
  phase: PodPhase;
  /** Undefined where nothing is known of any container. */
  initContainerStatuses?: readonly ContainerStatus[];
  containerStatuses?: readonly ContainerStatus[];
  /** A regular container has started in the pod's present sandbox. */
  initialized: boolean;
  /** The newest sandbox can be used as it is. */
  sandboxReady: boolean;
  /** Conditions published before. */
  previous: readonly PodCondition[];
  /** The node takes the pod's place from it: what DisruptionTarget says of that. */
  disruption?: string;
  now: number;
}

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message'>;

const TRUE: Verdict = { status: 'True' };
const OWN_TYPES = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'] as const;

/**
 * The pod's conditions in the kubelet's order, those of other writers first and untouched (status/generate.go,
 * facts/pod-conditions.tsv).
 */
export function podConditions(input: ConditionsInput): PodCondition[] {
  const { pod, previous } = input;
  const containersReady = containersReadyVerdict(input);
  const verdicts: Record<(typeof OWN_TYPES)[number], Verdict> = {
    PodReadyToStartContainers: { status: input.sandboxReady ? 'True' : 'False' },
    Initialized: initializedVerdict(input),
    Ready: readyVerdict(pod, containersReady),
    ContainersReady: containersReady,
    PodScheduled: TRUE,
  };
  const { disruption } = input;
  const own: [string, Verdict][] = [
    ...(disruption === undefined ? [] : [disrupted(disruption)]),
    ...OWN_TYPES.map((type): [string, Verdict] => [type, verdicts[type]]),
  ];
  const foreign = (pod.status?.conditions ?? []).filter(({ type }) => !own.some(([name]) => name === type));
  const known = [...previous, ...(pod.status?.conditions ?? [])];
  const stamped = own.map(([type, verdict]) =>
    stamp(
      type,
      verdict,
      known.find((c) => c.type === type),
      pod.metadata.generation,
      input.now,
    ),
  );
  return [...foreign, ...stamped];
}

function disrupted(message: string): [string, Verdict] {
  return ['DisruptionTarget', { status: 'True', reason: 'TerminationByKubelet', message }];
}

/** The time of the last change of `status`: kept while it is the same, and never before an earlier one (B081). */
function stamp(
  type: string,
  verdict: Verdict,
  old: PodCondition | undefined,
  generation: number | undefined,
  now: number,
): PodCondition {
  const changedAt = rfc3339(now);
  const before = old?.lastTransitionTime;
  const keep = before !== undefined && (old?.status === verdict.status || before > changedAt);
  return {
    type,
    ...(generation && { observedGeneration: Math.max(generation, old?.observedGeneration ?? 0) }),
    status: verdict.status,
    ...(verdict.reason && { reason: verdict.reason }),
    ...(verdict.message && { message: verdict.message }),
    lastTransitionTime: keep ? before : changedAt,
  };
}

/** A time as the API has it: UTC, whole seconds. @param at milliseconds since the epoch */
export function rfc3339(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

function initializedVerdict({ pod, phase, initContainerStatuses, initialized }: ConditionsInput): Verdict {
  const containers = pod.spec.initContainers ?? [];
  if (!initContainerStatuses && containers.length > 0) return { status: 'False', reason: 'UnknownContainerStatuses' };
  const unknown: string[] = [];
  const incomplete: string[] = [];
  for (const container of containers) {
    const status = initContainerStatuses?.find(({ name }) => name === container.name);
    if (!status) unknown.push(container.name);
    else if (!(isSidecar(container) ? status.started : status.ready)) incomplete.push(container.name);
  }
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'True', reason: 'PodCompleted' };
  if (initialized || unknown.length + incomplete.length === 0) return TRUE;
  return { status: 'False', reason: 'ContainersNotInitialized', message: listed(unknown, incomplete, 'incomplete') };
}

function containersReadyVerdict(input: ConditionsInput): Verdict {
  const { pod, phase, initContainerStatuses = [], containerStatuses } = input;
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (!containerStatuses) return { status: 'False', reason: 'UnknownContainerStatuses' };
  const unknown: string[] = [];
  const unready: string[] = [];
  const check = (name: string, statuses: readonly ContainerStatus[]) => {
    const status = statuses.find((s) => s.name === name);
    if (!status) unknown.push(name);
    else if (!status.ready) unready.push(name);
  };
  for (const { name } of (pod.spec.initContainers ?? []).filter(isSidecar)) check(name, initContainerStatuses);
  for (const { name } of pod.spec.containers) check(name, containerStatuses);
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (unknown.length + unready.length === 0) return TRUE;
  return { status: 'False', reason: 'ContainersNotReady', message: listed(unknown, unready, 'unready') };
}

/** Ready: all containers, and every readiness gate's condition as others have set it on the API's object. */
function readyVerdict(pod: DesiredPod, containersReady: Verdict): Verdict {
  if (containersReady.status !== 'True') return containersReady;
  const messages: string[] = [];
  for (const { conditionType } of pod.spec.readinessGates ?? []) {
    const condition = pod.status?.conditions?.find(({ type }) => type === conditionType);
    if (!condition) messages.push(`corresponding condition of pod readiness gate "${conditionType}" does not exist.`);
    else if (condition.status !== 'True')
      messages.push(`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`);
  }
  if (messages.length === 0) return TRUE;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}

function listed(unknown: string[], others: string[], word: string): string {
  const part = (names: string[], status: string) =>
    names.length > 0 ? [`containers with ${status} status: [${names.join(' ')}]`] : [];
  return [...part(unknown, 'unknown'), ...part(others, word)].join(', ');
}
