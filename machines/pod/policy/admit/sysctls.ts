import type { PodSpec } from '../../../kubernetes.types.ts';
import type { NodeView } from './admission.types.ts';

/**
 * Sysctls that every pod may set, for each is the pod's own and bounded in what it costs, with the first kernel that keeps
 * it apart for each pod (sysctl/safe_sysctls.go; kubernetes.io: Linux kernel version requirements).
 */
const SAFE: Readonly<Record<string, readonly [major: number, minor: number] | undefined>> = {
  'kernel.shm_rmid_forced': undefined,
  'net.ipv4.ip_local_port_range': undefined,
  'net.ipv4.tcp_syncookies': undefined,
  'net.ipv4.ping_group_range': undefined,
  'net.ipv4.ip_unprivileged_port_start': undefined,
  'net.ipv4.ip_local_reserved_ports': [3, 16],
  'net.ipv4.tcp_keepalive_time': [4, 5],
  'net.ipv4.tcp_keepalive_intvl': [4, 5],
  'net.ipv4.tcp_keepalive_probes': [4, 5],
  'net.ipv4.tcp_fin_timeout': [4, 6],
  'net.ipv4.tcp_rmem': [4, 15],
  'net.ipv4.tcp_wmem': [4, 15],
};

/** Beginnings of the names that belong to a kernel namespace (component-helpers/node/util/sysctl/namespace.go). */
const NAMESPACES = [
  ['net.', 'net'],
  ['kernel.shm', 'ipc'],
  ['kernel.msg', 'ipc'],
  ['fs.mqueue.', 'ipc'],
] as const;

/**
 * What is wrong with the first sysctl that the pod may not set, undefined where it may set all: one that is neither safe
 * nor allowed here, or one of a namespace that the pod shares with the host (sysctl/allowlist.go:validateSysctl).
 */
export function forbiddenSysctl(
  spec: PodSpec,
  { kernelVersion, allowedUnsafeSysctls }: Pick<NodeView, 'kernelVersion' | 'allowedUnsafeSysctls'>,
): string | undefined {
  const allowed = allowedUnsafeSysctls.map(dotted);
  for (const { name } of spec.securityContext?.sysctls ?? []) {
    const sysctl = dotted(name);
    if (!isSafe(sysctl, kernelVersion) && !allowed.some((pattern) => matches(pattern, sysctl))) {
      return `"${sysctl}" not allowlisted`;
    }
    const namespace = namespaceOf(sysctl);
    if ((namespace === 'net' && spec.hostNetwork) || (namespace === 'ipc' && spec.hostIPC)) {
      return `"${sysctl}" not allowed with host ${namespace} enabled`;
    }
  }
  return undefined;
}

function matches(pattern: string, sysctl: string): boolean {
  return pattern.endsWith('*') ? sysctl.startsWith(pattern.slice(0, -1)) : pattern === sysctl;
}

function namespaceOf(sysctl: string): 'net' | 'ipc' | undefined {
  if (sysctl === 'kernel.sem') return 'ipc';
  return NAMESPACES.find(([prefix]) => sysctl.startsWith(prefix))?.[1];
}

function isSafe(sysctl: string, kernelVersion: string): boolean {
  if (!Object.hasOwn(SAFE, sysctl)) return false;
  const least = SAFE[sysctl];
  if (!least) return true;
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(kernelVersion) ?? [];
  // A kernel that does not say its version has none of those that need one.
  return Number(major) > least[0] || (Number(major) === least[0] && Number(minor) >= least[1]);
}

/** `net/ipv4/conf/eth0.100/…` is the same as `net.ipv4.conf.eth0/100.…`: the first separator says which is meant. */
function dotted(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
