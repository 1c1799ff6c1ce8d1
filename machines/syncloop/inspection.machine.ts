import { assign, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { ObservedPod, RuntimeEvent } from '../runtime.types.ts';
import { slot } from '../slot.types.ts';
import type { InspectionAgain, InspectionInput, InspectionReport } from './pleg.types.ts';
import { listedView, shows } from './policy/diff-listing.ts';
import type { PlegSlots } from './syncloop.types.ts';
import { withError } from '../with-error.ts';

interface InspectionContext extends Omit<InspectionInput, 'events'> {
  /** Events that no look has shown yet, the newest of each container. */
  awaited: Record<string, RuntimeEvent>;
  /** Asked for while a look was under way: that look may be too old to show it. */
  dirty: boolean;
  /** Looks since the last request. */
  looks: number;
  /** Looks that failed in a row. */
  failures: number;
}

/** A look that takes longer than this, ms, holds up nobody who waits for the whole. */
const SLOW = 5000;
/**
 * The runtime's records follow its events within some ms to some hundred, depending on its load; looks are spread over
 * about two seconds, each wait twice as long as the one before, then left to the auditor.
 */
const FIRST_SETTLE = 20;
const SETTLE_GROWTH = 2;
const MOST_LOOKS = 8;
const FIRST_RETRY = 500;
const LONGEST_RETRY = 10_000;

const slots: Pick<PlegSlots, 'observePod'> = { observePod: slot('observePod') };

const byContainer = (events: readonly RuntimeEvent[]) => Object.fromEntries(events.map((e) => [e.containerId, e]));

function unseen(awaited: Record<string, RuntimeEvent>, pod: ObservedPod): Record<string, RuntimeEvent> {
  const view = listedView(pod);
  return byContainer(Object.values(awaited).filter((event) => !shows(view, event)));
}

/** Looks at one pod until all that was told of it is seen. There is at most one per pod, so looks never overtake each other. */
export const inspectionMachine = setup({
  types: { context: {} as InspectionContext, input: {} as InspectionInput, events: {} as InspectionAgain },
  actors: { ...slots },
  delays: {
    slow: SLOW,
    settle: ({ context }) => FIRST_SETTLE * SETTLE_GROWTH ** (context.looks - 1),
    retry: ({ context }) => Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(context.failures - 1, 10)),
  },
  guards: {
    isDirty: ({ context }) => context.dirty,
    awaitsMore: ({ context }) => Object.keys(context.awaited).length > 0 && context.looks < MOST_LOOKS,
  },
  actions: {
    look: assign({ dirty: false }),
    note: assign(({ context, event }) => ({
      awaited: { ...context.awaited, ...byContainer(event.events) },
      dirty: true,
      looks: 0,
    })),
    report: ({ context }, report: InspectionReport) => context.parent.send(report),
    reportSlow: ({ context }) => {
      const report: InspectionReport = {
        type: 'inspection.slow',
        uid: context.pod.uid,
        message: `the runtime has not answered for ${SLOW / 1000} s`,
        failures: context.failures + 1,
      };
      context.parent.send(report);
    },
    fail: assign(({ context }) => ({ failures: context.failures + 1 })),
    reportFailure: ({ context }, error: unknown) => {
      const { message } = AgentError.from(error, 'observe pod');
      const report: InspectionReport = {
        type: 'inspection.failed',
        uid: context.pod.uid,
        message,
        failures: context.failures,
      };
      context.parent.send(report);
    },
  },
}).createMachine({
  id: 'inspection',
  description: 'Looks at one pod in full and tells pleg what the runtime has of it.',
  context: ({ input: { events, ...input } }) => ({
    ...input,
    awaited: byContainer(events),
    dirty: false,
    looks: 0,
    failures: 0,
  }),
  initial: 'inspecting',
  on: { 'inspection.again': { actions: 'note' } },
  states: {
    inspecting: {
      description: 'Asks the runtime for everything it has of the pod.',
      entry: 'look',
      after: { slow: { actions: 'reportSlow' } },
      invoke: {
        src: 'observePod',
        input: ({ context: { pod } }) => pod,
        onDone: {
          target: 'deciding',
          actions: [
            assign(({ context, event }) => ({
              awaited: unseen(context.awaited, event.output),
              looks: context.looks + 1,
              failures: 0,
            })),
            {
              type: 'report',
              params: ({ event }: { event: { output: ObservedPod } }) => ({
                type: 'inspection.observed',
                pod: event.output,
              }),
            },
          ],
        },
        onError: {
          target: 'waitingToRetry',
          actions: ['fail', withError('reportFailure')],
        },
      },
    },
    deciding: {
      description: 'Another look is needed if more happened meanwhile, or if this one did not show what was told.',
      always: [
        { guard: 'isDirty', target: 'inspecting' },
        { guard: 'awaitsMore', target: 'waitingToSettle' },
        { target: 'done' },
      ],
    },
    waitingToSettle: {
      description: 'The runtime told of something that it does not show yet; waits a moment before the next look.',
      on: { 'inspection.again': { target: 'inspecting', actions: 'note' } },
      after: { settle: 'inspecting' },
    },
    waitingToRetry: {
      description: 'The runtime did not say what it has of the pod; waits, ever longer, before it is asked again.',
      after: { retry: 'inspecting' },
    },
    done: { description: 'Everything that was told of the pod is seen and passed on.', type: 'final' },
  },
});
