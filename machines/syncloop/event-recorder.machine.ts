import { assign, enqueueActions, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { CoreEvent } from '../kubernetes.types.ts';
import { slot } from '../slot.types.ts';
import type {
  EventRecorderInput,
  EventRecorderReport,
  EventRecorderRequest,
  EventRecorderSlots,
} from './event-recorder.types.ts';
import { correlateEvent, markWritten, NO_EVENTS, seriesOf, type Correlation } from './policy/correlate-events.ts';
import { withError } from '../with-error.ts';

interface EventRecorderContext extends EventRecorderInput {
  correlation: Correlation;
  /** Series that are to be written, each once, in the order in which they first had to be. */
  queue: string[];
  /** The series that is being written, as it is written. */
  writing?: { key: string; event: CoreEvent };
  /** Series that were left out since the queue was full. */
  dropped: number;
  failures: number;
  isDraining: boolean;
}

/** Series that wait at most; the oldest is left out for a new one. */
const MAX_QUEUE = 1000;
const FIRST_RETRY = 1000;
const MAX_RETRY = 30_000;
/** For which events are gathered before the first is written, ms: they come with starts of pods, and those come first. */
const GATHER = 500;

const slots: EventRecorderSlots = { createEvent: slot('createEvent'), patchEvent: slot('patchEvent') };

const agentError = (error: unknown) => AgentError.from(error, 'event');

function written({ writing }: EventRecorderContext): CoreEvent {
  if (!writing) throw new Error('eventRecorder: nothing is to be written');
  return writing.event;
}

/**
 * The one writer of events (client-go tools/record/event.go:recordToSink). It never holds up whoever tells of one: events
 * are counted as they come, and wait in a queue of bounded length for as long as the API server is away.
 */
export const eventRecorderMachine = setup({
  types: {
    context: {} as EventRecorderContext,
    input: {} as EventRecorderInput,
    events: {} as EventRecorderRequest | { type: 'drain.over' },
  },
  actors: { ...slots },
  delays: {
    retry: ({ context: { failures, env } }) =>
      Math.min(MAX_RETRY, FIRST_RETRY * 2 ** Math.min(failures - 1, 10)) * (1 + env.random() / 5),
    drain: ({ context }) => context.drainMs,
    gather: GATHER,
  },
  guards: {
    hasKnown: ({ context: { queue, correlation } }) => seriesOf(correlation, queue[0] ?? '')?.isWritten === true,
    hasNew: ({ context: { queue } }) => queue.length > 0,
    isDraining: ({ context }) => context.isDraining,
    isDrained: ({ context: { isDraining, queue } }) => isDraining && queue.length === 0,
    isNotFound: (_, error: unknown) => agentError(error).reason === 'NotFound',
    alreadyExists: (_, error: unknown) => agentError(error).reason === 'AlreadyExists',
    isTransient: (_, error: unknown) => agentError(error).transient,
  },
  actions: {
    /** Counts the event, and lets its series wait unless it does so already. */
    takeIn: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'event.happened') return;
      const { env, nodeName, dropped } = context;
      const { state, key } = correlateEvent(context.correlation, event.event, { nodeName, now: env.now() });
      const waits = key === undefined || context.queue.includes(key);
      // A series that is remembered no more has nothing to write.
      const queue = (waits ? context.queue : [...context.queue, key]).filter((each) => seriesOf(state, each));
      const tooMany = Math.max(0, queue.length - MAX_QUEUE);
      enqueue.assign({ correlation: state, queue: queue.slice(tooMany), dropped: dropped + tooMany });
      const message = `more than ${MAX_QUEUE} events wait to be written: the oldest are left out until fewer do`;
      if (tooMany > 0 && dropped === 0) enqueue(() => tell(context, { type: 'recorder.problem', message }));
    }),
    takeNext: assign(({ context: { queue, correlation } }) => {
      const [key = '', ...rest] = queue;
      const series = seriesOf(correlation, key);
      return { queue: rest, writing: series && { key, event: series.event } };
    }),
    noteWritten: assign(({ context: { correlation, writing } }) => ({
      correlation: markWritten(correlation, writing?.key ?? '', true),
      writing: undefined,
      failures: 0,
    })),
    noteForgotten: assign(({ context: { correlation, writing } }) => ({
      correlation: markWritten(correlation, writing?.key ?? '', false),
    })),
    giveUp: assign({ writing: undefined, failures: 0 }),
    /** It comes first again, though it may have happened anew meanwhile and wait already. */
    putBack: assign(({ context: { queue, writing, correlation, failures } }) => ({
      queue: [writing?.key ?? '', ...queue.filter((key) => key !== writing?.key)].filter((key) =>
        seriesOf(correlation, key),
      ),
      writing: undefined,
      failures: failures + 1,
    })),
    beginDrain: enqueueActions(({ enqueue, context }) => {
      if (context.isDraining) return;
      enqueue.assign({ isDraining: true });
      enqueue.raise({ type: 'drain.over' }, { delay: 'drain' });
    }),
    tellRefused: ({ context }, error: unknown) => {
      const { involvedObject, reason } = written(context);
      const of = [involvedObject.namespace, involvedObject.name].filter(Boolean).join('/');
      const message = `event ${reason} of ${of} is refused and left out: ${agentError(error).message}`;
      tell(context, { type: 'recorder.problem', message });
    },
    tellAway: ({ context }, error: unknown) => {
      const message = `events cannot be written, which is tried again until they can: ${agentError(error).message}`;
      if (context.failures === 0) tell(context, { type: 'recorder.problem', message });
    },
    /** The queue is empty again: how many it could not hold. */
    tellDropped: ({ context: { dropped, ...context } }) => {
      if (dropped > 0) tell(context, { type: 'recorder.problem', message: `${dropped} events were left out` });
    },
    forgetDropped: assign({ dropped: 0 }),
    tellDrained: ({ context }) => {
      const left = context.queue.length + (context.writing === undefined ? 0 : 1);
      tell(context, { type: 'recorder.drained', left });
    },
  },
}).createMachine({
  id: 'eventRecorder',
  description: 'Writes Kubernetes events: equal ones counted, similar ones combined, floods cut.',
  context: ({ input }) => ({
    ...input,
    correlation: NO_EVENTS,
    queue: [],
    dropped: 0,
    failures: 0,
    isDraining: false,
  }),
  initial: 'waiting',
  on: {
    'event.happened': { actions: 'takeIn' },
    'recorder.drain': { actions: 'beginDrain' },
    'drain.over': '.drained',
  },
  states: {
    waiting: {
      description: 'Everything is written; at a drain it is done.',
      always: [
        { guard: 'isDrained', target: 'drained' },
        { guard: 'hasNew', target: 'waitingForMore' },
      ],
    },
    waitingForMore: {
      description: 'Something is to be written; more may come at once, and what it tells of comes first.',
      always: { guard: 'isDraining', target: 'next' },
      after: { gather: 'next' },
    },
    next: {
      description: 'Writes what waits, one after the other.',
      always: [
        { guard: 'hasKnown', target: 'patchingEvent', actions: 'takeNext' },
        { target: 'creatingEvent', actions: 'takeNext' },
      ],
    },
    creatingEvent: {
      description: 'Creates an event, with all that happened of it so far.',
      invoke: {
        src: 'createEvent',
        input: ({ context }) => ({ event: written(context) }),
        onDone: { target: 'settled', actions: 'noteWritten' },
        onError: [
          { guard: withError('alreadyExists'), target: 'settled', actions: 'noteWritten' },
          {
            guard: withError('isTransient'),
            target: 'waitingToRetry',
            actions: [withError('tellAway'), 'putBack'],
          },
          { target: 'settled', actions: [withError('tellRefused'), 'giveUp'] },
        ],
      },
    },
    patchingEvent: {
      description: 'Writes the new count of an event that the API server has.',
      invoke: {
        src: 'patchEvent',
        input: ({ context }) => {
          const { metadata, count, lastTimestamp, message } = written(context);
          const { namespace = '', name = '' } = metadata;
          return { namespace, name, patch: { count, lastTimestamp, message } };
        },
        onDone: { target: 'settled', actions: 'noteWritten' },
        onError: [
          { guard: withError('isNotFound'), target: 'creatingEvent', actions: 'noteForgotten' },
          {
            guard: withError('isTransient'),
            target: 'waitingToRetry',
            actions: [withError('tellAway'), 'putBack'],
          },
          { target: 'settled', actions: [withError('tellRefused'), 'giveUp'] },
        ],
      },
    },
    settled: {
      description: 'One is done with; where none waits any more, those that were left out are told of.',
      always: [
        { guard: 'hasNew', target: 'next' },
        { target: 'waiting', actions: ['tellDropped', 'forgetDropped'] },
      ],
    },
    waitingToRetry: {
      description:
        'The API server does not take events now; waits before the next try, at a drain not at all at first.',
      on: { 'recorder.drain': { target: 'waiting', actions: 'beginDrain' } },
      after: { retry: 'waiting' },
    },
    drained: {
      description: 'Nothing is left, or there is no more time for what is.',
      entry: 'tellDrained',
      type: 'final',
    },
  },
});

function tell({ parent }: Pick<EventRecorderContext, 'parent'>, report: EventRecorderReport): void {
  parent.send(report);
}
