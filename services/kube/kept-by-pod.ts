import { createHash } from 'node:crypto';
import type { FactStore } from '../host/facts.ts';

/** Copies of what the API server gave, each for as long as there is one of the pods that it is for. */
export interface KeptByPod<T> {
  read(id: string): Promise<T | undefined>;
  /** @param pods UIDs */
  write(id: string, value: T, pods: readonly string[]): Promise<void>;
  remove(id: string): Promise<void>;
  sweep(keep: ReadonlySet<string>): Promise<void>;
}

interface Fact<T> {
  value: T;
  pods: string[];
}

/** Keeps in a store of its own, where nothing of what is kept is in a file's name. */
export function keptByPod<T>(store: FactStore): KeptByPod<T> {
  /** Pods that each copy is for, by file; read from disk once. */
  let index: Promise<Map<string, readonly string[]>> | undefined;
  const load = async () => {
    const files = await store.list();
    const facts = await Promise.all(files.map(async (file) => (await store.read(file)) as Fact<T> | undefined));
    return new Map<string, readonly string[]>(files.map((file, i) => [file, facts[i]?.pods ?? []]));
  };
  const files = () => {
    index ??= load().catch((error: unknown) => {
      index = undefined;
      throw error;
    });
    return index;
  };
  return {
    async read(id) {
      return ((await store.read(fileOf(id))) as Fact<T> | undefined)?.value;
    },
    async write(id, value, pods) {
      (await files()).set(fileOf(id), pods);
      await store.write(fileOf(id), { value, pods }, false);
    },
    async remove(id) {
      (await files()).delete(fileOf(id));
      await store.remove(fileOf(id));
    },
    async sweep(keep) {
      const known = await files();
      for (const [file, pods] of known) {
        if (pods.some((uid) => keep.has(uid))) continue;
        await store.remove(file);
        known.delete(file);
      }
    },
  };
}

/** Names together may be longer than a file's name. */
const fileOf = (id: string) => createHash('sha256').update(id).digest('hex');
