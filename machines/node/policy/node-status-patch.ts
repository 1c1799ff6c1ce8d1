import type { NodeAddress, NodeCondition, NodeStatus } from '../../kubernetes.types.ts';
import { sameJson } from '../../pod/policy/same-json.ts';
import type { NodePatch } from '../node.types.ts';

type StatusPatch = NonNullable<NodePatch['status']>;
type Json = Record<string, unknown>;

/**
 * The strategic merge patch that makes `after` of `before`, times of heartbeats apart; undefined where only these differ.
 * Conditions merge by type. Addresses would too, though several may be of one type: the list is replaced as a whole
 * (component-helpers/node/util/status.go:fixupPatchForNodeStatusAddresses).
 */
export function nodeStatusPatch(before: NodeStatus | undefined, after: NodeStatus): StatusPatch | undefined {
  const { conditions, addresses, ...rest } = after;
  const { conditions: conditionsBefore = [], addresses: addressesBefore = [], ...restBefore } = before ?? {};
  const changed = (conditions ?? []).filter(
    (condition) =>
      !sameJson(
        withoutHeartbeat(condition),
        withoutHeartbeat(conditionsBefore.find(({ type }) => type === condition.type)),
      ),
  );
  const patch: StatusPatch = {
    ...mergePatch(restBefore as Json, rest as Json),
    ...(changed.length > 0 && { conditions: changed }),
    ...(!sameJson(addresses, addressesBefore) && { addresses: replaced(addresses ?? []) }),
  };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** The patch with the heartbeat of each of the agent's own conditions. */
export function withHeartbeats(patch: StatusPatch | undefined, after: NodeStatus, now: string): StatusPatch {
  return {
    ...patch,
    conditions: (after.conditions ?? []).filter(({ lastHeartbeatTime }) => lastHeartbeatTime === now),
  };
}

function withoutHeartbeat(condition: NodeCondition | undefined): Partial<NodeCondition> | undefined {
  return condition && { ...condition, lastHeartbeatTime: undefined };
}

const replaced = (addresses: NodeAddress[]) => [...addresses, { $patch: 'replace' }];

/** Keys that differ: maps key by key, null for what is gone, lists as a whole. */
function mergePatch(before: Json, after: Json): Json {
  const patch: Json = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, wanted] = [before[key], after[key]];
    if (sameJson(old, wanted)) continue;
    patch[key] = isMap(old) && isMap(wanted) ? mergePatch(old, wanted) : (wanted ?? null);
  }
  return patch;
}

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
