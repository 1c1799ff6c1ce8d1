import type { Node } from '../../kubernetes.types.ts';
import type { NodePatch } from '../node.types.ts';
import { ATTACH_DETACH, PROVIDED_NODE_IP } from './node-object.ts';

/** Labels that an existing Node gets too, where this agent would give them (kubelet_node_status.go:updateDefaultLabels). */
const RECONCILED_LABELS = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];

/** Annotations that are the agent's: gone where it would not give them. */
const OWN_ANNOTATIONS = [ATTACH_DETACH, PROVIDED_NODE_IP];

/**
 * What an existing Node lacks to be this agent's; undefined where nothing is to be done. Taints, other labels and the
 * provider's id of a Node that is there are not touched.
 */
export function reconcileNode(existing: Node, wanted: Node): NodePatch | undefined {
  const { labels = {}, annotations = {}, uid = '' } = existing.metadata ?? {};
  const given = wanted.metadata?.labels ?? {};
  const changedLabels: Record<string, string | null> = {};
  for (const key of RECONCILED_LABELS) {
    const value = given[key];
    // A label that is given without a value is taken away.
    if (value === '' ? key in labels : value !== undefined && value !== labels[key])
      changedLabels[key] = value === '' ? null : (value ?? null);
  }
  const changedAnnotations: Record<string, string | null> = {};
  for (const key of OWN_ANNOTATIONS) {
    const value = wanted.metadata?.annotations?.[key];
    if (value !== annotations[key]) changedAnnotations[key] = value ?? null;
  }
  const changes = {
    ...(Object.keys(changedLabels).length > 0 && { labels: changedLabels }),
    ...(Object.keys(changedAnnotations).length > 0 && { annotations: changedAnnotations }),
  };
  return Object.keys(changes).length > 0 ? { metadata: { uid, ...changes } } : undefined;
}
