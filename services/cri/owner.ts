import type { ObservedContainer } from '../../machines/runtime.types.ts';
import { ContainerState } from './proto/generated/cri.ts';

export const POD_UID = 'io.kubernetes.pod.uid';

/** The pod that labels name; `undefined` for what neither this agent nor a kubelet made. */
export function ownerOf(labels: Record<string, string>): { uid: string; name: string; namespace: string } | undefined {
  const uid = labels[POD_UID];
  const name = labels['io.kubernetes.pod.name'];
  const namespace = labels['io.kubernetes.pod.namespace'];
  return uid && name && namespace ? { uid, name, namespace } : undefined;
}

export const CONTAINER_STATES: Record<ContainerState, ObservedContainer['state']> = {
  [ContainerState.CONTAINER_CREATED]: 'created',
  [ContainerState.CONTAINER_RUNNING]: 'running',
  [ContainerState.CONTAINER_EXITED]: 'exited',
  [ContainerState.CONTAINER_UNKNOWN]: 'unknown',
};

/** CRI's nanoseconds as milliseconds. */
export function ms(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n);
}
