import type { ChartWords } from '../chart-words.types.ts';

export const nodeWords: ChartWords = {
  guards: {
    registersItself: 'the agent is to register the node itself (registerNode)',
    isThereAlready: 'a Node of this name is there already',
    isNotFound: 'there is no Node of this name',
    lacksSomething: 'the Node lacks labels or annotations of this agent',
    isReady: 'the API server has it that the node is ready',
    isNotReady: 'the API server has it that the node is not ready',
    isShuttingDown: 'the host shuts down',
    isCancelled: 'the host does not shut down',
    isAnotherNode: 'another Node has taken the name',
  },
  delays: { retry: 'the wait before the node is registered again' },
  events: {
    'health.changed': "the runtime's health changes",
    'pressure.changed': 'the node gets short of something, or is no more',
    'node.shutdown': 'the host shuts down',
    'node.shutdownCancelled': 'the shutdown of the host is called off',
    'pods.changed': 'pods come or go',
    'node.look': 'somebody wants to know the Node afresh',
    'event.happened': 'something is told to users',
    'node.seen': 'the Node is seen anew',
  },
};

export const runtimeHealthWords: ChartWords = {
  guards: {
    isHealthy: 'the runtime and its pod network are ready',
    lacksNetwork: 'the runtime is ready and its pod network is not',
    isUnhealthy: 'the runtime does not answer or is not ready',
  },
  delays: {
    slow: 'the time after which a slow answer is told of',
    checkPeriod: 'the wait before the runtime is asked again',
  },
  events: {},
};

export const leaseWords: ChartWords = {
  guards: {
    isNotFound: 'there is no lease',
    alreadyExists: 'the lease is there already',
    isConflict: 'somebody else has written the lease',
  },
  delays: {
    renewal: 'the time until the lease is renewed',
    retry: 'the wait before the lease is written again',
  },
  events: {},
};

export const nodeStatusWords: ChartWords = {
  guards: {
    hasPatch: 'the status of the Node has changed',
    isDue: 'the status of the Node is due to be looked at',
    isLookDue: 'somebody wants to know the Node afresh',
    hasNewPodCIDR: 'the Node has another pod CIDR',
    isNotFound: 'there is no Node of this name',
  },
  delays: {
    period: 'the period after which the status of the Node is looked at again',
    retry: 'the wait before the status of the Node is written again',
  },
  events: {
    'situation.changed': "the node's situation changes",
    'images.changed': "the node's images change",
    'node.look': 'somebody wants to know the Node afresh',
  },
};
