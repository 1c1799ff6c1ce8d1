import type { Node } from '../../kubernetes.types.ts';
import { sameJson } from '../../pod/policy/same-json.ts';

/** Whether two sightings of the Node are one to all but nodeStatus: conditions, heartbeats and images apart. */
export function sameNode(a: Node | undefined, b: Node): boolean {
  return sameJson(a && told(a), told(b));
}

function told({ metadata, spec, status }: Node) {
  const { uid, labels, annotations, deletionTimestamp } = metadata ?? {};
  const { capacity, allocatable, addresses } = status ?? {};
  return { uid, labels, annotations, deletionTimestamp, spec, capacity, allocatable, addresses };
}
