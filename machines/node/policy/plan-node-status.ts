import type { Node, NodeStatus } from '../../kubernetes.types.ts';
import { rfc3339 } from '../../pod/policy/conditions.ts';
import { sameJson } from '../../pod/policy/same-json.ts';
import type { NodeFacts, NodePatch, NodeSettings, NodeSituation } from '../node.types.ts';
import { nodeStatus } from './node-status.ts';
import { nodeStatusPatch, withHeartbeats } from './node-status-patch.ts';

/** What is written now, and the status that it makes. */
export interface NodeStatusPlan {
  status: NodeStatus;
  /** Undefined: nothing is to be written. */
  patch?: NodePatch;
  /** More than heartbeats changes. */
  changes: boolean;
}

interface PlanInput {
  node: Node;
  facts: NodeFacts;
  settings: NodeSettings;
  situation: NodeSituation;
  /** Monotonic ms. */
  elapsed: number;
  /** Wall clock, ms since the epoch. */
  now: number;
  /** When a report without any change is due, monotonic ms. */
  reportAt: number;
  resetExtended: boolean;
  /** What the API server did not take of the last write: it has no such field, and would not take it now. */
  refused: NodePatch['status'];
}

/**
 * Whether the Node's status has to be written: something other than heartbeats changed, or the report period is over
 * (kubelet_node_status.go:updateNode).
 */
export function planNodeStatus(input: PlanInput): NodeStatusPlan {
  const { node, situation, elapsed, now, reportAt, refused } = input;
  const awayMs = situation.awaySince === undefined ? 0 : elapsed - situation.awaySince;
  const status = nodeStatus({ ...input, awayMs, existing: node.status });
  const difference = nodeStatusPatch(node.status, status);
  const changes = difference !== undefined && !sameJson(difference, refused);
  if (!changes && elapsed < reportAt) return { status, changes };
  const uid = node.metadata?.uid ?? '';
  return { status, changes, patch: { metadata: { uid }, status: withHeartbeats(difference, status, rfc3339(now)) } };
}

/**
 * When the next report without a change is due after a write at `elapsed`, monotonic ms. A write of a change moves it by up
 * to half a period, so that nodes that changed together do not report together (kubelet_node_status.go:calculateDelay).
 */
export function nextReportAt(elapsed: number, reportFrequencyMs: number, changed: boolean, random: number): number {
  return elapsed + reportFrequencyMs * (changed ? random + 0.5 : 1);
}
