import type { Node } from '../../kubernetes.types.ts';
import type { NodeView, PressureCondition } from '../../pod/policy/admit/admission.types.ts';

const PRESSURE: readonly PressureCondition[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The node's own addresses, primary first, as its object tells them; undefined where it tells none. */
export function hostIPsOf({ status }: Node): string[] | undefined {
  const ips = (status?.addresses ?? []).flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : []));
  return ips.length > 0 ? ips : undefined;
}

/** The node that pods are judged against, from its object in the API; what only this agent knows stays as it is. */
export function nodeViewOf({ metadata, spec, status }: Node, before: NodeView): NodeView {
  const pressure = PRESSURE.filter((type) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True'),
  );
  return {
    ...before,
    labels: metadata?.labels ?? {},
    taints: spec?.taints ?? [],
    allocatable: status?.allocatable ?? before.allocatable,
    supplementalGroupsPolicy: status?.features?.supplementalGroupsPolicy ?? before.supplementalGroupsPolicy,
    pressure,
  };
}
