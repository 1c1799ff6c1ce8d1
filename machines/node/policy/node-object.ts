import type { Node, Taint } from '../../kubernetes.types.ts';
import type { HostFacts, NodeSettings } from '../node.types.ts';
import { providedNodeIP } from './addresses.ts';

export const ATTACH_DETACH = 'volumes.kubernetes.io/controller-managed-attach-detach';
export const PROVIDED_NODE_IP = 'alpha.kubernetes.io/provided-node-ip';

/** Until the cloud provider has looked at the node. */
const UNINITIALIZED: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

/** The Node as this agent would create it, without its status (kubelet_node_status.go:initialNode). */
export function nodeObject(nodeName: string, host: HostFacts, settings: NodeSettings): Node {
  const { operatingSystem: os, architecture: arch } = host;
  const isExternal = settings.cloudProvider === 'external';
  const taints = [...settings.taints, ...(isExternal ? [UNINITIALIZED] : [])];
  const provided = providedNodeIP(settings);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      labels: {
        'kubernetes.io/hostname': settings.hostname,
        'kubernetes.io/os': os,
        'kubernetes.io/arch': arch,
        'beta.kubernetes.io/os': os,
        'beta.kubernetes.io/arch': arch,
        ...settings.labels,
      },
      annotations: {
        ...(settings.enableControllerAttachDetach && { [ATTACH_DETACH]: 'true' }),
        ...(provided !== undefined && { [PROVIDED_NODE_IP]: provided }),
      },
    },
    spec: {
      ...(settings.providerID && { providerID: settings.providerID }),
      ...(taints.length > 0 && { taints }),
    },
  };
}
