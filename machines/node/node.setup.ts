import { assign, setup, stopChild, type AnyActorRef } from 'xstate';
import type { EventHappened, ParentRef } from '../agent.types.ts';
import { AgentError } from '../agent-error.types.ts';
import type { Node } from '../kubernetes.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import { leaseMachine } from './lease.machine.ts';
import { nodeStatusMachine } from './node-status.machine.ts';
import type { NodeSeen, NodeStatusInput, NodeStatusRequest } from './node-status.types.ts';
import type {
  NodeFacts,
  NodeInput,
  NodePatch,
  NodeReport,
  NodeRequest,
  NodeSituation,
  NodeSlots,
} from './node.types.ts';
import { heartbeatRetryDelay } from './policy/lease-renewal.ts';
import { conditionOf } from './policy/node-conditions.ts';
import { nodeEvents } from './policy/node-events.ts';
import { nodeObject } from './policy/node-object.ts';
import { nodeStatus } from './policy/node-status.ts';
import { reconcileNode } from './policy/reconcile-node.ts';
import { sameNode } from './policy/same-node.ts';
import { withError } from '../with-error.ts';
import { tellLasting } from './tell-lasting.ts';

interface NodeContext extends NodeInput {
  situation: NodeSituation;
  /** What the last reading said; undefined before the first. */
  facts?: NodeFacts;
  /** The Node as it was seen last; undefined while none is known. */
  node?: Node;
  /** It was there before this agent would have created it. */
  found: boolean;
  /** What the Node that was found lacks. */
  patch?: NodePatch;
  /** The parent wants to hear of the Node afresh. */
  lookAsked: boolean;
  /** The parent was told that there is no Node. */
  toldAbsent: boolean;
  /** Tries in a row that did not register the node. */
  failures: number;
}

const slots: NodeSlots = {
  readNodeFacts: slot('readNodeFacts'),
  createNode: slot('createNode'),
  getNode: slot('getNode'),
  patchNode: slot('patchNode'),
};

type LeaseFailed = { type: 'xstate.error.actor.lease'; error: unknown };
export const take = { type: 'take', params: ({ event }: { event: { output: Node } }) => event.output } as const;
export const told = withError('tellFailure');
const reasonOf = (error: unknown) => AgentError.from(error, 'node').reason;

/** What there must be once the node is registered; a chart that gets there without is wrong. */
export function existing<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`node: no ${what} yet`);
  return value;
}

/** The Node that would be created now. */
export function wantedNode({ nodeName, settings, situation, env, ...context }: NodeContext): Node {
  const facts = existing(context.facts, 'facts');
  const awayMs = situation.awaySince === undefined ? 0 : env.elapsed() - situation.awaySince;
  const parts = { facts, settings, situation, awayMs, existing: undefined, resetExtended: false, now: env.now() };
  return { ...nodeObject(nodeName, facts.host, settings), status: nodeStatus(parts) };
}

export function statusInput(context: NodeContext, parent: ParentRef): NodeStatusInput {
  const { env, nodeName, settings, situation, found } = context;
  const [node, facts] = [existing(context.node, 'Node'), existing(context.facts, 'facts')];
  return { env, parent, nodeName, settings, situation, found, node, facts };
}

function tell(parent: ParentRef, report: NodeReport): void {
  parent.send(report);
}

/** nodeStatus gets all that was missed with its input: while there is none, nothing is lost. */
function tellStatus(self: AnyActorRef, request: NodeStatusRequest): void {
  const { children } = self.getSnapshot() as { children: Record<string, AnyActorRef | undefined> };
  children['nodeStatus']?.send(request);
}

export const nodeSetup = setup({
  types: {
    context: {} as NodeContext,
    input: {} as NodeInput,
    events: {} as NodeRequest | NodeSeen | EventHappened | LeaseFailed,
  },
  actors: { lease: leaseMachine, nodeStatus: nodeStatusMachine, ...slots },
  delays: { retry: ({ context: { failures, env } }) => heartbeatRetryDelay(failures, env.random()) },
  guards: {
    registersItself: ({ context }) => context.settings.registerNode,
    isThereAlready: (_, error: unknown) => ['AlreadyExists', 'Forbidden'].includes(reasonOf(error)),
    isNotFound: (_, error: unknown) => reasonOf(error) === 'NotFound',
    lacksSomething: ({ context }, node: Node) => reconcileNode(node, wantedNode(context)) !== undefined,
    isReady: ({ context }) => conditionOf(context.node?.status?.conditions, 'Ready')?.status === 'True',
    isNotReady: ({ context }) => conditionOf(context.node?.status?.conditions, 'Ready')?.status !== 'True',
    isShuttingDown: ({ context }) => context.situation.shuttingDown,
    isCancelled: ({ context }) => !context.situation.shuttingDown,
    isAnotherNode: ({ context, event }) =>
      event.type === 'node.seen' && event.node.metadata?.uid !== context.node?.metadata?.uid,
  },
  actions: {
    takeSituation: assign(({ context: { situation, env }, event }) => {
      if (event.type === 'health.changed') {
        const { health, message } = event;
        const awaySince = health === 'unhealthy' ? (situation.awaySince ?? env.elapsed()) : undefined;
        return { situation: { ...situation, health, message, awaySince } };
      }
      if (event.type === 'pressure.changed') return { situation: { ...situation, pressure: event.pressure } };
      return { situation: { ...situation, shuttingDown: event.type === 'node.shutdown' } };
    }),
    passSituation: ({ context, self }) => tellStatus(self, { type: 'situation.changed', situation: context.situation }),
    passUp: ({ context, event }) => {
      if (event.type === 'event.happened') context.parent.send(event);
    },
    passImages: ({ self }) => tellStatus(self, { type: 'images.changed' }),
    askLook: assign({ lookAsked: true }),
    passLook: ({ self }) => tellStatus(self, { type: 'node.look' }),
    tellStarting: ({ context: { parent, settings } }) => {
      happened(parent, { type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
      for (const notice of settings.notices) happened(parent, notice);
    },
    takeFacts: assign((_, facts: NodeFacts) => ({ facts })),
    take: assign((_, node: Node) => ({ node })),
    takeFound: assign(({ context }, node: Node) => ({
      node,
      found: true,
      patch: reconcileNode(node, wantedNode(context)),
    })),
    beginRegistered: assign({ failures: 0, toldAbsent: false, lookAsked: false, patch: undefined }),
    beginRegistering: assign({ node: undefined, found: false }),
    tellCreated: ({ context: { parent, nodeName } }, { status }: Node) => {
      for (const event of status ? nodeEvents(nodeName, undefined, status) : []) happened(parent, event);
    },
    tellKnown: ({ context: { parent, node } }) => {
      if (node) tell(parent, { type: 'node.known', uid: node.metadata?.uid ?? '', node, looked: true });
    },
    tellSeen: ({ context: { parent, node: before, lookAsked } }, { node, looked }: NodeSeen) => {
      const isAnswer = lookAsked && looked;
      if (!isAnswer && sameNode(before, node)) return;
      tell(parent, { type: 'node.known', uid: node.metadata?.uid ?? '', node, ...(isAnswer && { looked: true }) });
    },
    noteLooked: assign(({ context: { lookAsked } }, { looked }: NodeSeen) => ({ lookAsked: lookAsked && !looked })),
    tellAbsent: ({ context: { parent, toldAbsent } }) => {
      if (!toldAbsent) tell(parent, { type: 'node.absent' });
    },
    noteAbsent: assign({ toldAbsent: true }),
    tellFailure: ({ context }, error: unknown) => {
      const says = `node ${context.nodeName} cannot be registered`;
      tellLasting(context, { reason: 'NodeNotRegistered', says, op: 'node', error });
    },
    fail: assign(({ context }) => ({ failures: context.failures + 1 })),
    spawnLease: assign(({ context: { env, nodeName, settings, node }, spawn, self }) => {
      const nodeUid = node?.metadata?.uid ?? '';
      const durationSeconds = settings.leaseDurationSeconds;
      spawn('lease', { id: 'lease', input: { env, parent: self, nodeName, nodeUid, durationSeconds } });
      return {};
    }),
    stopLease: stopChild('lease'),
  },
});
