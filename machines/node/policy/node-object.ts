import type { Node, Taint } from '../../kubernetes.types.ts';
import type { HostFacts, NodeSettings } from '../node.types.ts';
import { providedNodeIP } from './addresses.ts';

export const ATTACH_DETACH = 'volumes.kubernetes.io/controller-managed-attach-detach';
/** Names the labels that --node-labels has given, so that a later start knows which to take away. */
export const GIVEN_LABELS = 'statelet/node-labels';
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
  const given = Object.keys(settings.labels).sort();
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
        ...(given.length > 0 && { [GIVEN_LABELS]: given.join(',') }),
      },
    },
    spec: {
      ...(settings.providerID && { providerID: settings.providerID }),
      ...(taints.length > 0 && { taints }),
    },
  };
}
