import type { PodStatus } from '../../machines/kubernetes.types.ts';
import { sameJson } from '../../machines/pod/policy/same-json.ts';

type Fields = Record<string, unknown>;

/** Lists of a pod's status that are merged item by item, and the field that names an item (core/v1 types.go). */
const MERGE_KEYS: Record<string, string> = {
  conditions: 'type',
  podIPs: 'ip',
  hostIPs: 'ip',
  resourceClaimStatuses: 'name',
};

/**
 * The strategic merge patch that makes `after` of `before`: only what differs, `null` for what is gone; lists with a merge
 * key by their items and with the order of all (apimachinery strategicpatch.CreateTwoWayMergePatch).
 */
export function statusPatch(before: PodStatus, after: PodStatus): Fields {
  return diff(before as Fields, after as unknown as Fields, MERGE_KEYS);
}

function diff(before: Fields, after: Fields, mergeKeys: Record<string, string>): Fields {
  const patch: Fields = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]];
    if (sameJson(old, now)) continue;
    const key = mergeKeys[name];
    if (now === undefined || now === null) patch[name] = null;
    else if (key !== undefined && Array.isArray(now)) {
      patch[name] = items((old ?? []) as Fields[], now as Fields[], key);
      patch[`$setElementOrder/${name}`] = (now as Fields[]).map((item) => ({ [key]: item[key] }));
    } else if (isObject(old) && isObject(now)) patch[name] = diff(old, now, {});
    else patch[name] = now;
  }
  return patch;
}

function items(before: Fields[], after: Fields[], key: string): Fields[] {
  const changed = after.flatMap((item) => {
    const old = before.find((other) => other[key] === item[key]);
    if (!old) return [item];
    return sameJson(old, item) ? [] : [{ ...diff(old, item, {}), [key]: item[key] }];
  });
  const gone = before.filter((item) => !after.some((other) => other[key] === item[key]));
  return [...changed, ...gone.map((item) => ({ $patch: 'delete', [key]: item[key] }))];
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
