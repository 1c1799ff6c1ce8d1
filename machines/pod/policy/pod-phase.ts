import type { Container, ContainerState, ContainerStatus, PodSpec } from '../../kubernetes.types.ts';
import { succeeded } from './exit-success.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';
type Terminated = NonNullable<ContainerState['terminated']>;

export interface PodPhaseInput {
  spec: PodSpec;
  initContainerStatuses: readonly ContainerStatus[];
  containerStatuses: readonly ContainerStatus[];
  /** Containers that are run again because their definition changed or a probe failed, however they ended. */
  replaced?: readonly string[];
  /** A regular container has started in the pod's present sandbox: the init containers are over. */
  initialized: boolean;
  /** The pod was told to end and none of its containers can run again; never true for static pods. */
  ended: boolean;
}

/** Whether the container is a sidecar: an init container that is restarted for as long as the pod runs. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Whether a container that ended like this is to be run again (pkg/api/v1/pod/util.go:ContainerShouldRestart). */
export function restartsAfter(container: Container, spec: PodSpec, ended: Terminated): boolean {
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && !succeeded(ended));
}

/** The pod's phase as its containers' statuses give it (kubelet_pods.go:getPhase). */
export function podPhase(input: PodPhaseInput): PodPhase {
  const { spec, initialized } = input;
  const init = countInit(input);
  if (init.failed) return 'Failed';
  const counts = countRunning(input);
  if (!initialized && (init.pending || counts.pendingSidecars > 0)) return 'Pending';
  if (counts.waiting > 0) return 'Pending';
  if (counts.running > 0 && counts.unknown === 0) return 'Running';
  if (counts.running > 0 || counts.unknown > 0 || counts.ends.length === 0) return 'Pending';
  const allSucceeded = counts.ends.every(({ end, waiting }) => !waiting && succeeded(end));
  if (input.ended) return allSucceeded ? 'Succeeded' : 'Failed';
  const isFollowed = ({ container, end }: { container: Container; end: Terminated }) =>
    input.replaced?.includes(container.name) || restartsAfter(container, spec, end);
  if (counts.ends.some(isFollowed)) return 'Running';
  return allSucceeded ? 'Succeeded' : 'Failed';
}

function countInit({ spec, initContainerStatuses }: PodPhaseInput): { pending: boolean; failed: boolean } {
  let pending = false;
  let failed = false;
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) continue;
    const status = initContainerStatuses.find(({ name }) => name === container.name);
    const end = status?.state?.terminated ?? (status?.state?.waiting && status.lastState?.terminated);
    if (end && !succeeded(end) && !restartsAfter(container, spec, end)) failed = true;
    if (!status?.state?.terminated || !succeeded(status.state.terminated)) pending = true;
  }
  return { pending, failed };
}

interface Counts {
  running: number;
  waiting: number;
  unknown: number;
  pendingSidecars: number;
  ends: { container: Container; end: Terminated; waiting: boolean }[];
}

/** Sidecars count while they run or come up; how they ended never counts. */
function countRunning({ spec, initContainerStatuses, containerStatuses }: PodPhaseInput): Counts {
  const counts: Counts = { running: 0, waiting: 0, unknown: 0, pendingSidecars: 0, ends: [] };
  for (const container of (spec.initContainers ?? []).filter(isSidecar)) {
    const status = initContainerStatuses.find(({ name }) => name === container.name);
    if (!status?.state) counts.unknown++;
    else if (status.state.running) {
      counts.running++;
      if (!status.started) counts.pendingSidecars++;
    } else if (status.state.waiting && !status.lastState?.terminated) {
      counts.pendingSidecars++;
      counts.waiting++;
    }
  }
  for (const container of spec.containers) {
    const status = containerStatuses.find(({ name }) => name === container.name);
    const end = status?.state?.terminated ?? status?.lastState?.terminated;
    if (!status?.state) counts.unknown++;
    else if (status.state.running) counts.running++;
    else if (end) counts.ends.push({ container, end, waiting: !status.state.terminated });
    else if (status.state.waiting) counts.waiting++;
    else counts.unknown++;
  }
  return counts;
}
