import type { Container, ContainerState, ContainerStatus } from '../../kubernetes.types.ts';
import type { ObservedContainer } from '../../runtime.types.ts';
import { rfc3339 } from './conditions.ts';
import { containerHash } from './container-hash.ts';
import { succeeded } from './exit-success.ts';
import { isSidecar, restartsAfter } from './pod-phase.ts';
import { hasStarted, isReady } from './probe-verdict.ts';
import type { PodStatusInput } from './pod-status-input.ts';

type Terminated = NonNullable<ContainerState['terminated']>;

const UNKNOWN_EXIT_CODE = 137;
const REPLACED = { reason: 'ContainerCreating', message: '' };
const LOST_INIT_MESSAGE =
  'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally';
const LOST_RUNNING_MESSAGE =
  'The container could not be located when the pod was deleted.  The container used to be Running';

export interface ContainerStatusInput extends PodStatusInput {
  init: boolean;
  /** A regular container has started in the pod's present sandbox. */
  initialized: boolean;
  /** Sandbox that the pod's containers run in now; undefined where there is none that is ready. */
  readySandboxId?: string;
}

/**
 * One container's status from its two newest instances, why it waits, and what was published before
 * (kubelet_pods.go:convertToAPIContainerStatuses).
 */
export function containerStatus(
  input: ContainerStatusInput,
  container: Container,
  previous: ContainerStatus | undefined,
): ContainerStatus {
  const [newest, older] = input.observed.containers.filter(({ name }) => name === container.name);
  const known = newest
    ? fromInstances(input, container, newest, older, previous)
    : withoutInstance(input, container, previous);
  const status = whileWaiting(input, container, newest, known);
  const running = status.state?.running !== undefined;
  const completed = status.state?.terminated !== undefined && succeeded(status.state.terminated);
  if (input.init && !isSidecar(container)) return { ...status, ready: completed, started: running };
  if (!running || !newest) return { ...status, ready: false, started: false };
  const verdicts = input.verdicts?.[container.name];
  return {
    ...status,
    ready: isReady(container, newest, verdicts),
    started: hasStarted(container, newest, verdicts),
  };
}

function fromInstances(
  input: ContainerStatusInput,
  container: Container,
  newest: ObservedContainer,
  older: ObservedContainer | undefined,
  previous: ContainerStatus | undefined,
): ContainerStatus {
  const id = `${input.runtimeName}://${newest.id}`;
  const before = previous?.containerID === id ? previous.lastState : lastEndOf(previous);
  const state = stateOf(newest, input.runtimeName);
  const status: ContainerStatus = {
    name: container.name,
    state,
    lastState: older?.state === 'exited' ? stateOf(older, input.runtimeName) : (before ?? {}),
    ready: false,
    restartCount: Math.max(newest.restartCount, previous?.restartCount ?? 0),
    image: newest.hash === containerHash(container) ? (container.image ?? newest.image) : newest.image,
    imageID: newest.imageId,
    containerID: id,
  };
  const { readySandboxId } = input;
  const again = input.init && !input.initialized && !input.terminating && readySandboxId !== undefined;
  if (!again || newest.sandboxId === readySandboxId || newest.state === 'running') return status;
  return { ...status, state: defaultWaiting(input), lastState: state.terminated ? state : status.lastState };
}

/** How the container ended last by what was published: others may have removed the runtime's record of it. */
function lastEndOf(previous: ContainerStatus | undefined): ContainerState | undefined {
  if (previous?.state?.terminated) return previous.state;
  return previous?.state?.waiting && previous.lastState;
}

/** No instance is known: what was published stands where it was an end, else it is waiting, or lost. */
function withoutInstance(
  input: ContainerStatusInput,
  container: Container,
  previous: ContainerStatus | undefined,
): ContainerStatus {
  if (previous?.state?.terminated) return previous;
  const status: ContainerStatus = {
    name: container.name,
    state: defaultWaiting(input),
    lastState: previous?.lastState ?? {},
    ready: false,
    restartCount: previous?.restartCount ?? 0,
    image: container.image ?? '',
    imageID: '',
  };
  if (input.init && !isSidecar(container) && input.initialized) {
    return { ...status, state: { terminated: { exitCode: 0, reason: 'Completed', message: LOST_INIT_MESSAGE } } };
  }
  if (!previous?.state?.running || status.lastState?.terminated) return status;
  const deleted = input.pod.metadata.deletionTimestamp !== undefined;
  return {
    ...status,
    lastState: { terminated: unknownEnd(LOST_RUNNING_MESSAGE) },
    restartCount: status.restartCount + (deleted ? 0 : 1),
  };
}

/**
 * The reason why it waits, shown in place of its end only where it is to run again. Where that is for a changed definition, the
 * end is never shown: one that no restart follows is an end that the API lets nobody take back.
 */
function whileWaiting(
  input: ContainerStatusInput,
  container: Container,
  newest: ObservedContainer | undefined,
  status: ContainerStatus,
): ContainerStatus {
  const isReplaced = newest?.state === 'exited' && input.replaced?.includes(container.name) === true;
  const waiting = input.waiting[container.name] ?? (isReplaced ? REPLACED : undefined);
  if (!waiting || newest?.state === 'running' || input.terminating || input.pod.metadata.deletionTimestamp) {
    return status;
  }
  const ended = status.state?.terminated;
  const completedInit = ended && input.init && !isSidecar(container) && succeeded(ended);
  const endStands = completedInit || (ended !== undefined && !restartsAfter(container, input.pod.spec, ended));
  if (endStands && !isReplaced) return status;
  const { reason, message } = waiting;
  return {
    ...status,
    state: { waiting: { ...(reason && { reason }), ...(message && { message }) } },
    lastState: ended ? { terminated: ended } : status.lastState,
  };
}

function defaultWaiting({ pod }: ContainerStatusInput): ContainerState {
  return { waiting: { reason: pod.spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating' } };
}

/** A container that ended without anybody having seen how. */
export function unknownEnd(message: string): Terminated {
  return { exitCode: UNKNOWN_EXIT_CODE, reason: 'ContainerStatusUnknown', message };
}

function stateOf(instance: ObservedContainer, runtimeName: string): ContainerState {
  const startedAt = instance.startedAt ? { startedAt: rfc3339(instance.startedAt) } : {};
  if (instance.state === 'running') return { running: startedAt };
  if (instance.state !== 'exited') return { waiting: {} };
  const exitCode = instance.exitCode ?? UNKNOWN_EXIT_CODE;
  return {
    terminated: {
      exitCode,
      reason: exitReason(exitCode, instance.reason),
      ...(instance.message && { message: instance.message }),
      ...startedAt,
      ...(instance.finishedAt && { finishedAt: rfc3339(instance.finishedAt) }),
      containerID: `${runtimeName}://${instance.id}`,
    },
  };
}

/** The runtime's own reason, save that exit code 0 is never an Error (B086) and none is ever empty. */
function exitReason(exitCode: number, reason: string | undefined): string {
  if (exitCode === 0) return !reason || reason === 'Error' ? 'Completed' : reason;
  return !reason || reason === 'Completed' ? 'Error' : reason;
}
