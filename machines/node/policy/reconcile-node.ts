import type { Node } from '../../kubernetes.types.ts';
import type { NodePatch } from '../node.types.ts';
import { ATTACH_DETACH, GIVEN_LABELS, PROVIDED_NODE_IP } from './node-object.ts';

/** Labels that a cloud provider's controller gives too: they are not taken away for not being given any more. */
const SHARED_LABELS = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
];

/** Annotations that are the agent's: gone where it would not give them. */
const OWN_ANNOTATIONS = [ATTACH_DETACH, PROVIDED_NODE_IP, GIVEN_LABELS];

/**
 * What an existing Node lacks to be this agent's; undefined where nothing is to be done. It gets every label that this agent
 * would give (kubelet_node_status.go:updateDefaultLabels has it for the well-known ones, B152 for all), and loses those
 * that an earlier start gave and this one does not. Others' labels, taints and the provider's id are not touched.
 */
export function reconcileNode(existing: Node, wanted: Node): NodePatch | undefined {
  const { labels = {}, annotations = {}, uid = '' } = existing.metadata ?? {};
  const given = wanted.metadata?.labels ?? {};
  const changedLabels: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(given)) {
    // One of these that is given without a value is taken away.
    const isTakenAway = value === '' && SHARED_LABELS.includes(key);
    if (isTakenAway ? key in labels : value !== labels[key]) changedLabels[key] = isTakenAway ? null : value;
  }
  for (const key of annotations[GIVEN_LABELS]?.split(',') ?? [])
    if (!(key in given) && key in labels && !SHARED_LABELS.includes(key)) changedLabels[key] = null;
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
