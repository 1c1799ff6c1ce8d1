import type { NodeAddress } from '../../kubernetes.types.ts';
import type { NodeSettings } from '../node.types.ts';

/**
 * The node's addresses (nodestatus/setters.go:NodeAddress): one InternalIP an address, then the Hostname. With an external
 * cloud provider they are that provider's word once it has spoken; before, only addresses that were given are told.
 *
 * @param nodeIPs primary first
 */
export function nodeAddresses(
  nodeIPs: readonly string[],
  { hostname, cloudProvider, nodeIPs: given }: Pick<NodeSettings, 'hostname' | 'cloudProvider' | 'nodeIPs'>,
  existing: NodeAddress[] = [],
): NodeAddress[] {
  const isExternal = cloudProvider === 'external';
  if (isExternal && existing.length > 0) return existing;
  const internal = isExternal && !isSpecified(given) ? [] : nodeIPs;
  return [...internal.map((address) => ({ type: 'InternalIP', address })), { type: 'Hostname', address: hostname }];
}

/** Value of alpha.kubernetes.io/provided-node-ip: what an external cloud provider is to confirm; undefined: not told. */
export function providedNodeIP({
  cloudProvider,
  nodeIPs,
}: Pick<NodeSettings, 'cloudProvider' | 'nodeIPs'>): string | undefined {
  return cloudProvider === 'external' && nodeIPs.length > 0 ? nodeIPs.join(',') : undefined;
}

/** `0.0.0.0` and `::` only prefer a family. */
function isSpecified(nodeIPs: readonly string[]): boolean {
  return nodeIPs.some((ip) => ip !== '0.0.0.0' && ip !== '::');
}
