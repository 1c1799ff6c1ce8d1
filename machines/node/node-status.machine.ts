import { assign, enqueueActions, setup } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { Node, NodeStatus } from '../kubernetes.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import type { NodeSeen, NodeStatusInput, NodeStatusRequest, NodeStatusSlots } from './node-status.types.ts';
import type { NodeFacts, NodePatch } from './node.types.ts';
import { heartbeatRetryDelay } from './policy/lease-renewal.ts';
import { nodeEvents, schedulableEvent } from './policy/node-events.ts';
import { nodeStatusPatch } from './policy/node-status-patch.ts';
import { nextReportAt, planNodeStatus, type NodeStatusPlan } from './policy/plan-node-status.ts';
import { withError } from '../with-error.ts';
import { tellLasting } from './tell-lasting.ts';
import { nodeStatusWords } from './words.ts';

interface NodeStatusContext extends NodeStatusInput {
  plan?: NodeStatusPlan;
  /** What the API server did not take of the last write. */
  refused: NodePatch['status'];
  /** When a report without a change is due, monotonic ms. */
  reportAt: number;
  /** When the images are listed again at the latest, monotonic ms. */
  imagesAt: number;
  /** Something to be told came while an effect was running. */
  isDue: boolean;
  /** The Node is to be looked at. */
  isLookDue: boolean;
  /** The pod addresses that the runtime took; those that it was told in this period; those that it does not take. */
  podCIDR: { taken?: string; tried?: string; refused?: string };
  /** Seen to take no pods of the scheduler. An agent that is started knows of none (kubelet_node_status.go:lastNodeUnschedulable). */
  cordoned: boolean;
  failures: number;
}

/** kubelet.go:Run. */
const JITTER = 0.04;
/** images/image_gc_manager.go:imageDetectionPeriod. */
const IMAGES_PERIOD = 300_000;

const slots: NodeStatusSlots = {
  readNodeFacts: slot('readNodeFacts'),
  getNode: slot('getNode'),
  patchNodeStatus: slot('patchNodeStatus'),
  updateRuntimeConfig: slot('updateRuntimeConfig'),
};

type Answer = { context: NodeStatusContext; event: { output: Node } };
/** The answer of a look shows what an earlier `node.look` asked for; that of a write may be older than the question. */
const seen = (isLook: boolean) =>
  [
    {
      type: 'tellSeen',
      params: ({ context, event }: Answer) => ({ node: event.output, looked: isLook && !context.isLookDue }),
    },
    { type: 'see', params: ({ event }: Answer) => event.output },
  ] as const;
const told = withError('tellFailure');
const whenAbsent = withError('isNotFound');
/** As UpdateRuntimeConfig has it (kubelet_network.go:updatePodCIDR); undefined where nobody gives this node addresses. */
const podCIDROf = ({ spec }: Node) => spec?.podCIDRs?.join(',') || spec?.podCIDR || undefined;
const isCordoned = (node: Node) => node.spec?.unschedulable === true;

/**
 * The only writer of the Node's status (kubelet_node_status.go:syncNodeStatus). It looks at host, runtime and Node again and
 * again, and writes what changed, at once when it was told that the node's situation did. Ends when there is no Node.
 */
export const nodeStatusMachine = setup({
  types: { context: {} as NodeStatusContext, input: {} as NodeStatusInput, events: {} as NodeStatusRequest },
  actors: { ...slots },
  delays: {
    period: ({ context: { settings, env } }) => settings.statusFrequencyMs * (1 + JITTER * env.random()),
    retry: ({ context: { failures, env } }) => heartbeatRetryDelay(failures, env.random()),
  },
  guards: {
    hasPatch: ({ context }) => context.plan?.patch !== undefined,
    isDue: ({ context }) => context.isDue,
    isLookDue: ({ context }) => context.isLookDue,
    hasNewPodCIDR: ({ context: { node, podCIDR } }) => {
      const wanted = podCIDROf(node);
      return wanted !== undefined && wanted !== podCIDR.taken && wanted !== podCIDR.tried;
    },
    isNotFound: (_, error: unknown) => AgentError.from(error, 'node').reason === 'NotFound',
  },
  actions: {
    takeSituation: assign(({ context, event }) =>
      event.type === 'situation.changed' ? { situation: event.situation, isDue: true } : context,
    ),
    listImages: assign({ imagesAt: 0 }),
    askLook: assign({ isLookDue: true }),
    beginLook: assign({ isLookDue: false }),
    plan: assign(({ context }) => ({
      isDue: false,
      plan: planNodeStatus({
        ...context,
        now: context.env.now(),
        elapsed: context.env.elapsed(),
        resetExtended: context.found,
      }),
    })),
    takeFacts: assign(({ context }, { host, runtime }: NodeFacts) => ({
      facts: { host, runtime },
      imagesAt: runtime?.images ? context.env.elapsed() + IMAGES_PERIOD : context.imagesAt,
    })),
    tellSeen: ({ context: { cordoned, nodeName, parent } }, { node, looked }: { node: Node; looked: boolean }) => {
      if (isCordoned(node) !== cordoned) happened(parent, schedulableEvent(nodeName, isCordoned(node)));
      const report: NodeSeen = { type: 'node.seen', node, looked };
      parent.send(report);
    },
    see: assign((_, node: Node) => ({ node, cordoned: isCordoned(node), failures: 0 })),
    tellChanges: ({ context: { node, plan, nodeName, parent } }) => {
      for (const event of plan ? nodeEvents(nodeName, node.status, plan.status) : []) happened(parent, event);
    },
    noteWritten: assign(({ context: { env, settings, plan } }, written: NodeStatus | undefined) => ({
      found: false,
      refused: plan && nodeStatusPatch(written, plan.status),
      reportAt: nextReportAt(env.elapsed(), settings.reportFrequencyMs, plan?.changes === true, env.random()),
    })),
    takePodCIDR: assign(({ context: { node } }) => ({ podCIDR: { taken: podCIDROf(node) } })),
    /** The first refusal of these addresses is told. */
    refusePodCIDR: enqueueActions(({ context: { node, podCIDR, parent }, enqueue }, error: unknown) => {
      const refused = podCIDROf(node);
      const { message } = AgentError.from(error, 'update runtime config');
      const says = `the runtime does not take the pod CIDR ${refused}, which is tried again: ${message}`;
      if (podCIDR.refused !== refused)
        enqueue(() => happened(parent, { type: 'Warning', reason: 'PodCIDRNotUpdated', message: says }));
      enqueue.assign({ podCIDR: { ...podCIDR, tried: refused, refused } });
    }),
    tryPodCIDRAgain: assign(({ context: { podCIDR } }) => ({ podCIDR: { ...podCIDR, tried: undefined } })),
    tellFailure: ({ context }, error: unknown) => {
      const says = `status of node ${context.nodeName} cannot be updated`;
      tellLasting(context, { reason: 'NodeStatusNotUpdated', says, op: 'node status', error });
    },
    fail: assign(({ context }) => ({ failures: context.failures + 1 })),
  },
}).createMachine({
  id: 'nodeStatus',
  meta: nodeStatusWords,
  description: 'Keeps the status of the Node object true: conditions, addresses, capacity, images, versions.',
  context: ({ input }) => ({
    ...input,
    refused: undefined,
    // A Node that was there before has its first report now.
    reportAt: input.found ? 0 : input.env.elapsed() + input.settings.reportFrequencyMs,
    imagesAt: input.facts.runtime?.images ? input.env.elapsed() + IMAGES_PERIOD : 0,
    isDue: false,
    isLookDue: false,
    podCIDR: {},
    cordoned: false,
    failures: 0,
  }),
  initial: 'deciding',
  on: {
    'situation.changed': { actions: 'takeSituation' },
    'images.changed': { actions: 'listImages' },
    'node.look': { actions: 'askLook' },
  },
  states: {
    deciding: {
      description: 'Compares the status that the Node should have with the one that it has.',
      entry: 'plan',
      always: [{ guard: 'hasPatch', target: 'patchingStatus' }, { target: 'waiting' }],
    },
    patchingStatus: {
      description: 'Writes what changed, or a report that nothing did.',
      invoke: {
        src: 'patchNodeStatus',
        input: ({ context: { nodeName, plan, node } }) => ({
          nodeName,
          patch: plan?.patch ?? { metadata: { uid: node.metadata?.uid ?? '' } },
        }),
        onDone: {
          target: 'waiting',
          actions: ['tellChanges', { type: 'noteWritten', params: ({ event }) => event.output.status }, ...seen(false)],
        },
        onError: [
          { guard: whenAbsent, target: 'absent' },
          { target: 'waitingToRetry', actions: [told, 'fail'] },
        ],
      },
    },
    waiting: {
      description: 'Nothing is to be written; waits for news or for the next look.',
      always: [
        { guard: 'isDue', target: 'deciding' },
        { guard: 'isLookDue', target: 'gettingNode' },
        { guard: 'hasNewPodCIDR', target: 'updatingRuntimeConfig' },
      ],
      after: { period: { target: 'readingFacts', actions: 'tryPodCIDRAgain' } },
    },
    updatingRuntimeConfig: {
      description: 'Tells the runtime which addresses the cluster has given to the pods of this node.',
      invoke: {
        src: 'updateRuntimeConfig',
        input: ({ context: { node } }) => ({ podCIDR: podCIDROf(node) ?? '' }),
        onDone: { target: 'waiting', actions: 'takePodCIDR' },
        onError: { target: 'waiting', actions: withError('refusePodCIDR') },
      },
    },
    readingFacts: {
      description: 'Reads what host and runtime say now.',
      invoke: {
        src: 'readNodeFacts',
        input: ({ context: { env, imagesAt } }) => ({ images: env.elapsed() >= imagesAt }),
        onDone: { target: 'gettingNode', actions: { type: 'takeFacts', params: ({ event }) => event.output } },
        onError: { target: 'waitingToRetry', actions: [told, 'fail'] },
      },
    },
    gettingNode: {
      description: 'Looks at the Node as the API server has it: others write in it too.',
      entry: 'beginLook',
      invoke: {
        src: 'getNode',
        input: ({ context: { nodeName } }) => ({ nodeName }),
        onDone: { target: 'deciding', actions: [...seen(true)] },
        onError: [
          { guard: whenAbsent, target: 'absent' },
          { target: 'waitingToRetry', actions: [told, 'fail'] },
        ],
      },
    },
    waitingToRetry: {
      description: 'Host or API server did not answer; waits before the next try.',
      after: { retry: 'readingFacts' },
    },
    absent: {
      description: 'There is no Node object any more.',
      type: 'final',
    },
  },
});
