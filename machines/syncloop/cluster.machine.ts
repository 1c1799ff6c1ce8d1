import { assign, enqueueActions, setup, stopChild, type AnyActorRef } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import { nodeMachine } from '../node/node.machine.ts';
import { happened } from '../notify.ts';
import { apiSourceMachine } from './api-source.machine.ts';
import type { ClusterInput, ClusterReport, ClusterRequest, FromClusterChildren } from './cluster.types.ts';
import { eventRecorderMachine } from './event-recorder.machine.ts';
import { statusWriterMachine } from './status-writer.machine.ts';
import type { StatusWriterEvent, WantedPod } from './status-writer.types.ts';
import { afterNews } from './policy/wanted-pods.ts';

type Child = 'apiSource' | 'statusWriter' | 'node' | 'eventRecorder';
type ChildFailed = { type: `xstate.error.actor.${string}`; actorId: string; error: unknown };
type ChildOver = { type: `xstate.done.actor.${string}`; actorId: string };
type Respawn = { type: 'child.respawn'; id: Child };

interface ClusterContext extends ClusterInput {
  children: Partial<Record<Child, AnyActorRef>>;
  /** What a child that is started again has to be told, newest of each. */
  wanted: Record<string, WantedPod>;
  apiPods?: Extract<StatusWriterEvent, { type: 'api.pods' }>;
  nodeUid?: string;
  sourcesReady: boolean;
  health?: Extract<ClusterRequest, { type: 'health.changed' }>;
}

const CHILDREN: readonly Child[] = ['eventRecorder', 'node', 'statusWriter', 'apiSource'];

/** A child that has ended hears nothing any more. */
function tell(context: ClusterContext, child: Child, event: { type: string }): void {
  const ref = context.children[child];
  if (ref?.getSnapshot().status === 'active') ref.send(event);
}

/**
 * The agent's side of the API server: the pods that are bound to this node, the one writer of what is told of them, the
 * node with its lease, and the recorder of events. What it is told it keeps, so that a child that is started again
 * begins with it. An agent without an API server has none (docs/adr/0010).
 */
export const clusterMachine = setup({
  types: {
    context: {} as ClusterContext,
    input: {} as ClusterInput,
    events: {} as ClusterRequest | FromClusterChildren | ChildFailed | ChildOver | Respawn,
  },
  actors: {
    apiSource: apiSourceMachine,
    statusWriter: statusWriterMachine,
    node: nodeMachine,
    eventRecorder: eventRecorderMachine,
  },
  delays: {
    /** The pause keeps a child that always throws from taking the machine with it. */
    respawn: 1000,
    drain: ({ context }) => context.settings.drainMs,
  },
  actions: {
    spawnChild: assign(({ context, spawn, self }, id: Child) => {
      const { env, nodeName, settings } = context;
      const base = { env, parent: self, nodeName };
      const child = {
        apiSource: () => spawn('apiSource', { id, input: base }),
        statusWriter: () => spawn('statusWriter', { id, input: { env, parent: self } }),
        node: () => spawn('node', { id, input: { ...base, settings: settings.node } }),
        eventRecorder: () => spawn('eventRecorder', { id, input: { ...base, drainMs: settings.drainMs } }),
      }[id]();
      return { children: { ...context.children, [id]: child } };
    }),
    /** What came before the child was there. */
    brief: ({ context }, id: Child) => {
      const { apiPods, nodeUid, sourcesReady, health } = context;
      if (id === 'node' && health) tell(context, id, health);
      if (id !== 'statusWriter') return;
      for (const [uid, wanted] of Object.entries(context.wanted))
        tell(context, id, { type: 'pod.wanted', uid, ...wanted } as StatusWriterEvent);
      if (apiPods) tell(context, id, apiPods);
      if (nodeUid !== undefined) tell(context, id, { type: 'node.known', uid: nodeUid } as StatusWriterEvent);
      if (sourcesReady) tell(context, id, { type: 'sources.ready' });
    },
    keep: assign(({ context, event }) => {
      switch (event.type) {
        case 'pod.wanted':
        case 'pod.forgotten':
          return { wanted: afterNews(context.wanted, event) };
        case 'sources.ready':
          return { sourcesReady: true };
        case 'api.pods':
          return { apiPods: event };
        case 'health.changed':
          return { health: event };
        case 'node.known':
          return { nodeUid: event.uid };
        case 'node.absent':
          return { nodeUid: undefined };
        default:
          return {};
      }
    }),
    toWriter: ({ context, event }) => {
      const told = event.type === 'node.known' ? { type: event.type, uid: event.uid } : event;
      tell(context, 'statusWriter', told);
    },
    toNode: ({ context, event }) => tell(context, 'node', event),
    /** Pods came or went: the node's list of images may have changed. */
    tellPodsChanged: ({ context }) => tell(context, 'node', { type: 'pods.changed' }),
    toRecorder: ({ context, event }) => {
      if (event.type === 'event.record') tell(context, 'eventRecorder', { ...event, type: 'event.happened' });
    },
    toParent: ({ context, event }) => {
      context.parent.send(event as ClusterReport);
    },
    drainRecorder: ({ context }) => tell(context, 'eventRecorder', { type: 'recorder.drain' }),
    /** No more is read and nothing more is told but events: what is under way is written by the next agent. */
    dismiss: enqueueActions(({ context, enqueue }) => {
      for (const id of ['apiSource', 'statusWriter', 'node'] as const)
        if (context.children[id]) enqueue(stopChild(context.children[id]));
      enqueue.assign({ children: { eventRecorder: context.children.eventRecorder } });
    }),
    reportDrained: ({ context }) => context.parent.send({ type: 'cluster.drained' } satisfies ClusterReport),
    /** A child threw: a bug of the child, answered by a new one (ARCHITECTURE rule 9). */
    mourn: enqueueActions(({ context, event, enqueue }) => {
      const { actorId, error } = event as ChildFailed;
      const { message } = AgentError.from(error, actorId);
      enqueue(() =>
        happened(context.parent, {
          type: 'Warning',
          reason: 'FailedSync',
          message: `${actorId} failed and is started again: ${message}`,
        }),
      );
      enqueue(stopChild(actorId));
      enqueue.assign({ children: { ...context.children, [actorId]: undefined } });
      enqueue.raise({ type: 'child.respawn', id: actorId as Child }, { delay: 'respawn' });
    }),
  },
}).createMachine({
  id: 'cluster',
  description: 'What the agent hears from the API server and tells it.',
  context: ({ input }) => ({ ...input, children: {}, wanted: {}, sourcesReady: false }),
  initial: 'connected',
  states: {
    connected: {
      description: 'Its children read and write; each deals with an API server that does not answer by itself.',
      entry: CHILDREN.map((params) => ({ type: 'spawnChild' as const, params })),
      on: {
        'pod.wanted': { actions: ['keep', 'toWriter'] },
        'pod.forgotten': { actions: ['keep', 'toWriter'] },
        'sources.ready': { actions: ['keep', 'toWriter'] },
        'api.pods': { actions: ['keep', 'toWriter'] },
        'node.known': { actions: ['keep', 'toWriter', 'toParent'] },
        'node.absent': { actions: ['keep', 'toWriter', 'toParent'] },
        'health.changed': { actions: ['keep', 'toNode'] },
        'node.look': { actions: 'toNode' },
        'source.set': { actions: ['tellPodsChanged', 'toParent'] },
        'event.happened': { actions: 'toParent' },
        'event.record': { actions: 'toRecorder' },
        'recorder.problem': { actions: 'toParent' },
        'xstate.error.actor.*': { actions: 'mourn' },
        'child.respawn': {
          actions: [
            { type: 'spawnChild', params: ({ event }) => event.id },
            { type: 'brief', params: ({ event }) => event.id },
          ],
        },
        'cluster.drain': 'waitingForEvents',
      },
    },
    waitingForEvents: {
      description: 'The agent ends: events that are not written yet still are, for a while.',
      entry: ['dismiss', 'drainRecorder'],
      on: {
        'event.record': { actions: 'toRecorder' },
        'recorder.drained': 'drained',
        'recorder.problem': { actions: 'toParent' },
        'xstate.error.actor.*': 'drained',
      },
      after: { drain: 'drained' },
    },
    drained: { description: 'Nothing more is told.', entry: 'reportDrained', type: 'final' },
  },
});
