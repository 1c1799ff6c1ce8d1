import { assign, setup } from 'xstate';
import type { AgentEnv, ParentRef } from '../agent.types.ts';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import type { HousekeepingSlots } from './syncloop.types.ts';
import { withError } from '../with-error.ts';

export interface HousekeepingInput {
  env: AgentEnv;
  parent: ParentRef;
  /** Sweeping period while there may be something to sweep, ms (kubelet: 2000). */
  periodMs: number;
}

/**
 * syncloop → housekeeping: UIDs of every pod of which nothing may be swept. Sent once absence may be judged (every source
 * delivered, the runtime was listed) and again with every change. Nothing is swept before the first.
 */
export interface HousekeepingKeep {
  type: 'housekeeping.keep';
  keep: string[];
}

interface HousekeepingContext extends HousekeepingInput {
  keep: string[];
  /** `keep` changed, something was removed or something failed: the next sweep may find more. */
  restless: boolean;
  /** Sweeps that failed in a row. */
  failures: number;
  /** Leftovers removed since the start. */
  removed: number;
}

/** Leftovers that nobody of this agent made are looked for once in so many periods. */
const IDLE_PERIODS = 30;
const LONGEST_RETRY_PERIODS = 32;

const slots: HousekeepingSlots = { sweep: slot('sweep') };

const sameSet = (a: readonly string[], b: readonly string[]) => {
  const known = new Set(a);
  return known.size === new Set(b).size && b.every((uid) => known.has(uid));
};

const succeeded = (context: HousekeepingContext, removed: number) => ({
  failures: 0,
  removed: context.removed + removed,
  restless: context.restless || removed > 0,
});

/** Sweeps what pods have left behind: directories, cgroups, dead containers (kubelet_pods.go:HandlePodCleanups). */
export const housekeepingMachine = setup({
  types: {
    context: {} as HousekeepingContext,
    input: {} as HousekeepingInput,
    events: {} as HousekeepingKeep,
  },
  actors: { ...slots },
  delays: {
    sweepPeriod: ({ context: { periodMs, failures } }) =>
      periodMs * Math.min(2 ** Math.min(failures, 10), LONGEST_RETRY_PERIODS),
    idlePeriod: ({ context }) => context.periodMs * IDLE_PERIODS,
  },
  guards: { isRestless: ({ context }) => context.restless },
  actions: {
    keep: assign(({ context, event }) => ({
      keep: event.keep,
      restless: context.restless || !sameSet(context.keep, event.keep),
    })),
    settle: assign({ restless: false }),
    fail: assign(({ context }) => ({ failures: context.failures + 1, restless: true })),
    /** The first failure of a row: the ones after it say the same. */
    record: ({ context }, error: unknown) => {
      if (context.failures > 0) return;
      const { message } = AgentError.from(error, 'sweep');
      happened(context.parent, { type: 'Warning', reason: 'ContainerGCFailed', message });
    },
  },
}).createMachine({
  id: 'housekeeping',
  description: 'Sweeps what pods that are gone have left behind, never anything of a pod that is to be kept.',
  context: ({ input }) => ({ ...input, keep: [], restless: true, failures: 0, removed: 0 }),
  initial: 'waitingForSources',
  on: { 'housekeeping.keep': { actions: 'keep' } },
  states: {
    waitingForSources: {
      description: 'Nothing is swept before it is known which pods are to be kept.',
      on: { 'housekeeping.keep': { target: 'deciding', actions: 'keep' } },
    },
    deciding: {
      description: 'Chooses between a sweep soon, because there may be something to sweep, and a sweep some time.',
      always: [{ guard: 'isRestless', target: 'waiting' }, { target: 'waitingForChange' }],
    },
    waiting: {
      description: 'Waits for a period, longer after failures, so that changes that come together need one sweep.',
      after: { sweepPeriod: 'sweeping' },
    },
    waitingForChange: {
      description: 'The last sweep found nothing; waits until other pods are to be kept, or for a look now and then.',
      always: { guard: 'isRestless', target: 'waiting' },
      after: { idlePeriod: 'sweeping' },
    },
    sweeping: {
      description: 'Removes what belongs to no pod that is to be kept.',
      entry: 'settle',
      invoke: {
        src: 'sweep',
        input: ({ context }) => ({ keep: context.keep }),
        onDone: {
          target: 'deciding',
          actions: assign(({ context, event }) => succeeded(context, event.output.removed.length)),
        },
        onError: {
          target: 'deciding',
          actions: [withError('record'), 'fail'],
        },
      },
    },
  },
});
