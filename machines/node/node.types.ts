import type { AgentEnv, EventHappened, ParentRef, RecordedEvent } from '../agent.types.ts';
import type { Node, NodeStatus, Taint } from '../kubernetes.types.ts';
import type { Slot } from '../slot.types.ts';
import type { HealthReport } from '../syncloop/reports.types.ts';

/** What of the configuration and the flags concerns the Node object. */
export interface NodeSettings {
  /** The host's name or --hostname-override: the node's Hostname address. */
  hostname: string;
  /** registerNode: create the Node where it is not there; off: wait until somebody has created it. */
  registerNode: boolean;
  /** --node-labels; they win over the default labels. */
  labels: Record<string, string>;
  /** registerWithTaints; of a new Node only. */
  taints: Taint[];
  /** providerID; empty: none. */
  providerID: string;
  /** --cloud-provider. */
  cloudProvider: '' | 'external';
  /** --node-ip as given, `0.0.0.0` and `::` included. */
  nodeIPs: string[];
  /** The port of the node's HTTP API. */
  port: number;
  /** `v`-prefixed. */
  kubeletVersion: string;
  maxPods: number;
  /** 0: no limit. */
  podsPerCore: number;
  /** kubeReserved and systemReserved: quantities by resource. */
  kubeReserved: Record<string, string>;
  systemReserved: Record<string, string>;
  /** evictionHard: quantities or percentages by signal (`memory.available`). */
  evictionHard: Record<string, string>;
  /** localStorageCapacityIsolation: whether ephemeral-storage is a resource of the node. */
  localStorageCapacityIsolation: boolean;
  /** nodeStatusMaxImages; -1: no limit. */
  maxImages: number;
  enableControllerAttachDetach: boolean;
  /** nodeStatusUpdateFrequency and nodeStatusReportFrequency, ms. */
  statusFrequencyMs: number;
  reportFrequencyMs: number;
  /** nodeLeaseDurationSeconds. */
  leaseDurationSeconds: number;
  /** What was found about the node when the agent started, told once after `Starting`. */
  notices: RecordedEvent[];
}

/** The node as its host and its runtime tell. */
export interface NodeFacts {
  host: HostFacts;
  /** Undefined where the runtime does not answer. */
  runtime?: RuntimeFacts;
}

export interface HostFacts {
  machineID: string;
  /** DMI product_uuid; empty where there is none. */
  systemUUID: string;
  /** Changes at each boot. */
  bootID: string;
  kernelVersion: string;
  /** PRETTY_NAME of os-release. */
  osImage: string;
  /** As Go names them: `linux`, `amd64`. */
  operatingSystem: string;
  architecture: string;
  cores: number;
  memoryBytes: number;
  /** 0: none. */
  swapBytes: number;
  /** Bytes by resource name: `hugepages-2Mi`. */
  hugepagesBytes: Record<string, number>;
  /** Of the file system of the root directory. */
  ephemeralStorageBytes: number;
  /** Addresses for InternalIP, primary first: --node-ip, else what the node's name stands for, else the default route's. */
  nodeIPs: string[];
}

export interface RuntimeFacts {
  name: string;
  version: string;
  handlers: { name: string; recursiveReadOnlyMounts: boolean; userNamespaces: boolean }[];
  /** Undefined where the runtime tells no features. */
  supplementalGroupsPolicy?: boolean;
  /** In any order, names with digests first; undefined where they were not asked for. */
  images?: { names: string[]; sizeBytes: number }[];
}

/** What decides on the conditions; kept by the node, pushed to nodeStatus whenever it changes. */
export interface NodeSituation {
  /** `unknown` until the runtime was asked once. */
  health: 'unknown' | Extract<HealthReport, { type: 'health.changed' }>['health'];
  /** The runtime's own words where it is not healthy. */
  message: string;
  /** Monotonic ms since when the runtime is not known to be there; undefined while it is. */
  awaySince?: number;
  pressure: NodePressure;
  shuttingDown: boolean;
}

export interface NodePressure {
  memory: boolean;
  disk: boolean;
  pid: boolean;
}

export interface NodeInput {
  env: AgentEnv;
  parent: ParentRef;
  nodeName: string;
  settings: NodeSettings;
}

/** parent → node. */
export type NodeRequest =
  | Extract<HealthReport, { type: 'health.changed' }>
  /** Pods came or went: the list of images may have changed. */
  | { type: 'pods.changed' }
  | { type: 'pressure.changed'; pressure: NodePressure }
  /** Look at the Node object now, as before a pod is rejected for what the node lacks. */
  | { type: 'node.look' }
  /** The host shuts down: not ready from now on, whatever the runtime says; or it does not after all. */
  | { type: 'node.shutdown' }
  | { type: 'node.shutdownCancelled' };

export interface NodeKnown {
  uid: string;
  node: Node;
  /** By a look that began after the last `node.look` came, or by a registration. */
  looked?: true;
}

/** node → parent. */
export type NodeReport =
  /**
   * The Node object: first when it is registered, then whenever more than heartbeats, images or conditions changed, and in
   * answer to `node.look`.
   */
  | ({ type: 'node.known' } & NodeKnown)
  /** There is no Node object. */
  | { type: 'node.absent' }
  | EventHappened;

/** A strategic merge patch of a Node; `metadata.uid` makes it fail (Conflict) on another Node of the same name. */
export interface NodePatch {
  metadata: {
    uid: string;
    labels?: Record<string, string | null>;
    annotations?: Record<string, string | null>;
  };
  status?: { [K in keyof NodeStatus]?: unknown };
}

export interface NodeSlots {
  /** Host and runtime; a runtime that does not answer is no error. `images`: list the runtime's images too. */
  readNodeFacts: Slot<{ images: boolean }, NodeFacts>;
  createNode: Slot<{ node: Node }, Node>;
  /** Rejects with NotFound. */
  getNode: Slot<{ nodeName: string }, Node>;
  /** Strategic merge patch of the object itself. */
  patchNode: Slot<{ nodeName: string; patch: NodePatch }, Node>;
}
