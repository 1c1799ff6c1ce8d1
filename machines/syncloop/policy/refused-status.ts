import type { Container, ContainerStatus, DesiredPod, PodCondition, PodStatus } from '../../kubernetes.types.ts';
import { rfc3339 } from '../../pod/policy/conditions.ts';
import { qosClass } from '../../pod/policy/qos.ts';
import { QuantityError } from '../../pod/policy/quantity.ts';
import { allContainers } from '../../pod/policy/all-containers.ts';

/** The containers' reason, as where a container's configuration cannot be used (facts/pod-conditions.tsv). */
const REASON = 'CreateContainerConfigError';

/**
 * The status of a pod that asks for what the agent cannot do: it waits, and each container says why. Once it is deleted it
 * is Failed, for nothing of it ever ran.
 *
 * @param now ms since the epoch
 */
export function refusedStatus({ pod, message }: { pod: DesiredPod; message: string }, now: number): PodStatus {
  const { metadata, spec } = pod;
  const { generation } = metadata;
  const deleted = metadata.deletionTimestamp !== undefined;
  const at = rfc3339(now);
  const names = allContainers(spec)
    .map(({ name }) => name)
    .join(' ');
  const condition = (type: string, status: string, reason?: string, text?: string): PodCondition => ({
    type,
    ...(generation && { observedGeneration: generation }),
    status,
    ...(reason && { reason }),
    ...(text && { message: text }),
    lastTransitionTime: at,
  });
  const notReady = deleted
    ? (['PodFailed'] as const)
    : (['ContainersNotReady', `containers with unready status: [${names}]`] as const);
  const waiting = (containers: readonly Container[]): ContainerStatus[] =>
    containers.map(({ name, image }) => ({
      name,
      state: { waiting: { reason: REASON, message } },
      lastState: {},
      ready: false,
      started: false,
      restartCount: 0,
      image: image ?? '',
      imageID: '',
    }));
  return {
    ...(generation && { observedGeneration: generation }),
    phase: deleted ? 'Failed' : 'Pending',
    conditions: [
      condition('PodReadyToStartContainers', 'False'),
      condition('Initialized', spec.initContainers?.length ? 'False' : 'True'),
      condition('Ready', 'False', ...notReady),
      condition('ContainersReady', 'False', ...notReady),
      condition('PodScheduled', 'True'),
    ],
    ...(deleted && { reason: REASON, message }),
    startTime: pod.status?.startTime ?? at,
    ...(spec.initContainers?.length && { initContainerStatuses: waiting(spec.initContainers) }),
    containerStatuses: waiting(spec.containers),
    ...qosOf(pod),
  };
}

/** As the API has it; else none where quantities cannot be read, for which the pod may well be refused. */
function qosOf({ spec, status }: DesiredPod): Pick<PodStatus, 'qosClass'> {
  if (status?.qosClass) return { qosClass: status.qosClass };
  try {
    return { qosClass: qosClass(spec) };
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return {};
  }
}
