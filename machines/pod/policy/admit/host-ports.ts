import type { DesiredPod, PodSpec } from '../../../kubernetes.types.ts';

interface HostPort {
  protocol: string;
  ip: string;
  port: number;
}

const ALL_ADDRESSES = '0.0.0.0';

/**
 * Whether a port of the host that the pod wants is another's: same number and protocol, on the same address or with one of
 * them on all (nodeports/node_ports.go:Fits).
 */
export function portsAreTaken(pod: DesiredPod, others: readonly DesiredPod[]): boolean {
  const wanted = hostPorts(pod.spec);
  if (wanted.length === 0) return false;
  return others.some(({ spec }) => hostPorts(spec).some((theirs) => wanted.some((ours) => clash(ours, theirs))));
}

function clash(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === ALL_ADDRESSES || b.ip === ALL_ADDRESSES;
}

/** Ports of the regular containers and the sidecars; on the host's network every port is the host's. */
function hostPorts({ containers, initContainers = [], hostNetwork }: PodSpec): HostPort[] {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...containers, ...sidecars]
    .flatMap(({ ports }) => ports ?? [])
    .map(({ protocol, hostIP, hostPort, containerPort }) => ({
      protocol: protocol || 'TCP',
      ip: hostIP || ALL_ADDRESSES,
      port: hostPort || (hostNetwork ? containerPort : 0),
    }))
    .filter(({ port }) => port > 0);
}
