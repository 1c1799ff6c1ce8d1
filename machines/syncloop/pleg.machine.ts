import { assign, enqueueActions, setup, stopChild } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';
import { slot, watchSlot } from '../slot.types.ts';
import { inspectionMachine } from './inspection.machine.ts';
import {
  afterEvent,
  afterInspection,
  afterListing,
  afterRequest,
  fewestTries,
  initialContext,
  isOutdated,
  type PlegContext,
} from './pleg.context.ts';
import type { InspectionReport, PlegInput } from './pleg.types.ts';
import { afterEcho } from './policy/diff-listing.ts';
import type { PlegReport, PlegRequest, PlegSlots, WatchRuntimeEvent } from './syncloop.types.ts';
import { withError } from '../with-error.ts';
import { plegWords } from './words.ts';

type InspectionOver = {
  type: `xstate.${'done' | 'error'}.actor.inspection.${string}`;
  actorId: string;
  error?: unknown;
};
type PlegEvent = PlegRequest | WatchRuntimeEvent | InspectionReport | InspectionOver;

/** Events of things that no listing has shown yet are gathered for this long, ms; doubles with each listing in vain. */
const LOCATE = 50;
const FIRST_RETRY = 250;
const LONGEST_RETRY = 10_000;

const slots: Pick<PlegSlots, 'listRuntime'> = { listRuntime: slot('listRuntime') };

const uidOfOver = ({ inspections }: PlegContext, actorId: string) =>
  Object.keys(inspections).find((uid) => inspections[uid]?.id === actorId);

/**
 * Keeps what is known of the runtime fresh (kubelet's pod lifecycle event generator): by looks at single pods on request
 * and on events, by a listing when something unknown is told of, and by listings from time to time that find what no
 * event told.
 */
export const plegMachine = setup({
  types: { context: {} as PlegContext, input: {} as PlegInput, events: {} as PlegEvent },
  actors: { inspection: inspectionMachine, watchRuntime: watchSlot<Record<string, never>>('watchRuntime'), ...slots },
  delays: {
    listPeriod: ({ context }) => context.settings.listPeriodMs,
    auditPeriod: ({ context }) => context.settings.auditPeriodMs,
    locate: ({ context }) => LOCATE * 2 ** fewestTries(context),
    retry: ({ context }) => Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(context.failures - 1, 10)),
  },
  guards: {
    mustList: ({ context }) => context.listAgain,
    mustLocate: ({ context }) => Object.keys(context.unlocated).length > 0,
    streams: ({ context }) => context.stream.open,
    lostStream: ({ context }) => !context.stream.open,
    /** Something newly told of need not wait as long as what several listings did not show. */
    isNewlyTold: ({ context, event }) => {
      if (event.type !== 'runtime.event' || fewestTries(context) === 0) return false;
      const { unlocated } = afterEvent(context, event.event);
      return unlocated !== undefined && fewestTries({ ...context, unlocated }) === 0;
    },
  },
  actions: {
    openStream: assign(({ event }) =>
      event.type === 'stream.opened' ? { stream: { open: true, kind: event.kind }, listAgain: true } : {},
    ),
    loseStream: assign(({ event }) => ({
      stream: { open: false, message: event.type === 'stream.lost' ? event.message : 'the watch ended' },
    })),
    wantListing: assign({ listAgain: true }),
    audit: assign({ auditing: true }),
    beginListing: assign({ listAgain: false }),
    attend: assign(({ context, event }) => {
      if (event.type === 'pod.inspect') return afterRequest(context, event.uid);
      return event.type === 'runtime.event' ? afterEvent(context, event.event) : {};
    }),
    /** One inspection a pod: a request for a pod that is being inspected goes to that inspection. */
    inspect: enqueueActions(({ context, enqueue, self }) => {
      for (const [uid, events] of Object.entries(context.requests)) {
        const running = context.inspections[uid];
        const pod = context.known[uid]?.pod;
        // One that has ended hears nothing any more, though word of its end may still be on its way.
        if (running?.getSnapshot().status === 'active') enqueue.sendTo(running, { type: 'inspection.again', events });
        else if (pod)
          enqueue.assign(({ context: { inspections, spawned }, spawn }) => ({
            spawned: spawned + 1,
            inspections: {
              ...inspections,
              [uid]: spawn('inspection', {
                id: `inspection.${uid}.${spawned}`,
                input: { parent: self, pod: { uid, name: pod.name, namespace: pod.namespace }, events },
              }),
            },
          }));
      }
      enqueue.assign({ requests: {} });
    }),
    hearEcho: assign(({ context, event }) => {
      if (event.type !== 'runtime.echo') return {};
      const { uid } = event.echo.pod;
      return { known: { ...context.known, [uid]: afterEcho(context.known[uid], event.echo) } };
    }),
    passExit: ({ context, event }) => {
      if (event.type === 'runtime.exited') context.parent.send(event satisfies PlegReport);
    },
    passOn: ({ context, event }) => {
      if (event.type !== 'inspection.observed') return;
      if (isOutdated(context, event.pod)) return;
      const report: PlegReport = { type: 'runtime.observed', pod: event.pod };
      context.parent.send(report);
    },
    learn: assign(({ context, event }) =>
      event.type === 'inspection.observed' || event.type === 'inspection.failed' || event.type === 'inspection.slow'
        ? afterInspection(context, event)
        : {},
    ),
    /** The first of a row of failures; it is tried again by itself. */
    recordFailure: ({ context, event }) => {
      if ((event.type !== 'inspection.failed' && event.type !== 'inspection.slow') || event.failures > 1) return;
      const pod = context.known[event.uid]?.pod;
      happened(context.parent, {
        type: 'Warning',
        reason: 'FailedSync',
        message: `error determining status: ${event.message}`,
        pod: pod && { uid: pod.uid, name: pod.name, namespace: pod.namespace },
      });
    },
    /** A listing counts as ended once the pods of the first one were looked at. */
    tellListing: enqueueActions(({ context: { owed, unseen, parent }, enqueue }) => {
      if (!owed || unseen?.length !== 0) return;
      const report: PlegReport = { type: 'runtime.listed', ...owed };
      enqueue(() => parent.send(report));
      enqueue.assign({ owed: undefined });
    }),
    reap: enqueueActions(({ context, enqueue, event }) => {
      const { actorId } = event as InspectionOver;
      enqueue(stopChild(actorId));
      const { [uidOfOver(context, actorId) ?? '']: _over, ...inspections } = context.inspections;
      enqueue.assign({ inspections });
    }),
    /** An inspection that threw is a bug; its pod is unknown again, so the next listing has it looked at anew. */
    mourn: enqueueActions(({ context, enqueue, event }) => {
      const { actorId, error } = event as InspectionOver;
      const uid = uidOfOver(context, actorId) ?? '';
      const { [uid]: _forgotten, ...known } = context.known;
      const { message } = AgentError.from(error, 'inspection');
      enqueue(() =>
        happened(context.parent, { type: 'Warning', reason: 'FailedSync', message: `${actorId} failed: ${message}` }),
      );
      enqueue.assign({ known, unseen: context.unseen?.filter((u) => u !== uid) });
    }),
    fail: assign(({ context }) => ({ failures: context.failures + 1, auditing: false })),
    reportFailure: ({ context }, error: unknown) => {
      const report: PlegReport = { type: 'runtime.listFailed', message: AgentError.from(error, 'list').message };
      context.parent.send(report);
    },
  },
}).createMachine({
  id: 'pleg',
  meta: plegWords,
  description: 'Finds out what changes in the runtime, by events where they can be had and by listings where not.',
  context: ({ input }) => initialContext(input),
  invoke: { src: 'watchRuntime', input: {}, onDone: { actions: 'loseStream' }, onError: { actions: 'loseStream' } },
  initial: 'listing',
  on: {
    'stream.opened': { actions: 'openStream' },
    'stream.lost': { actions: 'loseStream' },
    'list.now': { actions: 'wantListing' },
    'pod.inspect': { actions: ['attend', 'inspect'] },
    'runtime.event': { actions: ['attend', 'inspect'] },
    'runtime.echo': { actions: 'hearEcho' },
    'runtime.exited': { actions: 'passExit' },
    'inspection.observed': { actions: ['passOn', 'learn', 'tellListing'] },
    'inspection.failed': { actions: ['recordFailure', 'learn', 'tellListing'] },
    'inspection.slow': { actions: ['recordFailure', 'learn', 'tellListing'] },
    'xstate.done.actor.inspection.*': { actions: 'reap' },
    'xstate.error.actor.inspection.*': { actions: ['mourn', 'reap', 'tellListing'] },
  },
  states: {
    listing: {
      description: 'Asks the runtime for all that it has, in brief; pods that changed are then looked at one by one.',
      entry: 'beginListing',
      invoke: {
        src: 'listRuntime',
        input: {},
        onDone: {
          target: 'deciding',
          actions: [assign(({ context, event }) => afterListing(context, event.output)), 'inspect', 'tellListing'],
        },
        onError: {
          target: 'waitingToRetry',
          actions: ['fail', withError('reportFailure')],
        },
      },
    },
    deciding: {
      description: 'Chooses when to list next: at once, when something unknown was told of, soon, or as the auditor.',
      always: [
        { guard: 'mustList', target: 'listing' },
        { guard: 'mustLocate', target: 'waitingToLocate' },
        { guard: 'streams', target: 'waitingToAudit' },
        { target: 'waitingToPoll' },
      ],
    },
    waitingToPoll: {
      description: 'No event stream is open: waits a listing period.',
      always: [
        { guard: 'mustList', target: 'listing' },
        { guard: 'mustLocate', target: 'waitingToLocate' },
      ],
      after: { listPeriod: 'listing' },
    },
    waitingToAudit: {
      description: 'The event stream tells of changes: the next listing only checks that it told of all.',
      always: [
        { guard: 'mustList', target: 'listing' },
        { guard: 'mustLocate', target: 'waitingToLocate' },
        { guard: 'lostStream', target: 'waitingToPoll' },
      ],
      after: { auditPeriod: { target: 'listing', actions: 'audit' } },
    },
    waitingToLocate: {
      description: 'Something was told of that no listing has shown: gathers what else comes, then lists.',
      always: { guard: 'mustList', target: 'listing' },
      on: {
        'runtime.event': {
          guard: 'isNewlyTold',
          target: 'waitingToLocate',
          reenter: true,
          actions: ['attend', 'inspect'],
        },
      },
      after: { locate: 'listing' },
    },
    waitingToRetry: {
      description: 'The runtime did not answer; waits, ever longer, before it is asked again.',
      always: { guard: 'mustList', target: 'listing' },
      after: { retry: 'listing' },
    },
  },
});
