import type { DesiredPod, Pod } from '../../machines/kubernetes.types.ts';
import { CONFIG_HASH_ANNOTATION } from '../../machines/pod/policy/names.ts';
import { CONFIG_MIRROR_ANNOTATION } from '../../machines/syncloop/policy/api-pod.ts';

/**
 * The object that shows a static pod in the API: its spec, its labels and annotations, the hash of its manifest as mark of a
 * mirror, and the Node as owner. The API server gives it a UID of its own (pod/mirror_client.go:CreateMirrorPod).
 */
export function mirrorPod({ metadata, spec }: DesiredPod, nodeUid: string): Pod {
  const { name, namespace, labels, annotations } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels,
      annotations: { ...annotations, [CONFIG_MIRROR_ANNOTATION]: annotations?.[CONFIG_HASH_ANNOTATION] ?? '' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: spec.nodeName ?? '', uid: nodeUid, controller: true }],
    },
    spec,
  };
}
