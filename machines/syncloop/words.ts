import type { ChartWords } from '../chart-words.types.ts';

export const syncloopWords: ChartWords = {
  guards: {
    isUnhealthy: 'the runtime does not answer or is not ready',
    isHealthyAgain: 'the runtime answers and is ready',
    hasActor: 'the pod is known',
    isPod: 'it was a pod that failed',
    isSource: 'it was a source of manifests that failed',
    isCluster: "it was the API server's side that failed",
    hasCluster: 'the agent has an API server',
    isListed: 'the runtime has told of all that it has',
  },
  delays: {
    pause: 'the wait before the runtime is asked again',
    respawn: 'the wait before what failed is made anew',
  },
  events: {
    'event.happened': 'something is told to users',
    'source.set': 'a source delivers its pods',
    'node.known': 'the Node is known',
    'cluster.drained': 'the last events are written',
    'recorder.problem': 'events cannot be written',
    'runtime.observed': 'the runtime shows a pod anew',
    'runtime.exited': 'a container ends',
    'runtime.listed': 'the runtime was listed',
    'health.changed': "the runtime's health changes",
    'pod.status': 'the status of a pod changes',
    'pod.inspect': 'a pod is to be looked at',
    'pod.released': 'a pod has ended and holds its name no more',
    'child.respawn': 'what failed is to be made anew',
    'agent.drain': 'the agent is asked to stop',
    'pod.judge': 'a pod that was refused is to be judged again',
  },
};

export const podSourceWords: ChartWords = {
  guards: {
    lostSome: 'a manifest is not there any more',
    isDirty: 'something changed since the manifests were read',
    hasToKeep: 'a manifest that was read is not kept yet',
  },
  delays: {
    period: 'the period after which the manifests are read again',
    confirm: 'the moment before a missing manifest is looked for again',
    retry: 'the wait before the source is read again',
  },
  events: {
    'manifests.changed': 'a manifest changes',
    'watch.failed': 'the manifests cannot be watched any more',
  },
};

export const apiSourceWords: ChartWords = {
  guards: {
    isUnheard: 'the API server has not been heard yet',
    wasGoodWatch: 'the watch was a good one',
    isFirstFailure: 'it is the first failure in a row',
    isStuck: 'several watches have failed in a row',
    hasToKeep: 'pods that were heard are not kept yet',
    mustRecall: 'the API server was heard, and what an earlier agent kept is not known',
  },
  delays: {
    patience: 'the time for which the API server is waited for before what was kept is used',
    listRetry: 'the wait before the pods are listed again',
    watchRetry: 'the wait before the pods are watched again',
    keepRetry: 'the wait before the pods are kept again',
    gather: 'the moment in which more may come',
  },
  events: {
    'watch.batch': 'the API server tells of pods',
    'watch.ended': 'the watch of the API server ends',
    'watch.expired': 'the watch of the API server has to begin anew',
  },
};

export const podWriterWords: ChartWords = {
  guards: {
    isDue: 'this is to be written now',
    canStandBack: 'only how far the preparation of the pod has come is to be written',
    disagrees: 'the API server has another view of the pod',
    wasDeleted: 'somebody deleted it',
    isNews: 'the API server shows the pod anew',
  },
  delays: {
    standBack: 'the moment for which such a status stands back',
    absence: 'the moment for which a deleted mirror pod stays away',
    retry: 'the wait before it is written again',
  },
  events: {
    'status.wanted': 'the status changes',
    'status.unwanted': 'the agent has the pod no more',
    'api.pod': 'the API server shows the pod anew',
    'node.changed': 'another Node has taken the name',
  },
};

export const plegWords: ChartWords = {
  guards: {
    mustList: 'the runtime has to be listed now',
    mustLocate: 'the pod of a container has to be found',
    streams: "the runtime's event stream is open",
    lostStream: "the runtime's event stream is lost",
    isNewlyTold: 'the listing failed for another reason than before',
  },
  delays: {
    listPeriod: 'the period after which the runtime is listed again',
    auditPeriod: 'the period after which the runtime is listed again beside its event stream',
    locate: 'the moment before the pod of a container is looked for',
    retry: 'the wait before the runtime is listed again',
  },
  events: {
    'stream.opened': "the runtime's event stream opens",
    'stream.lost': "the runtime's event stream is lost",
    'list.now': 'the runtime is to be listed at once',
    'pod.inspect': 'a pod is to be looked at',
    'runtime.event': 'the runtime tells of a container',
    'runtime.echo': "the agent's own call shows something",
    'runtime.exited': 'a container ends',
    'inspection.observed': 'a pod was looked at',
    'inspection.failed': 'a pod could not be looked at',
    'inspection.slow': 'a look at a pod takes long',
  },
};
