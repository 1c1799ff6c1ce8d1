import type { DesiredPod, PodStatus } from '../../kubernetes.types.ts';
import type { ObservedPod, ObservedSandbox } from '../../runtime.types.ts';
import type { PodStatusInput } from './pod-status-input.ts';

/** The sandbox that the pod can go on with, or undefined where one must be made (util.go:PodSandboxChanged). */
export function readySandbox(pod: DesiredPod, observed: ObservedPod): ObservedSandbox | undefined {
  const [newest] = observed.sandboxes;
  const host = pod.spec.hostNetwork === true;
  if (newest?.state !== 'ready') return undefined;
  if (observed.sandboxes.filter(({ state }) => state === 'ready').length > 1) return undefined;
  if (newest.network !== (host ? 'node' : 'pod')) return undefined;
  return host || newest.ips.length > 0 ? newest : undefined;
}

/**
 * The host's and the pod's addresses. A pod without a ready sandbox keeps those it had (pleg/generic.go:getPodIPs); at
 * most one of each family is shown, the node's primary family first (kubelet_pods.go:sortPodIPs).
 */
export function podIPs(input: PodStatusInput): Pick<PodStatus, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'> {
  const { pod, observed, hostIPs, previous } = input;
  const [hostIP] = hostIPs;
  const ready = observed.sandboxes.find(({ state }) => state === 'ready');
  const before = (previous?.podIPs ?? pod.status?.podIPs ?? []).map(({ ip }) => ip);
  const sandboxed = ready ? ready.ips : before;
  const ips = pod.spec.hostNetwork ? (ready || before.length > 0 ? hostIPs : []) : sortedIPs(sandboxed, hostIP);
  return {
    ...(hostIP && { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })) }),
    ...(ips[0] && { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
  };
}

/** At most one address of each family, that of the node's primary one first. */
export function sortedIPs(ips: readonly string[], hostIP: string | undefined): string[] {
  const families = [ips.find((ip) => !isV6(ip)), ips.find(isV6)];
  if (hostIP !== undefined && isV6(hostIP)) families.reverse();
  return families.filter((ip) => ip !== undefined);
}

function isV6(ip: string): boolean {
  return ip.includes(':');
}
