import type { Node, NodeCondition } from '../../machines/kubernetes.types.ts';
import type { HostFacts, NodeFacts, NodeSettings, NodeSituation } from '../../machines/node/node.types.ts';

export function nodeSettings(over: Partial<NodeSettings> = {}): NodeSettings {
  return {
    hostname: 'n1',
    registerNode: true,
    labels: {},
    taints: [],
    providerID: '',
    cloudProvider: '',
    nodeIPs: [],
    port: 10250,
    kubeletVersion: 'v1.36.2',
    maxPods: 110,
    podsPerCore: 0,
    kubeReserved: {},
    systemReserved: {},
    evictionHard: {},
    localStorageCapacityIsolation: true,
    maxImages: 50,
    enableControllerAttachDetach: true,
    statusFrequencyMs: 10_000,
    reportFrequencyMs: 300_000,
    leaseDurationSeconds: 40,
    notices: [],
    ...over,
  };
}

const MI = 2 ** 20;

export function hostFacts(over: Partial<HostFacts> = {}): HostFacts {
  return {
    machineID: 'machine-1',
    systemUUID: 'system-1',
    bootID: 'boot-1',
    kernelVersion: '6.12.0',
    osImage: 'Some Linux 1',
    operatingSystem: 'linux',
    architecture: 'amd64',
    cores: 4,
    memoryBytes: 8192 * MI,
    swapBytes: 0,
    hugepagesBytes: { 'hugepages-2Mi': 0 },
    ephemeralStorageBytes: 100_000 * MI,
    nodeIPs: ['192.0.2.1'],
    ...over,
  };
}

export function nodeFacts(over: Partial<NodeFacts> = {}, host: Partial<HostFacts> = {}): NodeFacts {
  return {
    host: hostFacts(host),
    runtime: {
      name: 'containerd',
      version: 'v2.1.0',
      handlers: [{ name: '', recursiveReadOnlyMounts: true, userNamespaces: true }],
      supplementalGroupsPolicy: true,
      images: [{ names: ['registry.example/app:1'], sizeBytes: 10 }],
    },
    ...over,
  };
}

export function situation(over: Partial<NodeSituation> = {}): NodeSituation {
  return {
    health: 'healthy',
    message: '',
    pressure: { memory: false, disk: false, pid: false },
    shuttingDown: false,
    ...over,
  };
}

export function condition(type: string, status: string, over: Partial<NodeCondition> = {}): NodeCondition {
  return {
    type,
    status,
    reason: 'Before',
    message: 'before',
    lastHeartbeatTime: '2025-12-31T00:00:00Z',
    lastTransitionTime: '2025-12-31T00:00:00Z',
    ...over,
  };
}

/** A Node as the API server has it. */
export function apiNode(over: Partial<Node> = {}): Node {
  return {
    ...over,
    metadata: { name: 'n1', uid: 'node-1', ...over.metadata },
    spec: { ...over.spec },
    status: { ...over.status },
  };
}
