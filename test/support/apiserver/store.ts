import { expired } from './errors.ts';
import type { KubeObject } from './objects.ts';

/** One change, as etcd would tell it. `previous` is the object before. */
export interface Change {
  revision: number;
  key: string;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: KubeObject;
  previous?: KubeObject;
}

/** So many of the newest changes are always kept, and at most twice as many. */
const KEPT_CHANGES = 20_000;

type Listener = (change: Change) => void;

/**
 * The API server's memory: objects by key, one revision for all, the changes since the last compaction.
 * No HTTP, no clock: the simulated world can hold one too. Objects that went in are never written to.
 */
export class Store {
  #revision = 1;
  #compacted = 0;
  readonly #objects = new Map<string, KubeObject>();
  #changes: Change[] = [];
  readonly #listeners = new Set<Listener>();

  get revision(): number {
    return this.#revision;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  /** Objects whose key begins so, sorted by key as etcd gives them. */
  list(prefix: string): KubeObject[] {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return keys.flatMap((key) => this.#objects.get(key) ?? []);
  }

  /** Writes an object and tells the watchers; the answer carries its new resourceVersion. */
  put(key: string, object: KubeObject): KubeObject {
    const previous = this.#objects.get(key);
    const stored = this.#stamped(object);
    this.#objects.set(key, stored);
    this.#tell({
      revision: this.#revision,
      key,
      type: previous ? 'MODIFIED' : 'ADDED',
      object: stored,
      ...(previous && { previous }),
    });
    return stored;
  }

  /** Removes an object; what was there last is told with the revision of its end. */
  remove(key: string): KubeObject | undefined {
    const previous = this.#objects.get(key);
    if (!previous) return undefined;
    const stored = this.#stamped(previous);
    this.#objects.delete(key);
    this.#tell({ revision: this.#revision, key, type: 'DELETED', object: stored, previous });
    return stored;
  }

  /** Changes after `revision` below `prefix`, at once and as they happen. Throws Expired when they are compacted away. */
  watch(prefix: string, revision: number, listener: Listener): () => void {
    if (revision < this.#compacted) throw expired(`too old resource version: ${revision} (${this.#compacted})`);
    const own: Listener = (change) => {
      if (change.key.startsWith(prefix)) listener(change);
    };
    for (const change of this.#changes) if (change.revision > revision) own(change);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Forgets the past: watches that begin before now are told Expired, as after etcd's compaction. */
  compact(): void {
    this.#compacted = this.#revision;
    this.#changes = [];
  }

  get compacted(): number {
    return this.#compacted;
  }

  #stamped(object: KubeObject): KubeObject {
    this.#revision += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
  }

  #tell(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > 2 * KEPT_CHANGES) {
      this.#compacted = this.#changes.splice(0, KEPT_CHANGES).at(-1)?.revision ?? this.#compacted;
    }
    for (const listener of [...this.#listeners]) listener(change);
  }
}
