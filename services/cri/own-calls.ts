import type { RuntimeEcho, RuntimeEvent } from '../../machines/runtime.types.ts';

/** What a call under way brings about: something new of a pod (by its UID), or a start or stop (by the object's id). */
type Deed = 'make' | 'start' | 'stop';

/**
 * The agent's own calls that change the runtime. Events that only tell of them are no news: each call's answer is looked
 * up as it ends, and told on (`RuntimeEcho`), so that nobody has to ask the runtime what this agent did to it.
 */
export class OwnCalls {
  readonly #underWay = new Map<string, number>();
  readonly #listeners = new Set<(echo: RuntimeEcho) => void>();

  /** Runs a call that is the cause of what the stream tells of `id` meanwhile. */
  async during<T>(deed: Deed, id: string, call: () => Promise<T>): Promise<T> {
    const key = `${deed} ${id}`;
    this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + 1);
    try {
      return await call();
    } finally {
      const left = (this.#underWay.get(key) ?? 1) - 1;
      if (left > 0) this.#underWay.set(key, left);
      else this.#underWay.delete(key);
    }
  }

  /**
   * Whether an event tells only of a call under way. What a call makes has no id before its answer, so everything new of
   * its pod counts as made by it.
   *
   * @param known whether the event's object was seen before
   */
  covers({ kind, containerId, podUid }: RuntimeEvent, known: boolean): boolean {
    switch (kind) {
      case 'created':
        return this.#underWay.has(`make ${podUid}`);
      case 'started':
        return this.#underWay.has(`start ${containerId}`) || (!known && this.#underWay.has(`make ${podUid}`));
      case 'stopped':
        return this.#underWay.has(`stop ${containerId}`);
      default:
        return false;
    }
  }

  /** Tells what an own call's answer has shown. */
  tell(echo: RuntimeEcho): void {
    for (const listener of this.#listeners) listener(echo);
  }

  /** @returns ends it */
  follow(listener: (echo: RuntimeEcho) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
