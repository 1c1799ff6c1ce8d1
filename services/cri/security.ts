import { AgentError } from '../../machines/agent-error.types.ts';
import type { Container, DesiredPod, PodSecurityContext, SecurityContext } from '../../machines/kubernetes.types.ts';
import {
  LinuxContainerSecurityContext,
  LinuxSandboxSecurityContext,
  NamespaceMode,
  NamespaceOption,
  SecurityProfile_ProfileType as ProfileType,
  SupplementalGroupsPolicy,
} from './proto/generated/cri.ts';
import type { Image, Int64Value, SecurityProfile } from './proto/generated/cri.ts';
import { allContainers } from '../../machines/pod/policy/all-containers.ts';

/** Paths hidden from containers, as the kubelet asks for (pkg/securitycontext/util.go; kept with moby's list). */
const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

export interface SecuritySettings {
  /** seccompDefault: RuntimeDefault instead of Unconfined where a pod says nothing. */
  seccompDefault: boolean;
  /** Where Localhost profiles are: `<rootDir>/seccomp`. */
  seccompDir: string;
}

const int64 = (value: number | undefined): Int64Value | undefined =>
  value === undefined ? undefined : { value: BigInt(value) };

/** JSON may say null for a field that is not given. */
function given<T extends object>(context: T | null | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(context ?? {}).filter(([, value]) => value !== null)) as Partial<T>;
}

const podSecurity = (pod: DesiredPod): PodSecurityContext => given(pod.spec.securityContext);

/** The pod's and the container's security context as one; what the container says wins (securitycontext/util.go). */
function effective(pod: DesiredPod, container: Container): SecurityContext {
  const { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions, seccompProfile } = podSecurity(pod);
  const shared = { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions, seccompProfile };
  return { ...shared, ...given(container.securityContext) };
}

/** Which namespaces are the node's, the pod's or the container's own (kuberuntime/util/util.go:NamespacesForPod). */
function namespaces(pod: DesiredPod): NamespaceOption {
  const { hostNetwork, hostPID, hostIPC } = pod.spec;
  return NamespaceOption.fromPartial({
    network: hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: hostPID ? NamespaceMode.NODE : NamespaceMode.CONTAINER,
    ipc: hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
  });
}

function groups(pod: DesiredPod) {
  const { fsGroup, supplementalGroups, supplementalGroupsPolicy } = podSecurity(pod);
  return {
    supplementalGroups: [...(fsGroup === undefined ? [] : [fsGroup]), ...(supplementalGroups ?? [])].map(BigInt),
    supplementalGroupsPolicy:
      supplementalGroupsPolicy === 'Strict' ? SupplementalGroupsPolicy.Strict : SupplementalGroupsPolicy.Merge,
  };
}

/** Security of a sandbox: always the runtime's own seccomp profile (kuberuntime_sandbox.go:generatePodSandboxLinuxConfig). */
export function sandboxSecurityContext(pod: DesiredPod): LinuxSandboxSecurityContext {
  const { runAsUser, runAsGroup, seLinuxOptions } = podSecurity(pod);
  const all = allContainers(pod.spec);
  return LinuxSandboxSecurityContext.fromPartial({
    namespaceOptions: namespaces(pod),
    selinuxOptions: seLinuxOptions ? { ...seLinuxOptions } : undefined,
    runAsUser: int64(runAsUser),
    // A runtime refuses a group without a user.
    runAsGroup: runAsUser === undefined ? undefined : int64(runAsGroup),
    ...groups(pod),
    privileged: all.some(({ securityContext }) => securityContext?.privileged === true),
    seccomp: { profileType: ProfileType.RuntimeDefault },
  });
}

/** Whether the image's own user must be known before the container can be created. */
export function needsImageUser(pod: DesiredPod, container: Container): boolean {
  const { runAsUser, runAsGroup, runAsNonRoot } = effective(pod, container);
  return runAsUser === undefined && (runAsNonRoot === true || runAsGroup !== undefined);
}

/**
 * Security of a container (kuberuntime/security_context.go:determineEffectiveSecurityContext). Where neither pod nor
 * container names a user the runtime takes the image's.
 *
 * @param image its status, where `needsImageUser` says so
 * @throws AgentError `CreateContainerConfigError` where runAsNonRoot cannot be kept
 */
export function containerSecurityContext(
  pod: DesiredPod,
  container: Container,
  image: Image | undefined,
  settings: SecuritySettings,
): LinuxContainerSecurityContext {
  const security = effective(pod, container);
  verifyNonRoot(pod, container, security, image);
  const { runAsUser, runAsGroup, capabilities, procMount } = security;
  const imageUser = needsImageUser(pod, container) ? userOf(image) : {};
  const uid = runAsUser ?? imageUser.uid;
  return LinuxContainerSecurityContext.fromPartial({
    capabilities: capabilities
      ? { addCapabilities: capabilities.add ?? [], dropCapabilities: capabilities.drop ?? [] }
      : undefined,
    privileged: security.privileged === true,
    namespaceOptions: namespaces(pod),
    selinuxOptions: security.seLinuxOptions ? { ...security.seLinuxOptions } : undefined,
    runAsUser: int64(uid),
    runAsUsername: imageUser.username ?? '',
    runAsGroup: int64(runAsGroup),
    readonlyRootfs: security.readOnlyRootFilesystem === true,
    ...groups(pod),
    noNewPrivs: security.allowPrivilegeEscalation === false,
    maskedPaths: procMount === 'Unmasked' ? [] : MASKED_PATHS,
    readonlyPaths: procMount === 'Unmasked' ? [] : READONLY_PATHS,
    seccomp: seccomp(security, settings),
  });
}

function userOf(image: Image | undefined): { uid?: number; username?: string } {
  if (image?.uid) return { uid: Number(image.uid.value) };
  return image?.username ? { username: image.username } : { uid: 0 };
}

/** kuberuntime/security_context_others.go:verifyRunAsNonRoot, with its texts. */
function verifyNonRoot(
  pod: DesiredPod,
  container: Container,
  { runAsNonRoot, runAsUser }: SecurityContext,
  image: Image | undefined,
): void {
  if (runAsNonRoot !== true) return;
  const { name, namespace, uid } = pod.metadata;
  const where = `(pod: "${name}_${namespace}(${uid})", container: ${container.name})`;
  const refuse = (message: string) => {
    const reason = 'CreateContainerConfigError';
    return new AgentError({ op: 'CreateContainer', reason, message: `${message} ${where}`, transient: false });
  };
  if (runAsUser !== undefined) {
    if (runAsUser === 0) throw refuse("container's runAsUser breaks non-root policy");
    return;
  }
  const user = userOf(image);
  if (user.uid === 0) throw refuse('container has runAsNonRoot and image will run as root');
  if (user.username !== undefined)
    throw refuse(
      `container has runAsNonRoot and image has non-numeric user (${user.username}), cannot verify user is non-root`,
    );
}

/** kuberuntime/helpers.go:getSeccompProfile. */
function seccomp({ seccompProfile: asked }: SecurityContext, settings: SecuritySettings): SecurityProfile {
  const unsaid = settings.seccompDefault ? 'RuntimeDefault' : 'Unconfined';
  const type = asked?.type ?? unsaid;
  if (type === 'Localhost')
    return { profileType: ProfileType.Localhost, localhostRef: `${settings.seccompDir}/${asked?.localhostProfile}` };
  const profileType = type === 'RuntimeDefault' ? ProfileType.RuntimeDefault : ProfileType.Unconfined;
  return { profileType, localhostRef: '' };
}
