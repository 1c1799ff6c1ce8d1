import { assign, enqueueActions, not, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { Pod, PodStatus } from '../kubernetes.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import type { ApiPod } from './api-source.types.ts';
import { asApiPod } from './policy/api-pod.ts';
import { nextWrite, type Write, type WriterView } from './policy/next-write.ts';
import { isNewer } from './policy/resource-version.ts';
import type { PodWriterEvent, PodWriterInput, PodWriterSlots } from './status-writer.types.ts';
import { withError } from '../with-error.ts';
import { podWriterWords } from './words.ts';

interface PodWriterContext extends PodWriterInput, WriterView {
  /** What is due now. */
  next: Write;
  /** The status that is being written. */
  asked?: PodStatus;
  /** Writes that failed in a row, why the last one did, and how long the API asks to be left alone, ms. */
  failures: number;
  failure?: string;
  retryAfterMs: number;
  /** The failure that an event has told of. */
  told?: string;
}

const FIRST_RETRY = 250;
/** The kubelet looks every 10 s for what is not written (facts/constants.tsv status). */
const LONGEST_RETRY = 10_000;
/** For which the status of a pod that has not begun stands back, ms: its start comes first, and makes the next status. */
const STAND_BACK = 500;
/** For which a mirror pod stays away that somebody deleted, ms: kubectl, which looks each 100 ms, takes another for the same. */
const ABSENCE = 1000;
/** The API has another view of the object than the writer: it has to be looked at. */
const DISAGREEMENTS = ['NotFound', 'Conflict', 'AlreadyExists'];

const slots: PodWriterSlots = {
  patchStatus: slot('patchStatus'),
  getPod: slot('getPod'),
  deletePod: slot('deletePod'),
  createMirror: slot('createMirror'),
  deleteMirror: slot('deleteMirror'),
};

/** A change of what is known, with what is due then. */
function after(context: PodWriterContext, change: Partial<PodWriterContext>): Partial<PodWriterContext> {
  return { ...change, next: nextWrite({ ...context, ...change }) };
}

const SUCCEEDED = { failures: 0, failure: undefined, retryAfterMs: 0, told: undefined };
const isStatic = ({ wanted, api }: PodWriterContext) =>
  wanted ? wanted.source !== 'api' : api?.mirrorHash !== undefined;

/** What the API was heard to have. News that are older than an own write are none, unless its history began anew. */
function heard(context: PodWriterContext, version: string, pod: ApiPod | undefined): Partial<PodWriterContext> {
  const { api } = context;
  const isRestored = context.heard !== undefined && isNewer(context.heard, version);
  const isOld = api !== undefined && isNewer(api.resourceVersion, pod?.resourceVersion ?? version);
  return after(context, { heard: version, api: isOld && !isRestored ? api : seen(context, pod) });
}

/** The object as this writer may write to it: a mirror pod that was deleted is gone though a finalizer still shows it. */
function seen(context: PodWriterContext, pod: ApiPod | undefined): ApiPod | undefined {
  if (!isStatic(context)) return pod?.uid === context.wanted?.pod.metadata.uid ? pod : undefined;
  return pod?.mirrorHash !== undefined && pod.uid !== context.deleted ? pod : undefined;
}

const objectOf = ({ context: { namespace, name, api } }: { context: PodWriterContext }) => ({
  namespace,
  name,
  uid: api?.uid ?? '',
});

/** Tells why the API's object cannot be what it is to be. */
function tell({ parent, name, namespace, wanted, api }: PodWriterContext, message: string): void {
  const uid = wanted?.pod.metadata.uid ?? api?.uid ?? '';
  happened(parent, { type: 'Warning', reason: 'FailedSync', message, pod: { name, namespace, uid } });
}

const TAKEN = 'cannot create the mirror pod: another pod has its name';
/** Passes an effect's answer on to an action. */
const withOutput = <T extends string, O>(type: T) =>
  ({ type, params: ({ event }: { event: { output: O } }) => event.output }) as const;

/** A view that turned out wrong is looked at; anything else is tried again. */
const onError = [
  { guard: withError('disagrees'), target: 'checking', actions: withError('fail') },
  { target: 'waitingToRetry', actions: [withError('fail'), withError('tellLasting')] },
] as const;

/**
 * Brings the API's object of one pod in line with what the agent has of it: its status, its end, and for a static pod its
 * mirror pod. One write at a time, the newest status wins, and nothing is lost while the API is away.
 */
export const podWriterMachine = setup({
  types: { context: {} as PodWriterContext, input: {} as PodWriterInput, events: {} as PodWriterEvent },
  actors: { ...slots },
  delays: {
    absence: ABSENCE,
    standBack: STAND_BACK,
    retry: ({ context: { failures, retryAfterMs, env } }) => {
      const backoff = Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** Math.min(failures - 1, 10));
      return Math.max(retryAfterMs, backoff * (0.5 + env.random() / 2));
    },
  },
  guards: {
    isDue: ({ context }, write: Write['do']) => context.next.do === write,
    /** Only how far the pod's preparation has come is to be told. */
    canStandBack: ({ context: { next } }) => next.do === 'writeStatus' && next.status.phase === 'Pending',
    disagrees: (_, error: unknown) => DISAGREEMENTS.includes(AgentError.from(error, 'write the status').reason),
    wasDeleted: ({ context: { api } }) => api?.deletionTimestamp !== undefined,
    /** The API shows the pod anew: it answers, and what was refused may be accepted now. */
    isNews: ({ event }) => event.type === 'api.pod' && event.pod !== undefined,
  },
  actions: {
    collect: assign(({ context, event }) => {
      switch (event.type) {
        case 'status.wanted':
          return after(context, { wanted: event.wanted });
        case 'status.unwanted':
          return after(context, { wanted: undefined });
        case 'node.changed':
          return event.uid === context.nodeUid ? {} : after(context, { nodeUid: event.uid });
        case 'api.pod':
          return heard(context, event.heard, event.pod);
      }
    }),
    ask: assign(({ context: { next } }) => ({ asked: next.do === 'writeStatus' ? next.status : undefined })),
    noteWrite: assign(({ context }, { resourceVersion, status }: { resourceVersion: string; status: PodStatus }) => {
      const { api, asked = {} } = context;
      const written = { asked, got: status };
      // What was heard meanwhile may be newer than the answer.
      if (!api || isNewer(api.resourceVersion, resourceVersion)) return after(context, { ...SUCCEEDED, written });
      return after(context, { ...SUCCEEDED, written, api: { ...api, resourceVersion, status } });
    }),
    noteDeletion: assign(({ context }) =>
      after(context, {
        ...SUCCEEDED,
        deleted: context.api?.uid,
        ...(isStatic(context) && { api: undefined }),
      }),
    ),
    noteMirror: assign(({ context }, pod: Pod) => after(context, { ...SUCCEEDED, api: asApiPod(pod) })),
    see: assign(({ context }, pod: Pod | undefined) => after(context, { api: seen(context, pod && asApiPod(pod)) })),
    fail: assign(({ context }, error: unknown) => {
      const { message, retryAfterMs = 0 } = AgentError.from(error, 'write the status');
      return { failures: context.failures + 1, failure: message, retryAfterMs };
    }),
    /** What waiting alone does not mend is told once; an API that is away is no news of this pod. */
    tellLasting: enqueueActions(({ context, enqueue }, error: unknown) => {
      const { message, transient } = AgentError.from(error, 'write the status');
      if (transient || context.told === message) return;
      enqueue(() => tell(context, message));
      enqueue.assign({ told: message });
    }),
    tellTaken: enqueueActions(({ context, enqueue }, pod: Pod | undefined) => {
      const isTaken = isStatic(context) && pod !== undefined && asApiPod(pod).mirrorHash === undefined;
      if (!isTaken || context.told === TAKEN) return;
      enqueue(() => tell(context, TAKEN));
      enqueue.assign({ told: TAKEN });
    }),
  },
}).createMachine({
  id: 'podWriter',
  meta: podWriterWords,
  description: "Writes one pod's status, its final deletion, and a static pod's mirror pod to the API.",
  context: ({ input }) => ({ ...input, next: nextWrite(input), failures: 0, retryAfterMs: 0 }),
  initial: 'waiting',
  on: {
    'status.wanted': { actions: 'collect' },
    'status.unwanted': { actions: 'collect' },
    'api.pod': { actions: 'collect' },
    'node.changed': { actions: 'collect' },
  },
  states: {
    waiting: {
      description: 'The API has what it is to have, as far as that can be had; waits for either side to change.',
      always: [
        { guard: 'canStandBack', target: 'waitingForStart' },
        { guard: { type: 'isDue', params: 'writeStatus' }, target: 'writing' },
        { guard: { type: 'isDue', params: 'createMirror' }, target: 'creatingMirror' },
        { guard: { type: 'isDue', params: 'deleteMirror' }, target: 'deletingMirror' },
        { guard: { type: 'isDue', params: 'deletePod' }, target: 'deleting' },
        { guard: { type: 'isDue', params: 'over' }, target: 'over' },
      ],
    },
    waitingForStart: {
      description: 'The status of a pod that has not begun stands back for a moment, so that its start comes first.',
      always: { guard: not('canStandBack'), target: 'waiting' },
      after: { standBack: 'writing' },
    },
    writing: {
      description: 'Writes the newest status; what changes meanwhile is written next.',
      entry: 'ask',
      invoke: {
        src: 'patchStatus',
        input: ({ context: { namespace, name, api, asked = {} } }) => ({
          namespace,
          name,
          uid: api?.uid ?? '',
          before: api?.status,
          status: asked,
        }),
        onDone: { target: 'waiting', actions: withOutput('noteWrite') },
        onError,
      },
    },
    creatingMirror: {
      description: 'Creates the mirror pod that shows a static pod in the API.',
      invoke: {
        src: 'createMirror',
        input: ({ context: { wanted, nodeUid = '' } }) => ({ pod: wanted!.pod, nodeUid }),
        onDone: { target: 'waiting', actions: withOutput('noteMirror') },
        onError,
      },
    },
    deletingMirror: {
      description:
        'Deletes a mirror pod that is deleted already, shows another version, or has no static pod any more.',
      invoke: {
        src: 'deleteMirror',
        input: objectOf,
        onDone: [
          { guard: 'wasDeleted', target: 'waitingToRecreate', actions: 'noteDeletion' },
          { target: 'waiting', actions: 'noteDeletion' },
        ],
        onError,
      },
    },
    waitingToRecreate: {
      description:
        'Somebody deleted the mirror pod, which is gone; waits, so that they see its end before another comes.',
      always: { guard: { type: 'isDue', params: 'over' }, target: 'over' },
      after: { absence: 'waiting' },
    },
    deleting: {
      description: 'Has the API remove the object of a deleted pod of which nothing is left on the node.',
      invoke: {
        src: 'deletePod',
        input: objectOf,
        onDone: { target: 'waiting', actions: 'noteDeletion' },
        onError,
      },
    },
    checking: {
      description: 'Looks at the object, of which the API has another view.',
      invoke: {
        src: 'getPod',
        input: ({ context: { namespace, name } }) => ({ namespace, name }),
        onDone: { target: 'waitingToRetry', actions: [withOutput('see'), withOutput('tellTaken')] },
        onError: { target: 'waitingToRetry', actions: [withError('fail'), withError('tellLasting')] },
      },
    },
    waitingToRetry: {
      description: 'A write failed; waits, ever longer, or until the API shows the pod anew.',
      always: { guard: { type: 'isDue', params: 'over' }, target: 'over' },
      on: { 'api.pod': [{ guard: 'isNews', target: 'waiting', actions: 'collect' }, { actions: 'collect' }] },
      after: { retry: 'waiting' },
    },
    over: { description: 'Nothing is left to be written of this pod.', type: 'final' },
  },
  output: ({ context: { deleted } }) => ({ deleted }),
});
