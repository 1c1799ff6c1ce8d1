import type { Container, ContainerStatus, DesiredPod, PodStatus } from '../../kubernetes.types.ts';
import { restartsAfter } from '../../pod/policy/pod-phase.ts';

/**
 * The statuses of the pod's containers that the API is to have: those that the agent has made, save where one would take
 * back an end that the API knows (status/status_manager.go:checkContainerStateTransition).
 */
export function mergeContainers(
  pod: DesiredPod,
  api: PodStatus | undefined,
  wanted: PodStatus,
): Pick<PodStatus, 'initContainerStatuses' | 'containerStatuses'> {
  const merged = (list: 'initContainerStatuses' | 'containerStatuses', specs: readonly Container[] = []) => {
    const statuses = wanted[list]?.map((status) => mergeContainer(pod, specs, find(api?.[list], status.name), status));
    return statuses && { [list]: statuses };
  };
  return {
    ...merged('initContainerStatuses', pod.spec.initContainers),
    ...merged('containerStatuses', pod.spec.containers),
  };
}

const find = <T extends { name: string }>(list: readonly T[] | undefined, name: string) =>
  list?.find((item) => item.name === name);

/** An end that is known stays: nothing that never runs again comes back, and no end becomes an unknown one (B078). */
function mergeContainer(
  pod: DesiredPod,
  specs: readonly Container[],
  api: ContainerStatus | undefined,
  wanted: ContainerStatus,
): ContainerStatus {
  const ended = api?.state?.terminated;
  const spec = find(specs, wanted.name);
  if (!api || !ended || !spec) return wanted;
  const end = wanted.state?.terminated;
  if (end) return end.reason === 'ContainerStatusUnknown' && !isOtherInstance(api, wanted) ? api : wanted;
  // An init container that was over runs again in a new sandbox: of a pod that always restarts the API takes that.
  const always = (pod.spec.restartPolicy ?? 'Always') === 'Always';
  const mayRunAgain =
    restartsAfter(spec, pod.spec, ended) || (always && find(pod.spec.initContainers, wanted.name) !== undefined);
  return mayRunAgain ? wanted : api;
}

/** A container runs of which the API tells an end that it lets nobody take back. */
export function runsPastItsEnd(pod: DesiredPod, api: PodStatus | undefined, wanted: PodStatus): boolean {
  const merged = mergeContainers(pod, api, wanted);
  return (['initContainerStatuses', 'containerStatuses'] as const).some((list) =>
    wanted[list]?.some(({ name, state }) => state?.running && find(merged[list], name)?.state?.terminated),
  );
}

const isOtherInstance = (api: ContainerStatus, wanted: ContainerStatus) =>
  wanted.restartCount > api.restartCount ||
  (wanted.containerID !== undefined && wanted.containerID !== '' && wanted.containerID !== api.containerID);
