import { assign, enqueueActions, setup, stopChild, type ActorRefFrom } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';
import type { ApiPod } from './api-source.types.ts';
import { podWriterMachine } from './pod-writer.machine.ts';
import { assignWriters, indexApi, type ApiIndex, type Assignment } from './policy/assign-writers.ts';
import type { PodWriterEvent, StatusWriterEvent, StatusWriterInput, WantedPod } from './status-writer.types.ts';
import { afterNews } from './policy/wanted-pods.ts';

interface Writer {
  ref: ActorRefFrom<typeof podWriterMachine>;
  name: string;
  namespace: string;
  isStatic: boolean;
  /** What it was told last. */
  wanted?: WantedPod;
  api?: ApiPod;
}

interface StatusWriterContext extends StatusWriterInput {
  /** What the agent has, by UID, in the order in which it came. */
  wanted: Record<string, WantedPod>;
  /** The API's newest set; undefined: it has not been heard. */
  api?: ApiIndex;
  nodeUid?: string;
  sourcesReady: boolean;
  /** Mirror pods that were deleted and that the API's newest set still shows. */
  gone: string[];
  /** By UID of the pod, or of a mirror pod that has no static pod. */
  writers: Record<string, Writer>;
}

type WriterOver = {
  type: `xstate.${'done' | 'error'}.actor.writer.${string}`;
  actorId: string;
  output?: { deleted?: string };
  error?: unknown;
};
type Respawn = { type: 'writers.respawn' };

const PREFIX = 'writer.';
/** One that is over hears nothing any more, though word of its end may still be on its way. */
const send = (ref: Writer['ref'], event: PodWriterEvent) => {
  if (ref.getSnapshot().status === 'active') ref.send(event);
};
const keyOf = (actorId: string) => actorId.slice(PREFIX.length);

/** Whether another writer still works on the mirror pod that this one is to have. */
const isTaken = (writers: StatusWriterContext['writers'], { isStatic, key, name, namespace }: Assignment) =>
  isStatic &&
  Object.entries(writers).some(
    ([other, writer]) => other !== key && writer.isStatic && writer.name === name && writer.namespace === namespace,
  );

/** Has every pod's status, final deletion and mirror pod written, by one writer a pod (status/status_manager.go). */
export const statusWriterMachine = setup({
  types: {
    context: {} as StatusWriterContext,
    input: {} as StatusWriterInput,
    events: {} as StatusWriterEvent | WriterOver | Respawn,
  },
  actors: { podWriter: podWriterMachine },
  delays: {
    /** A writer that threw is a bug; the pause keeps one that always throws from taking the machine with it. */
    respawn: 1000,
  },
  guards: {
    /** It has a writer, which knows that the agent has the pod. */
    isWritten: ({ context, event }) =>
      event.type === 'pod.wanted' && context.writers[event.uid]?.wanted?.source === event.source,
  },
  actions: {
    collect: assign(({ context, event }) => {
      switch (event.type) {
        case 'pod.wanted':
        case 'pod.forgotten':
          return { wanted: afterNews(context.wanted, event) };
        case 'api.pods': {
          const api = indexApi(event);
          return { api, gone: context.gone.filter((uid) => api.byUid.has(uid)) };
        }
        case 'node.known':
          return { nodeUid: event.uid };
        case 'node.absent':
          return { nodeUid: undefined };
        case 'sources.ready':
          return { sourcesReady: true };
        default:
          return {};
      }
    }),
    /** The most frequent news, told to the pod's own writer alone. */
    passWanted: enqueueActions(({ context, enqueue, event }) => {
      if (event.type !== 'pod.wanted') return;
      const { [event.uid]: writer } = context.writers;
      const { [event.uid]: wanted } = context.wanted;
      if (!writer || !wanted) return;
      enqueue(() => send(writer.ref, { type: 'status.wanted', wanted }));
      enqueue.assign({ writers: { ...context.writers, [event.uid]: { ...writer, wanted } } });
    }),
    /** Brings the writers in line with what is wanted and what the API has. */
    reconcile: enqueueActions(({ context, enqueue }) => {
      const { env, parent, api, nodeUid } = context;
      const tell = (ref: Writer['ref'], event: PodWriterEvent) => enqueue(() => send(ref, event));
      const assignments = assignWriters({ ...context, now: env.now() });
      const writers = { ...context.writers };
      const assigned = new Set(assignments.map(({ key }) => key));
      for (const [key, writer] of Object.entries(writers)) {
        if (assigned.has(key) || !writer.wanted) continue;
        tell(writer.ref, { type: 'status.unwanted' });
        writers[key] = { ...writer, wanted: undefined };
      }
      for (const assignment of assignments) {
        const { key, wanted, api: object } = assignment;
        const writer = writers[key];
        if (!writer) continue;
        const isNews = writer.api !== object;
        // The status of a refused pod is made from its object, anew each time.
        const isWanted = writer.wanted !== wanted && (isNews || !object?.refused);
        if (isWanted && wanted) tell(writer.ref, { type: 'status.wanted', wanted });
        // A static pod's writer may have made or deleted the mirror pod meanwhile: its absence is told with every set.
        if (api && (isNews || (assignment.isStatic && !object)))
          tell(writer.ref, { type: 'api.pod', heard: api.resourceVersion, pod: object });
        if (isNews || isWanted) writers[key] = { ...writer, api: object, wanted: isWanted ? wanted : writer.wanted };
      }
      enqueue.assign({ writers });
      const missing = assignments.filter((assignment) => !writers[assignment.key] && !isTaken(writers, assignment));
      for (const { key, name, namespace, isStatic, wanted, api: object } of missing) {
        const input = { env, parent, name, namespace, wanted, api: object, heard: api?.resourceVersion, nodeUid };
        enqueue.assign(({ context: now, spawn }) => ({
          writers: {
            ...now.writers,
            [key]: {
              ref: spawn('podWriter', { id: `${PREFIX}${key}`, input }),
              name,
              namespace,
              isStatic,
              wanted,
              api: object,
            },
          },
        }));
      }
    }),
    passNode: ({ context }) => {
      for (const { ref } of Object.values(context.writers)) send(ref, { type: 'node.changed', uid: context.nodeUid });
    },
    reap: enqueueActions(({ context, enqueue, event }) => {
      const { actorId, output } = event as WriterOver;
      enqueue(stopChild(actorId));
      const { [keyOf(actorId)]: _over, ...writers } = context.writers;
      enqueue.assign({ writers, gone: [...context.gone, ...(output?.deleted ? [output.deleted] : [])] });
    }),
    /** A writer that threw is a bug; it is made anew from what is known. */
    mourn: enqueueActions(({ context, enqueue, event }) => {
      const { actorId, error } = event as WriterOver;
      const { message } = AgentError.from(error, 'write the status');
      const { name = '', namespace = '' } = context.writers[keyOf(actorId)] ?? {};
      enqueue(() =>
        happened(context.parent, {
          type: 'Warning',
          reason: 'FailedSync',
          message: `the writer of its status failed and is started again: ${message}`,
          pod: { name, namespace, uid: keyOf(actorId) },
        }),
      );
      enqueue.raise({ type: 'writers.respawn' }, { delay: 'respawn' });
    }),
  },
}).createMachine({
  id: 'statusWriter',
  description: 'The only writer of pods in the API: statuses, final deletions and mirror pods, by one writer a pod.',
  context: ({ input }) => ({ ...input, wanted: {}, sourcesReady: false, gone: [], writers: {} }),
  initial: 'running',
  states: {
    running: {
      description: 'Tells each writer what the agent has of its pod and what the API has.',
      on: {
        'pod.wanted': [
          { guard: 'isWritten', actions: ['collect', 'passWanted'] },
          { actions: ['collect', 'reconcile'] },
        ],
        'pod.forgotten': { actions: ['collect', 'reconcile'] },
        'api.pods': { actions: ['collect', 'reconcile'] },
        'sources.ready': { actions: ['collect', 'reconcile'] },
        'node.known': { actions: ['collect', 'passNode'] },
        'node.absent': { actions: ['collect', 'passNode'] },
        'xstate.done.actor.writer.*': { actions: ['reap', 'reconcile'] },
        'xstate.error.actor.writer.*': { actions: ['mourn', 'reap'] },
        'writers.respawn': { actions: 'reconcile' },
      },
    },
  },
});
