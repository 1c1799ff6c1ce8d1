import { createHash } from 'node:crypto';
import type { ConfigObject } from '../../../machines/pod/objects.types.ts';
import type { FactStore } from '../../host/facts.ts';
import type { KeptObjects, ObjectKey } from './objects.types.ts';

interface Fact {
  key: ObjectKey;
  object: ConfigObject;
  pods: string[];
}

/**
 * Copies of ConfigMaps and Secrets on this node, for containers that start while the API server is away
 * (docs/adr/0011-kept-secrets.md). Nothing of what they hold is in a file's name.
 *
 * @param stores one for each kind: Secrets lie in memory where that can be had
 */
export function keptObjects(stores: Record<ObjectKey['kind'], FactStore>): KeptObjects {
  /** Pods that each copy is for, by store and file; read from disk once. */
  let index: Promise<Map<FactStore, Map<string, readonly string[]>>> | undefined;
  const load = async () => {
    const all = new Map<FactStore, Map<string, readonly string[]>>();
    for (const store of Object.values(stores)) {
      const files = await store.list();
      const facts = await Promise.all(files.map(async (file) => (await store.read(file)) as Fact | undefined));
      all.set(store, new Map(files.map((file, i) => [file, facts[i]?.pods ?? []])));
    }
    return all;
  };
  const indexOf = async (store: FactStore) => {
    index ??= load();
    index.catch(() => (index = undefined));
    return (await index).get(store) ?? new Map<string, readonly string[]>();
  };

  return {
    async read(key) {
      const fact = (await stores[key.kind].read(fileOf(key))) as Fact | undefined;
      return fact?.object;
    },
    async write(key, { metadata, data, binaryData, immutable }, pods) {
      const { name, namespace, uid, resourceVersion } = metadata ?? {};
      const object = { metadata: { name, namespace, uid, resourceVersion }, data, binaryData, immutable };
      const store = stores[key.kind];
      (await indexOf(store)).set(fileOf(key), pods);
      await store.write(fileOf(key), { key, object, pods }, false);
    },
    async remove(key) {
      const store = stores[key.kind];
      (await indexOf(store)).delete(fileOf(key));
      await store.remove(fileOf(key));
    },
    async sweep(keep) {
      for (const store of Object.values(stores)) {
        const files = await indexOf(store);
        for (const [file, pods] of files) {
          if (pods.some((uid) => keep.has(uid))) continue;
          await store.remove(file);
          files.delete(file);
        }
      }
    },
  };
}

/** A namespace and a name together may be longer than a file's name. */
const fileOf = ({ kind, namespace, name }: ObjectKey) =>
  createHash('sha256').update(`${kind}/${namespace}/${name}`).digest('hex');
