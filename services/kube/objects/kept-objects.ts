import type { ConfigObject } from '../../../machines/pod/objects.types.ts';
import type { KeptByPod } from '../kept-by-pod.ts';
import type { KeptObjects, ObjectKey } from './objects.types.ts';

/**
 * Copies of ConfigMaps and Secrets on this node, for containers that start while the API server is away
 * (docs/adr/0012-kept-secrets.md).
 *
 * @param kept one place for each kind: Secrets lie in memory where that can be had
 */
export function keptObjects(kept: Record<ObjectKey['kind'], KeptByPod<ConfigObject>>): KeptObjects {
  return {
    read: (key) => kept[key.kind].read(idOf(key)),
    write(key, { metadata, data, binaryData, immutable }, pods) {
      const { name, namespace, uid, resourceVersion } = metadata ?? {};
      const object = { metadata: { name, namespace, uid, resourceVersion }, data, binaryData, immutable };
      return kept[key.kind].write(idOf(key), object, pods);
    },
    remove: (key) => kept[key.kind].remove(idOf(key)),
    async sweep(keep) {
      for (const place of Object.values(kept)) await place.sweep(keep);
    },
  };
}

const idOf = ({ kind, namespace, name }: ObjectKey) => `${kind}/${namespace}/${name}`;
