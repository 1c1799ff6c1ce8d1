import { fromPromise } from 'xstate';
import type { PodStatus } from '../../machines/kubernetes.types.ts';
import type { PodSlots } from '../../machines/pod/pod.types.ts';
import type { FactStore } from './facts.ts';

/**
 * How pods ended, kept as facts: the runtime's records of a pod that ran once may be gone before the agent starts
 * again, and it must not run a second time.
 */
export function endedPods(store: FactStore): Pick<PodSlots, 'recordEnd'> & {
  /** Terminal statuses by pod UID, of every pod whose facts can be read. */
  load(): Promise<Record<string, PodStatus>>;
} {
  return {
    recordEnd: fromPromise(async ({ input: { uid, status } }) => {
      if (isTerminal(status)) await store.write(uid, { ended: status });
    }),
    async load() {
      const facts = await Promise.all((await store.list()).map(async (uid) => [uid, await store.read(uid)] as const));
      const ended = facts.flatMap(([uid, known]) => {
        const status = known?.['ended'] as PodStatus | undefined;
        return isTerminal(status) ? [[uid, status] as const] : [];
      });
      return Object.fromEntries(ended);
    },
  };
}

const isTerminal = (status: PodStatus | undefined): status is PodStatus =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';
