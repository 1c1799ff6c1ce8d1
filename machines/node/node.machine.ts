import { withError } from '../with-error.ts';
import { existing, nodeSetup, statusInput, take, told, wantedNode } from './node.setup.ts';
import { nodeWords } from './words.ts';

/**
 * The Node object from its registration on (kubelet_node_status.go:registerWithAPIServer). A Node that is deleted under a
 * running agent is registered anew, and its lease follows: the new Node owns it.
 */
export const nodeMachine = nodeSetup.createMachine({
  id: 'node',
  meta: nodeWords,
  description: 'The Node object: registered, kept true, and registered anew where it was deleted.',
  context: ({ input }) => ({
    ...input,
    situation: {
      health: 'unknown',
      message: '',
      awaySince: input.env.elapsed(),
      pressure: { memory: false, disk: false, pid: false },
      shuttingDown: false,
    },
    found: false,
    lookAsked: false,
    toldAbsent: false,
    failures: 0,
  }),
  entry: 'tellStarting',
  initial: 'registering',
  on: {
    'health.changed': { actions: ['takeSituation', 'passSituation'] },
    'pressure.changed': { actions: ['takeSituation', 'passSituation'] },
    'node.shutdown': { actions: ['takeSituation', 'passSituation'] },
    'node.shutdownCancelled': { actions: ['takeSituation', 'passSituation'] },
    'pods.changed': { actions: 'passImages' },
    'node.look': { actions: ['askLook', 'passLook'] },
    'event.happened': { actions: 'passUp' },
  },
  states: {
    registering: {
      description: 'Makes sure that there is a Node of this name and that it is this agent’s.',
      initial: 'readingFacts',
      states: {
        readingFacts: {
          description: 'Reads what host and runtime say: a Node is created with all that is known of it.',
          entry: 'beginRegistering',
          invoke: {
            src: 'readNodeFacts',
            input: { images: true },
            onDone: { target: 'deciding', actions: { type: 'takeFacts', params: ({ event }) => event.output } },
            onError: { target: 'waitingToRetry', actions: [told, 'fail'] },
          },
        },
        deciding: {
          description: 'Creates the Node, or leaves that to somebody else where it is not to register itself.',
          always: [{ guard: 'registersItself', target: 'creatingNode' }, { target: 'gettingNode' }],
        },
        creatingNode: {
          description: 'Creates the Node.',
          invoke: {
            src: 'createNode',
            input: ({ context }) => ({ node: wantedNode(context) }),
            onDone: {
              target: '#node.registered',
              actions: [take, { type: 'tellCreated', params: ({ event }) => event.output }],
            },
            onError: [
              { guard: withError('isThereAlready'), target: 'gettingNode' },
              { target: 'waitingToRetry', actions: [told, 'fail'] },
            ],
          },
        },
        gettingNode: {
          description:
            'Looks at the Node that is there already: one that has the labels and annotations of this agent is taken as it is.',
          invoke: {
            src: 'getNode',
            input: ({ context: { nodeName } }) => ({ nodeName }),
            onDone: [
              {
                guard: { type: 'lacksSomething', params: ({ event }) => event.output },
                target: 'patchingNode',
                actions: { type: 'takeFound', params: ({ event }) => event.output },
              },
              {
                target: '#node.registered',
                actions: { type: 'takeFound', params: ({ event }) => event.output },
              },
            ],
            onError: [
              {
                guard: withError('isNotFound'),
                target: 'waitingToRetry',
                actions: ['tellAbsent', 'noteAbsent', told, 'fail'],
              },
              { target: 'waitingToRetry', actions: [told, 'fail'] },
            ],
          },
        },
        patchingNode: {
          description: 'Gives the Node the labels and annotations that it lacks.',
          invoke: {
            src: 'patchNode',
            input: ({ context: { nodeName, patch } }) => ({ nodeName, patch: existing(patch, 'patch') }),
            onDone: { target: '#node.registered', actions: take },
            onError: { target: 'waitingToRetry', actions: [told, 'fail'] },
          },
        },
        waitingToRetry: {
          meta: { holdsBack: true },
          description: 'The node is not registered yet; waits before the next try.',
          after: { retry: 'readingFacts' },
        },
      },
    },
    registered: {
      description: 'There is a Node: its status is kept true and its lease renewed.',
      entry: ['beginRegistered', 'tellKnown', 'spawnLease'],
      exit: 'stopLease',
      invoke: {
        src: 'nodeStatus',
        id: 'nodeStatus',
        input: ({ context, self }) => statusInput(context, self),
        onDone: [
          { guard: 'isShuttingDown', target: 'deregistered', actions: ['tellAbsent', 'noteAbsent'] },
          { target: 'registering', actions: ['tellAbsent', 'noteAbsent'] },
        ],
        onError: { target: 'registering.waitingToRetry', actions: [told, 'fail'] },
      },
      on: {
        'node.seen': [
          { guard: 'isAnotherNode', target: 'registering' },
          {
            actions: [
              { type: 'tellSeen', params: ({ event }) => event },
              { type: 'noteLooked', params: ({ event }) => event },
              { type: 'take', params: ({ event }) => event.node },
            ],
          },
        ],
        'xstate.error.actor.lease': {
          target: 'registering.waitingToRetry',
          actions: [told, 'fail'],
        },
      },
      initial: 'notReady',
      states: {
        notReady: {
          meta: { holdsBack: true },
          description: 'The API server has it that the node is not ready, or does not know yet.',
          always: [
            { guard: 'isShuttingDown', target: 'shuttingDown' },
            { guard: 'isReady', target: 'ready' },
          ],
        },
        ready: {
          description: 'The API server has it that the node is ready: pods may be bound to it.',
          tags: 'ready',
          always: [
            { guard: 'isShuttingDown', target: 'shuttingDown' },
            { guard: 'isNotReady', target: 'notReady' },
          ],
        },
        shuttingDown: {
          meta: { holdsBack: true },
          description: 'The host shuts down: lease and status go on, and the node is not ready whatever else holds.',
          initial: 'ready',
          always: { guard: 'isCancelled', target: 'notReady' },
          states: {
            ready: {
              description: 'The API server does not know of it yet.',
              always: { guard: 'isNotReady', target: 'notReady' },
            },
            notReady: {
              description: 'The API server knows: nothing is bound to the node any more.',
            },
          },
        },
      },
    },
    deregistered: {
      description: 'The Node was deleted while the host shuts down: it is not registered again for that.',
      always: { guard: 'isCancelled', target: 'registering' },
    },
  },
});
