import { assign, enqueueActions, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { Pod } from '../kubernetes.types.ts';
import { happened } from '../notify.ts';
import { slot, watchSlot } from '../slot.types.ts';
import {
  afterFailedKeeping,
  recalledCopies,
  withOthers,
  backoff,
  deliveryOf,
  initialContext,
  LONGEST_RETRY,
  toKeep,
  type ApiSourceContext,
} from './api-source.context.ts';
import type { ApiSourceInput, ApiSourceSlots, WatchPodsEvent, WatchPodsInput } from './api-source.types.ts';
import { afterList, afterRecall, afterWatch } from './policy/api-set.ts';
import { withError } from '../with-error.ts';
import { apiSourceWords } from './words.ts';

/** How long a boot waits for the API before what an earlier agent kept is used, ms. */
const PATIENCE = 3000;
/** A watch that lasted this long, ms, or brought anything, was a good one, and is begun again at once. */
const GOOD_WATCH = 1000;
/** For which news are gathered before they are kept, ms: pods come in bursts, and what they are to do comes first. */
const GATHER = 500;
/** Watches that fail in a row before the pods are listed anew: the place where they begin may be what is wrong. */
const WATCHES_BEFORE_LIST = 3;

const slots: ApiSourceSlots = {
  listPods: slot('listPods'),
  recallPods: slot('recallPods'),
  keepPods: slot('keepPods'),
};

const seenAt = ({ env }: ApiSourceContext) => new Date(env.now()).toISOString();
const recordUnkept = (says: string) =>
  ({
    type: 'recordUnkept',
    params: ({ event }: { event: { error: unknown } }) => ({ says, error: event.error }),
  }) as const;
const watchFailed = { target: 'waitingToWatch', actions: 'failWatch' } as const;

/**
 * The API's pods of this node (config/apiserver.go): listed, then followed by a watch. The parent gets the whole set whenever
 * something of it changed that the agent acts on, and every object's newest state for the writer of statuses.
 */
export const apiSourceMachine = setup({
  types: { context: {} as ApiSourceContext, input: {} as ApiSourceInput, events: {} as WatchPodsEvent },
  actors: { watchPods: watchSlot<WatchPodsInput>('watchPods'), ...slots },
  delays: {
    patience: PATIENCE,
    listRetry: ({ context }) => {
      const { listFailures, watchFailures, retryAfterMs } = context;
      return Math.max(retryAfterMs, backoff(context, Math.max(listFailures, watchFailures)));
    },
    watchRetry: ({ context }) => backoff(context, context.watchFailures),
    keepRetry: LONGEST_RETRY,
    gather: GATHER,
  },
  guards: {
    isUnheard: ({ context }) => context.resourceVersion === undefined,
    wasGoodWatch: ({ context: { heardAny, watchedAt, env }, event }) =>
      event.type === 'watch.ended' &&
      event.message === undefined &&
      (heardAny || env.elapsed() - watchedAt >= GOOD_WATCH),
    isFirstFailure: ({ context }) => context.watchFailures === 0,
    isStuck: ({ context }) => context.watchFailures >= WATCHES_BEFORE_LIST,
    /** Only what the API has tells which of the copies are to stay. */
    mustRecall: ({ context }) => context.unrecalled && context.resourceVersion !== undefined,
    hasToKeep: ({ context }) => {
      const { keep, forget } = toKeep(context);
      return keep.length + forget.length > 0;
    },
  },
  actions: {
    takeRecalled: assign(({ context }, pods: Pod[]) => {
      const set = afterRecall(pods, seenAt(context));
      return { set, kept: recalledCopies(set) };
    }),
    failRecall: assign({ unrecalled: true }),
    /** Copies of an earlier agent that this one has not written itself. */
    takeCopies: assign(({ context }, pods: Pod[]) => {
      const copies = recalledCopies(afterRecall(pods, seenAt(context)));
      return { unrecalled: false, kept: withOthers(context.kept, copies) };
    }),
    goOffline: assign({ offline: true }),
    takeList: assign(({ context }, { resourceVersion, items }: { resourceVersion: string; items: Pod[] }) => ({
      set: afterList(context.set, items, seenAt(context)),
      resourceVersion,
      listFailures: 0,
      retryAfterMs: 0,
      unavailable: undefined,
    })),
    /** The first failure of a row is told. */
    failList: enqueueActions(({ context, enqueue }, error: unknown) => {
      const { listFailures, parent } = context;
      const { message, retryAfterMs = 0 } = AgentError.from(error, 'list pods');
      enqueue.assign({ listFailures: listFailures + 1, retryAfterMs, unavailable: message, offline: true });
      if (listFailures > 0) return;
      enqueue(() =>
        happened(parent, { type: 'Warning', reason: 'FailedSync', message: `cannot list pods: ${message}` }),
      );
    }),
    beginWatch: assign(({ context }) => ({ watchedAt: context.env.elapsed(), heardAny: false })),
    takeBatch: assign(({ context, event }) => {
      if (event.type !== 'watch.batch') return {};
      return {
        set: afterWatch(context.set, event.events, seenAt(context)),
        resourceVersion: event.events.at(-1)?.object.metadata?.resourceVersion ?? context.resourceVersion,
        heardAny: true,
        watchFailures: 0,
      };
    }),
    forgiveWatch: assign({ watchFailures: 0 }),
    failWatch: assign(({ context }) => ({ watchFailures: context.watchFailures + 1 })),
    deliver: enqueueActions(({ context, enqueue }) => {
      const { parent, told } = context;
      const { set, api, events } = deliveryOf(context);
      for (const event of events) if (!told.includes(event.message)) enqueue(() => happened(parent, event));
      enqueue.assign({ told: events.map(({ message }) => message) });
      if (set) enqueue(() => parent.send(set));
      if (api) enqueue(() => parent.send(api));
      enqueue.assign({ ...(set && { delivered: set }), ...(api && { deliveredApi: api.pods }) });
    }),
    beginKeeping: assign(({ context }) => ({ keeping: context.delivered?.pods ?? [] })),
    noteKept: assign(({ context }) => ({ kept: context.keeping, keepFailures: 0 })),
    failKeeping: assign(({ context }) => ({
      kept: afterFailedKeeping(context),
      keepFailures: context.keepFailures + 1,
    })),
    /** The first failure of a row is told. */
    recordUnkept: ({ context }, { says, error }: { says: string; error: unknown }) => {
      if (context.keepFailures > 0) return;
      const { message } = AgentError.from(error, 'keep pods');
      happened(context.parent, { type: 'Warning', reason: 'FailedSync', message: `${says}: ${message}` });
    },
  },
}).createMachine({
  id: 'apiSource',
  meta: apiSourceWords,
  description: 'Lists and watches the pods that are bound to this node, and tells what changed of them.',
  context: ({ input }) => initialContext(input),
  type: 'parallel',
  states: {
    view: {
      description: 'What the API has, by a listing and what a watch tells since.',
      initial: 'recalling',
      states: {
        recalling: {
          description: 'Looks up the pods that an earlier agent kept, for an API server that is away.',
          invoke: {
            src: 'recallPods',
            input: {},
            onDone: {
              target: 'listing',
              actions: { type: 'takeRecalled', params: ({ event }) => event.output },
            },
            onError: {
              target: 'listing',
              actions: [recordUnkept('the pods of an earlier agent are not known'), 'failRecall'],
            },
          },
        },
        listing: {
          description: 'Lists the pods; one that takes long makes what was recalled count meanwhile.',
          after: { patience: { guard: 'isUnheard', actions: ['goOffline', 'deliver'] } },
          invoke: {
            src: 'listPods',
            input: ({ context: { nodeName } }) => ({ nodeName }),
            onDone: {
              target: 'following',
              actions: [{ type: 'takeList', params: ({ event }) => event.output }, 'deliver'],
            },
            onError: { target: 'waitingToList', actions: [withError('failList'), 'deliver'] },
          },
        },
        following: {
          description: 'Takes in what a watch tells.',
          entry: 'beginWatch',
          invoke: {
            src: 'watchPods',
            input: ({ context: { nodeName, resourceVersion = '' } }) => ({ nodeName, resourceVersion }),
            onDone: watchFailed,
            onError: watchFailed,
          },
          on: {
            'watch.batch': { actions: ['takeBatch', 'deliver'] },
            'watch.ended': [
              { guard: 'wasGoodWatch', target: 'following', reenter: true, actions: 'forgiveWatch' },
              watchFailed,
            ],
            'watch.expired': [
              { guard: 'isFirstFailure', target: 'listing', actions: 'failWatch' },
              { target: 'waitingToList', actions: 'failWatch' },
            ],
          },
        },
        waitingToWatch: {
          meta: { holdsBack: true },
          description: 'The watch could not be had or was cut; waits, ever longer, before the next.',
          after: { watchRetry: [{ guard: 'isStuck', target: 'listing' }, { target: 'following' }] },
        },
        waitingToList: {
          meta: { holdsBack: true },
          description: 'The pods could not be listed: what is known of them stands; waits, ever longer.',
          after: { listRetry: 'listing' },
        },
      },
    },
    memory: {
      description: 'What a later agent will know of the pods where it cannot reach the API.',
      initial: 'waiting',
      states: {
        waiting: {
          description: 'Every pod is kept as it was delivered.',
          always: [
            { guard: 'hasToKeep', target: 'waitingForMore' },
            { guard: 'mustRecall', target: 'recallingCopies' },
          ],
        },
        recallingCopies: {
          description: 'Looks up once more what an earlier agent kept, so that what is gone meanwhile is forgotten.',
          invoke: {
            src: 'recallPods',
            input: {},
            onDone: { target: 'waiting', actions: { type: 'takeCopies', params: ({ event }) => event.output } },
            onError: 'waitingToRetry',
          },
        },
        waitingForMore: {
          description: 'Something is to be kept or forgotten; more may come at once.',
          after: { gather: 'keeping' },
        },
        keeping: {
          description: 'Keeps pods that are new or changed and forgets those that are gone.',
          entry: 'beginKeeping',
          invoke: {
            src: 'keepPods',
            input: ({ context }) => toKeep(context),
            onDone: { target: 'waiting', actions: 'noteKept' },
            onError: {
              target: 'waitingToRetry',
              actions: [recordUnkept('the pods of the API could not be kept'), 'failKeeping'],
            },
          },
        },
        waitingToRetry: {
          description: 'The pods could not be kept; waits before the next try.',
          after: { keepRetry: 'waiting' },
        },
      },
    },
  },
});
