import type { AgentEnv, ParentRef } from '../agent.types.ts';
import type { Node } from '../kubernetes.types.ts';
import type { Slot } from '../slot.types.ts';
import type { NodeFacts, NodePatch, NodeSettings, NodeSituation, NodeSlots } from './node.types.ts';

export interface NodeStatusInput {
  env: AgentEnv;
  parent: ParentRef;
  nodeName: string;
  settings: NodeSettings;
  /** As it was registered, and what was read for that. */
  node: Node;
  facts: NodeFacts;
  situation: NodeSituation;
  /** The Node was there before this process: what an earlier agent or boot left in it is looked at once. */
  found: boolean;
}

/** node → nodeStatus. */
export type NodeStatusRequest =
  { type: 'situation.changed'; situation: NodeSituation } | { type: 'images.changed' } | { type: 'node.look' };

/** nodeStatus → node: the Node as a look or a write has shown it. */
export interface NodeSeen {
  type: 'node.seen';
  node: Node;
  /** By a look that began after the last `node.look` came. */
  looked: boolean;
}

export interface NodeStatusSlots extends Pick<NodeSlots, 'readNodeFacts' | 'getNode'> {
  /** Strategic merge patch of the status subresource. */
  patchNodeStatus: Slot<{ nodeName: string; patch: NodePatch }, Node>;
  /** Tells the runtime the addresses of pods on this node, for its network's configuration. Idempotent. */
  updateRuntimeConfig: Slot<{ podCIDR: string }, void>;
}
