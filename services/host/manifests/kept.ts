import { createHash } from 'node:crypto';
import { fromPromise } from 'xstate';
import type { PodSourceSlots } from '../../../machines/syncloop/pod-source.types.ts';
import type { FactStore } from '../facts.ts';

/**
 * The last good manifests, kept as facts by a hash of their origin: one that is broken while no agent runs must not end
 * the pods that it described. They may hold what is secret, so their folder is for the owner alone.
 */
export function keptManifests(store: FactStore): Pick<PodSourceSlots, 'recallManifests' | 'keepManifests'> {
  return {
    recallManifests: fromPromise(async ({ input: { source } }) => {
      const facts = await Promise.all((await store.list()).map((key) => store.read(key)));
      const own = facts.flatMap((fact) => {
        const { source: from, origin, text } = fact ?? {};
        return from === source && typeof origin === 'string' && typeof text === 'string' ? [[origin, text]] : [];
      });
      return Object.fromEntries(own) as Record<string, string>;
    }),
    keepManifests: fromPromise(async ({ input: { source, keep, forget } }) => {
      // Nothing runs after a loss of power, so these need not outlive one.
      await Promise.all(keep.map(({ origin, text }) => store.write(keyOf(origin), { source, origin, text }, false)));
      await Promise.all(forget.map((origin) => store.remove(keyOf(origin))));
    }),
  };
}

const keyOf = (origin: string) => createHash('sha256').update(origin).digest('hex').slice(0, 32);
