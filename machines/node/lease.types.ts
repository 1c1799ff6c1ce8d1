import type { AgentEnv, ParentRef } from '../agent.types.ts';
import type { Lease } from '../kubernetes.types.ts';
import type { Slot } from '../slot.types.ts';

export interface LeaseInput {
  env: AgentEnv;
  parent: ParentRef;
  nodeName: string;
  /** The Node that owns the lease. */
  nodeUid: string;
  /** nodeLeaseDurationSeconds. */
  durationSeconds: number;
}

/** Of the namespace kube-node-lease; the lease is named after the node. */
export interface LeaseSlots {
  /** Rejects with NotFound. */
  getLease: Slot<{ nodeName: string }, Lease>;
  /** Rejects with AlreadyExists. */
  createLease: Slot<{ lease: Lease }, Lease>;
  /** PUT of the whole lease; its resourceVersion makes it fail (Conflict) where another one wrote meanwhile. */
  updateLease: Slot<{ lease: Lease }, Lease>;
}
