import type { ContainerState } from '../proto/generated/cri.ts';
import {
  ContainerState as State,
  ContainerStatus,
  NamespaceMode,
  PodSandboxState,
  PodSandboxStatus,
} from '../proto/generated/cri.ts';
import type { ImageStore } from './images.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';

const STATES: Readonly<Record<ContainerRecord['phase'], ContainerState>> = {
  created: State.CONTAINER_CREATED,
  starting: State.CONTAINER_CREATED,
  running: State.CONTAINER_RUNNING,
  exited: State.CONTAINER_EXITED,
};

export function containerState(record: ContainerRecord): ContainerState {
  return STATES[record.phase];
}

export function sandboxState(record: SandboxRecord): PodSandboxState {
  return record.state === 'ready' ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;
}

/** The image of a container as status and list name it: its first tag, else the reference it was made from. */
export function imageName(images: ImageStore, record: ContainerRecord): string {
  return images.find(record.imageId)?.repoTags[0] ?? record.config.image?.image ?? '';
}

/** A container as ContainerStatus answers it. Its user is the server's: nothing changes users here. */
export function containerStatus(images: ImageStore, record: ContainerRecord): ContainerStatus {
  const { config } = record;
  return ContainerStatus.fromPartial({
    id: record.id,
    metadata: config.metadata,
    state: containerState(record),
    createdAt: record.createdAt,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    exitCode: record.exitCode,
    image: { ...config.image, image: imageName(images, record) },
    imageRef: record.imageRef,
    imageId: record.imageId,
    reason: record.reason,
    message: record.message,
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath: record.logPath,
    resources: { linux: record.resources },
    user: {
      linux: {
        uid: BigInt(process.getuid?.() ?? 0),
        gid: BigInt(process.getgid?.() ?? 0),
        supplementalGroups: (process.getgroups?.() ?? []).map(BigInt),
      },
    },
    stopSignal: config.stopSignal,
  });
}

/** A sandbox as PodSandboxStatus answers it. */
export function sandboxStatus(record: SandboxRecord): PodSandboxStatus {
  const { config } = record;
  return PodSandboxStatus.fromPartial({
    id: record.id,
    metadata: config.metadata,
    state: sandboxState(record),
    createdAt: record.createdAt,
    network: { ip: record.state === 'ready' ? record.ip : '' },
    linux: { namespaces: { options: config.linux?.securityContext?.namespaceOptions ?? {} } },
    labels: config.labels,
    annotations: config.annotations,
    runtimeHandler: record.runtimeHandler,
  });
}

/** Whether a sandbox shares the host's network. */
export function isHostNetwork(config: SandboxRecord['config']): boolean {
  return config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
}

/** Whether labels carry every pair of a selector. */
export function hasLabels(
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
