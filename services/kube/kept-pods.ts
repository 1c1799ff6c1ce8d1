import { fromPromise } from 'xstate';
import type { Pod } from '../../machines/kubernetes.types.ts';
import type { ApiSourceSlots } from '../../machines/syncloop/api-source.types.ts';
import type { FactStore } from '../host/facts.ts';

/**
 * Pods of the API, kept as facts by UID, for an API server that is away when the agent begins. One that cannot be read is
 * left out: the store has told of it.
 *
 * @param store for these alone
 */
export function keptPods(store: FactStore): Pick<ApiSourceSlots, 'recallPods' | 'keepPods'> {
  return {
    recallPods: fromPromise(async () => {
      const facts = await Promise.all((await store.list()).map((key) => store.read(key)));
      return facts.flatMap((fact) => (isPod(fact?.pod) ? [fact.pod] : []));
    }),
    keepPods: fromPromise(async ({ input: { keep, forget } }) => {
      // Nothing runs after a loss of power, so these need not outlive one.
      await Promise.all(keep.map((pod) => store.write(pod.metadata?.uid ?? '', { pod }, false)));
      await Promise.all(forget.map((uid) => store.remove(uid)));
    }),
  };
}

const isPod = (value: unknown): value is Pod =>
  typeof (value as Pod | undefined)?.metadata?.uid === 'string' && typeof (value as Pod).spec === 'object';
