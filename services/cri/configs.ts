import type { Container, DesiredPod } from '../../machines/kubernetes.types.ts';
import { expandCommand, type EnvironmentVariable } from '../../machines/pod/policy/expand.ts';
import {
  containerAnnotations,
  containerLabels,
  containerLogPath,
  hostname,
  sandboxAnnotations,
  sandboxLabels,
} from '../../machines/pod/policy/names.ts';
import { oomScoreAdj } from '../../machines/pod/policy/qos.ts';
import {
  effectiveLimit,
  effectiveRequest,
  linuxResources,
  quotaOf,
  sharesOf,
} from '../../machines/pod/policy/resources.ts';
import type { HostMount } from '../host/host.types.ts';
import { ContainerConfig, MountPropagation, PodSandboxConfig, Protocol } from './proto/generated/cri.ts';
import type { DNSConfig, Image, LinuxContainerResources, Mount, PortMapping } from './proto/generated/cri.ts';
import { containerSecurityContext, sandboxSecurityContext } from './security.ts';
import type { SecuritySettings } from './security.ts';
import type { DeepPartial } from './proto/generated/cri.ts';

export interface ConfigSettings extends SecuritySettings {
  cpuCFSQuota: boolean;
  /** Microseconds. */
  cpuCFSQuotaPeriodUs: number;
  /** The node's memory, bytes. */
  memoryCapacityBytes: number;
  /** cgroup v2 without singleProcessOOMKill: running out of memory ends every process of the container. */
  memoryOomGroup: boolean;
}

export interface SandboxPlace {
  attempt: number;
  /** Undefined where cgroupsPerQOS is off. */
  cgroupParent: string | undefined;
  logDirectory: string;
  dns: DNSConfig;
}

/**
 * A pod's sandbox (kuberuntime_sandbox.go:generatePodSandboxConfig). Made again from the same pod and attempt it is the
 * same, as CreateContainer needs it.
 *
 * @throws QuantityError from the pod's resources
 */
export function podSandboxConfig(pod: DesiredPod, place: SandboxPlace, settings: ConfigSettings): PodSandboxConfig {
  const { name, namespace, uid } = pod.metadata;
  return PodSandboxConfig.fromPartial({
    metadata: { name, namespace, uid, attempt: place.attempt },
    hostname: pod.spec.hostNetwork ? '' : hostname(pod),
    logDirectory: place.logDirectory,
    dnsConfig: place.dns,
    portMappings: portMappings(pod),
    labels: sandboxLabels(pod),
    annotations: sandboxAnnotations(pod),
    linux: {
      cgroupParent: place.cgroupParent ?? '',
      securityContext: sandboxSecurityContext(pod),
      sysctls: Object.fromEntries((pod.spec.securityContext?.sysctls ?? []).map((s) => [s.name, s.value])),
      resources: sandboxResources(pod, settings),
    },
  });
}

/** What all containers use together; for runtimes that size a virtual machine by it. */
function sandboxResources({ spec }: DesiredPod, settings: ConfigSettings): DeepPartial<LinuxContainerResources> {
  const cpuPeriod = BigInt(settings.cpuCFSQuotaPeriodUs);
  return {
    cpuPeriod,
    cpuQuota: settings.cpuCFSQuota ? quotaOf(effectiveLimit(spec, 'cpu'), cpuPeriod) : -1n,
    cpuShares: sharesOf(effectiveRequest(spec, 'cpu')),
    memoryLimitInBytes: effectiveLimit(spec, 'memory'),
  };
}

const PROTOCOLS: Record<string, Protocol> = { TCP: Protocol.TCP, UDP: Protocol.UDP, SCTP: Protocol.SCTP };

/** Ports of regular containers and sidecars, in spec order (container/helpers.go:MakePortMappings). */
function portMappings({ spec }: DesiredPod): PortMapping[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...spec.containers, ...sidecars].flatMap(({ ports }) =>
    (ports ?? []).map((port) => ({
      protocol: PROTOCOLS[port.protocol ?? 'TCP'] ?? Protocol.TCP,
      containerPort: port.containerPort,
      hostPort: port.hostPort ?? 0,
      hostIp: port.hostIP ?? '',
    })),
  );
}

export interface ContainerPlace {
  attempt: number;
  /** What the runtime calls the pulled image. */
  imageRef: string;
  /** The image's status, where `needsImageUser` asks for it. */
  image: Image | undefined;
  mounts: HostMount[];
  environment: readonly EnvironmentVariable[];
}

/**
 * One container (kuberuntime_container.go:generateContainerConfig).
 *
 * @throws AgentError `CreateContainerConfigError`
 * @throws QuantityError from the container's resources
 */
export function containerConfig(
  pod: DesiredPod,
  container: Container,
  place: ContainerPlace,
  settings: ConfigSettings,
): ContainerConfig {
  const { environment } = place;
  const adjust = oomScoreAdj(pod, container, settings.memoryCapacityBytes);
  return ContainerConfig.fromPartial({
    metadata: { name: container.name, attempt: place.attempt },
    image: { image: place.imageRef, userSpecifiedImage: container.image ?? '' },
    ...expandCommand(container, environment),
    workingDir: container.workingDir ?? '',
    envs: environment.map(({ name, value }) => ({ key: name, value: Buffer.from(value) })),
    mounts: place.mounts.map(criMount),
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, place.attempt),
    logPath: containerLogPath(container, place.attempt),
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    linux: {
      resources: {
        ...linuxResources(container, { ...settings, oomScoreAdj: adjust }),
        unified: settings.memoryOomGroup ? { 'memory.oom.group': '1' } : {},
      },
      securityContext: containerSecurityContext(pod, container, place.image, settings),
    },
  });
}

const PROPAGATION: Record<HostMount['propagation'], MountPropagation> = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
};

function criMount(mount: HostMount): DeepPartial<Mount> {
  return {
    containerPath: mount.containerPath,
    hostPath: mount.hostPath,
    readonly: mount.readOnly,
    recursiveReadOnly: mount.recursiveReadOnly,
    propagation: PROPAGATION[mount.propagation],
  };
}
