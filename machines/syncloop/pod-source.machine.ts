import { assign, enqueueActions, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { RecordedEvent } from '../agent.types.ts';
import { happened } from '../notify.ts';
import { sameJson } from '../pod/policy/same-json.ts';
import { slot, watchSlot } from '../slot.types.ts';
import type {
  PodSourceInput,
  PodSourceSlots,
  RawManifest,
  WatchManifestsEvent,
  WatchManifestsInput,
} from './pod-source.types.ts';
import { keepingOf, outcome, readSet, vanished, type KeptManifests, type ManifestSet } from './policy/manifest-set.ts';
import type { SourceSet } from './syncloop.types.ts';
import { withError } from '../with-error.ts';
import { podSourceWords } from './words.ts';

interface PodSourceContext extends PodSourceInput {
  set: ManifestSet;
  /** Last good texts that outlive the agent, as they were written. */
  kept: KeptManifests;
  /** They could not be written: the next reading tries again. */
  unkept: boolean;
  /** The reading that is to be delivered. */
  raw: RawManifest[];
  /** Origins that the last reading did not find any more; given up when the next one does not find them either. */
  lost: string[];
  /** Something changed while reading. */
  dirty: boolean;
  /** Why the source as a whole cannot be read; why it cannot be watched. */
  unavailable?: string;
  unwatched?: string;
  /** It was read at least once. */
  read: boolean;
  /** Readings that failed in a row. */
  failures: number;
  /** Last answer that the parent was given; undefined before the first. */
  delivered?: SourceSet;
  /** Problems that were told as events and still stand. */
  told: string[];
}

/** An editor that replaces a file takes a few ms between the old one and the new one. */
const CONFIRM = 100;
const FIRST_RETRY = 1000;

const slots: PodSourceSlots = {
  readManifests: slot('readManifests'),
  recallManifests: slot('recallManifests'),
  keepManifests: slot('keepManifests'),
};

const notThere = ({ set, raw, kept, read }: PodSourceContext) => vanished(set, raw, read ? {} : kept);
const newlyLost = (context: PodSourceContext) => notThere(context).filter((origin) => !context.lost.includes(origin));
/** For what the agent keeps: the error of an effect, as an event that says what is lost by it. */
const failedToKeep = (says: string) =>
  ({
    type: 'recordUnkept',
    params: ({ event }: { event: { error: unknown } }) => ({ says, error: event.error }),
  }) as const;

/** A URL as it may be shown. */
const withoutCredentials = (location: string) => location.replace(/^(https?:\/\/)[^/@]*@/, '$1');

/** What the parent is to know now, and the events that tell of its problems. */
function answer(context: PodSourceContext, set: ManifestSet): { delivery: SourceSet; events: RecordedEvent[] } {
  const { source, unavailable, unwatched } = context;
  const origin = withoutCredentials(context.location);
  const { pods, problems, events } = outcome(set, source);
  const whole = [unavailable, unwatched].filter((message) => message !== undefined);
  const all = [...whole.map((message) => ({ origin, message: `${origin}: ${message}` })), ...problems];
  const plain = all.filter(({ message }) => !events.some((event) => event.message === message));
  return {
    delivery: { type: 'source.set', source, pods, problems: all },
    events: [
      ...plain.map(({ message }) => ({ type: 'Warning' as const, reason: 'FailedValidation', message })),
      ...events,
    ],
  };
}

/**
 * One source of static pods, a folder, a file or a URL (config/file.go, config/http.go). Its parent gets the whole set
 * whenever it changed, and the first one always; a source that never could be read delivers nothing.
 */
export const podSourceMachine = setup({
  types: {
    context: {} as PodSourceContext,
    input: {} as PodSourceInput,
    events: {} as WatchManifestsEvent,
  },
  actors: { watchManifests: watchSlot<WatchManifestsInput>('watchManifests'), ...slots },
  delays: {
    period: ({ context }) => context.periodMs,
    confirm: CONFIRM,
    retry: ({ context: { failures, periodMs } }) => Math.min(periodMs, FIRST_RETRY * 2 ** Math.min(failures - 1, 10)),
  },
  guards: {
    lostSome: ({ context }) => newlyLost(context).length > 0,
    isDirty: ({ context }) => context.dirty,
    hasToKeep: ({ context: { set, kept, unkept } }) => {
      const { keep, forget } = keepingOf(set, kept);
      return !unkept && keep.length + forget.length > 0;
    },
  },
  actions: {
    noteChange: assign({ dirty: true, unwatched: undefined }),
    beginReading: assign({ dirty: false }),
    loseWatch: assign(({ event }) => ({
      unwatched: `cannot be watched: ${event.type === 'watch.failed' ? event.message : 'the watch ended'}`,
    })),
    noteLost: assign(({ context }) => ({ lost: notThere(context) })),
    take: assign(({ context: { set, raw, nodeName, source, env, kept, read } }) => ({
      set: readSet(set, raw, { nodeName, source, seen: new Date(env.now()).toISOString() }, read ? {} : kept),
      lost: [],
      unkept: false,
      read: true,
      failures: 0,
      unavailable: undefined,
    })),
    fail: assign(({ context }, error: unknown) => ({
      failures: context.failures + 1,
      unavailable: AgentError.from(error, 'read manifests').message,
    })),
    recordUnkept: ({ context }, { says, error }: { says: string; error: unknown }) => {
      const { message } = AgentError.from(error, 'keep manifests');
      happened(context.parent, { type: 'Warning', reason: 'FailedSync', message: `${says}: ${message}` });
    },
    /** Sends what changed; a source that has never been read delivers nothing, which is not the same as no pods. */
    deliver: enqueueActions(({ context, enqueue }) => {
      const { delivery, events } = answer(context, context.set);
      for (const event of events) {
        if (!context.told.includes(event.message)) enqueue(() => happened(context.parent, event));
      }
      enqueue.assign({ told: events.map(({ message }) => message) });
      if (!context.read || sameJson(delivery, context.delivered)) return;
      enqueue(() => context.parent.send(delivery));
      enqueue.assign({ delivered: delivery });
    }),
  },
}).createMachine({
  id: 'podSource',
  meta: podSourceWords,
  description: 'Reads pod manifests from a folder, a file or a URL and tells the whole set whenever it changed.',
  context: ({ input }) => ({
    ...input,
    set: {},
    kept: {},
    unkept: false,
    raw: [],
    lost: [],
    dirty: false,
    read: false,
    failures: 0,
    told: [],
  }),
  invoke: {
    src: 'watchManifests',
    input: ({ context: { source, location } }) => ({ source, location }),
    onDone: { actions: ['loseWatch', 'deliver'] },
    onError: { actions: ['loseWatch', 'deliver'] },
  },
  initial: 'recalling',
  on: {
    'manifests.changed': { actions: 'noteChange' },
    'watch.failed': { actions: ['loseWatch', 'deliver'] },
  },
  states: {
    recalling: {
      description: 'Looks up the last good manifests that an earlier agent kept, for those that are broken now.',
      invoke: {
        src: 'recallManifests',
        input: ({ context: { source } }) => ({ source }),
        onDone: { target: 'reading', actions: assign(({ event }) => ({ kept: event.output })) },
        onError: { target: 'reading', actions: failedToKeep('the last good manifests are not known') },
      },
    },
    reading: {
      description: 'Reads every manifest that there is now.',
      entry: 'beginReading',
      invoke: {
        src: 'readManifests',
        input: ({ context: { location } }) => ({ location }),
        onDone: { target: 'deciding', actions: assign(({ event }) => ({ raw: event.output })) },
        onError: {
          target: 'waitingToRetry',
          actions: [withError('fail'), 'deliver'],
        },
      },
    },
    deciding: {
      description: 'A set that lacks a manifest is looked at twice; any other is delivered.',
      always: [
        { guard: 'lostSome', target: 'waitingToConfirm', actions: 'noteLost' },
        { target: 'waiting', actions: ['take', 'deliver'] },
      ],
    },
    waitingToConfirm: {
      description:
        'A manifest is not there any more: an editor may be about to put it back, so it is looked for again.',
      after: { confirm: 'reading' },
    },
    waiting: {
      description: 'Waits for word of a change, and reads again after a period in case there was none.',
      always: [
        { guard: 'isDirty', target: 'reading' },
        { guard: 'hasToKeep', target: 'keeping' },
      ],
      after: { period: 'reading' },
    },
    keeping: {
      description:
        'Keeps the last good text of what was read, so that a bad edit touches nothing after a restart either.',
      invoke: {
        src: 'keepManifests',
        input: ({ context: { source, set, kept } }) => {
          const { keep, forget } = keepingOf(set, kept);
          return { source, keep, forget };
        },
        onDone: {
          target: 'waiting',
          actions: assign(({ context: { set, kept } }) => ({ kept: keepingOf(set, kept).kept })),
        },
        onError: {
          target: 'waiting',
          actions: [failedToKeep('the last good manifests could not be kept'), assign({ unkept: true })],
        },
      },
    },
    waitingToRetry: {
      description: 'The source as a whole could not be read: its last set stands; waits before the next try.',
      always: { guard: 'isDirty', target: 'reading' },
      after: { retry: 'reading' },
    },
  },
});
