import { assign } from 'xstate';
import { syncloopSetup } from './syncloop.setup.ts';
import { syncloopWords } from './words.ts';

export const syncloopMachine = syncloopSetup.createMachine({
  id: 'syncloop',
  meta: syncloopWords,
  description: 'The parent of all: what the sources want and what the runtime has, brought together pod by pod.',
  context: ({ input }) => ({
    ...input,
    runtimeName: '',
    health: 'unknown',
    healthMessage: '',
    delivered: [],
    desired: {},
    problems: {},
    observed: {},
    listed: [],
    entries: {},
    pods: {},
    failures: 0,
    refusals: {},
    hostIPs: input.settings.pod.hostIPs,
    looks: {},
    mourned: {},
    toldEntries: {},
    toldReady: false,
  }),
  initial: 'opening',
  entry: [{ type: 'spawnSource', params: 'fileSource' }, { type: 'spawnSource', params: 'httpSource' }, 'spawnCluster'],
  on: {
    'event.happened': { actions: 'record' },
    'source.set': { actions: 'collect' },
    'node.known': { actions: 'learnNode' },
    'cluster.drained': { actions: 'loseCluster' },
    'recorder.problem': { actions: 'logProblem' },
    'runtime.observed': { actions: ['collect', 'passToPod'] },
    'runtime.exited': { actions: 'passToPod' },
    'runtime.listed': { actions: ['collect', 'passAbsence'] },
    'health.changed': { actions: ['collect', 'passHealth', 'passHealthToCluster'] },
    'pod.status': { actions: ['collect', 'tellCluster'] },
    'pod.inspect': { actions: 'passInspect' },
    'pod.released': {
      actions: [
        { type: 'markReleased', params: ({ event }) => event.uid },
        { type: 'passName', params: ({ event }) => event.uid },
        'tellCluster',
      ],
    },
    'xstate.done.actor.pod.*': { actions: 'reap' },
    'xstate.error.actor.*': { actions: 'mourn' },
    'child.respawn': [
      { guard: 'isPod', actions: { type: 'askForPod', params: ({ event }) => event.id } },
      { guard: 'isCluster', actions: ['spawnCluster', 'tellCluster', 'passHealthToCluster'] },
      { guard: 'isSource', actions: { type: 'spawnSource', params: ({ event }) => event.id } },
      { actions: { type: 'spawnWatcher', params: ({ event }) => event.id } },
    ],
    'agent.drain': '.draining',
  },
  states: {
    opening: {
      meta: { holdsBack: true },
      description: 'Asks the runtime who it is; nothing can be done before it answers.',
      invoke: {
        src: 'openRuntime',
        input: {},
        onDone: {
          target: 'recovering',
          actions: ['succeed', assign(({ event }) => ({ runtimeName: event.output.runtimeName }))],
        },
        onError: { target: 'waitingForRuntime', actions: ['fail', 'recordRuntimeAway'] },
      },
    },
    waitingForRuntime: {
      meta: { holdsBack: true },
      description: 'The runtime does not answer yet; waits before it is asked again.',
      after: { pause: 'opening' },
    },
    recovering: {
      meta: { holdsBack: true, awaits: ['isListed'] },
      description: 'Waits for the first whole listing: what runs already is known before anything is started.',
      entry: [
        { type: 'spawnWatcher', params: 'runtimeHealth' },
        { type: 'spawnWatcher', params: 'pleg' },
        { type: 'spawnWatcher', params: 'housekeeping' },
        { type: 'spawnWatcher', params: 'logRotation' },
      ],
      always: { guard: 'isListed', target: 'running' },
    },
    running: {
      description: 'Every change of what is desired or observed is passed to the pod that it concerns.',
      entry: ['reconcile', 'tellCluster'],
      always: { guard: 'isUnhealthy', target: 'paused' },
      on: {
        'source.set': { actions: ['collect', 'reconcile', 'tellCluster'] },
        'runtime.observed': [
          { guard: 'hasActor', actions: ['collect', 'passToPod'] },
          { actions: ['collect', 'reconcile', 'tellCluster'] },
        ],
        'runtime.listed': { actions: ['collect', 'passAbsence', 'reconcile', 'tellCluster'] },
        'node.known': { actions: ['learnNode', 'reconcile', 'tellCluster'] },
        'pod.released': {
          actions: [
            { type: 'markReleased', params: ({ event }) => event.uid },
            { type: 'passName', params: ({ event }) => event.uid },
            'reconcile',
            'tellCluster',
          ],
        },
        'pod.judge': {
          actions: [{ type: 'forgetRefusal', params: ({ event }) => event.uid }, 'reconcile', 'tellCluster'],
        },
        'xstate.done.actor.pod.*': { actions: ['reap', 'reconcile', 'tellCluster'] },
      },
    },
    paused: {
      meta: { holdsBack: true, awaits: ['isHealthyAgain'] },
      description: 'The runtime is unhealthy: no pod is added until it is back; what it runs goes on.',
      on: {
        'source.set': { actions: ['collect', 'reconcile', 'tellCluster'] },
        'pod.judge': { actions: 'judgeLater' },
      },
      always: { guard: 'isHealthyAgain', target: 'running', actions: 'listNow' },
    },
    draining: {
      meta: { holdsBack: true },
      description: 'Stops acting and lets calls in flight end; containers go on running.',
      entry: ['dismissAll', 'drainCluster'],
      on: { 'agent.drain': {}, 'child.respawn': {} },
      invoke: {
        src: 'settleEffects',
        input: {},
        onDone: [{ guard: 'hasCluster', target: 'waitingForEvents' }, { target: 'stopped' }],
        onError: 'stopped',
      },
    },
    waitingForEvents: {
      meta: { holdsBack: true },
      description: 'The last events are written to the API server, for a bounded time.',
      on: {
        'agent.drain': {},
        'child.respawn': {},
        'cluster.drained': { target: 'stopped', actions: 'loseCluster' },
        'xstate.error.actor.*': { target: 'stopped', actions: 'mourn' },
      },
    },
    stopped: { description: 'The agent may exit; every container is as it was left.', type: 'final' },
  },
});
