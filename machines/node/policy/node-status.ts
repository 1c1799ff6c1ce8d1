import type { NodeStatus } from '../../kubernetes.types.ts';
import type { NodeFacts, NodeSettings, NodeSituation, RuntimeFacts } from '../node.types.ts';
import { nodeAddresses } from './addresses.ts';
import { nodeAllocatable, nodeCapacity } from './allocatable.ts';
import { nodeConditions } from './node-conditions.ts';

/** nodestatus/setters.go:MaxNamesPerImageInNodeStatus. */
const MAX_NAMES = 5;

interface NodeStatusParts {
  facts: NodeFacts;
  settings: NodeSettings;
  situation: NodeSituation;
  /** Monotonic ms for which the runtime has not been known to be there. */
  awayMs: number;
  /** The Node's status so far; undefined for a new Node. */
  existing: NodeStatus | undefined;
  /** The Node is older than this process, which has not written it yet. */
  resetExtended: boolean;
  /** Wall clock, ms since the epoch. */
  now: number;
}

/**
 * The Node's status as it should be now (nodestatus/setters.go). What is somebody else's in it stays: conditions of other
 * types (NetworkUnavailable), extended resources, attached volumes. What only the runtime knows stays while it is away.
 */
export function nodeStatus(parts: NodeStatusParts): NodeStatus {
  const { facts, settings, situation, awayMs, existing, resetExtended, now } = parts;
  const { host, runtime } = facts;
  const capacity = nodeCapacity(host, settings, existing?.capacity, resetExtended);
  const { localStorageCapacityIsolation } = settings;
  const told = existing?.conditions ?? [];
  const own = nodeConditions({ existing: told, situation, awayMs, capacity, localStorageCapacityIsolation, now });
  const foreign = told.filter(({ type }) => !own.some((condition) => condition.type === type));
  return {
    ...existing,
    addresses: nodeAddresses(host.nodeIPs, settings, existing?.addresses),
    capacity,
    allocatable: nodeAllocatable(capacity, settings),
    conditions: [...foreign, ...own],
    daemonEndpoints: { kubeletEndpoint: { Port: settings.port } },
    nodeInfo: {
      machineID: host.machineID,
      systemUUID: host.systemUUID,
      bootID: host.bootID,
      kernelVersion: host.kernelVersion,
      osImage: host.osImage,
      operatingSystem: host.operatingSystem,
      architecture: host.architecture,
      containerRuntimeVersion: runtime ? `${runtime.name}://${runtime.version}` : unknownVersion(existing),
      kubeletVersion: settings.kubeletVersion,
      kubeProxyVersion: '',
      ...(host.swapBytes > 0 && { swap: { capacity: host.swapBytes } }),
    },
    ...(runtime?.images && { images: imagesOf(runtime.images, settings.maxImages) }),
    ...(runtime && runtimeParts(runtime)),
  };
}

/** `containerd://Unknown`, once the runtime's name is known. */
function unknownVersion(existing: NodeStatus | undefined): string {
  const [name = ''] = existing?.nodeInfo?.containerRuntimeVersion.split('://') ?? [];
  return `${name === '' ? 'remote' : name}://Unknown`;
}

/** The largest first; images that nothing names are of no use to a scheduler. */
function imagesOf(images: NonNullable<RuntimeFacts['images']>, max: number): NodeStatus['images'] {
  const named = images
    .filter(({ names }) => names.length > 0)
    .map(({ names, sizeBytes }) => ({ names: names.slice(0, MAX_NAMES), sizeBytes }))
    // The same order each time, also among images of one size: a mere change of order would be written.
    .sort((a, b) => b.sizeBytes - a.sizeBytes || ((a.names[0] ?? '') < (b.names[0] ?? '') ? -1 : 1));
  const shown = max < 0 ? named : named.slice(0, max);
  return shown.length > 0 ? shown : undefined;
}

function runtimeParts({ handlers, supplementalGroupsPolicy }: RuntimeFacts): Partial<NodeStatus> {
  const sorted = [...handlers].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    ...(sorted.length > 0 && {
      runtimeHandlers: sorted.map(({ name, recursiveReadOnlyMounts, userNamespaces }) => ({
        name,
        features: { recursiveReadOnlyMounts, userNamespaces },
      })),
    }),
    ...(supplementalGroupsPolicy !== undefined && { features: { supplementalGroupsPolicy } }),
  };
}
