import type { ChartWords } from '../chart-words.types.ts';

export const podWords: ChartWords = {
  guards: {
    mustEnd: 'the pod is to end',
    mayEndPreparing: 'the pod is to end, and no step of its preparation is under way',
    preparingFailed: 'a step of its preparation has failed, and none is under way any more',
    hasEnded: 'all that the pod was to run has ended for good',
    endIsUnproven: 'the pod seems to be over, and the death of its sandbox may be why',
    hasPredecessor: 'another pod of the same name has not ended yet',
    deadlinePassed: 'the time that activeDeadlineSeconds gives the pod has passed',
    prepared: "the pod's cgroup, directories and volumes are there",
    volumesMounted: 'every volume that a container uses is mounted',
    containersStopped: 'no container runs and no call about one is under way',
    mustReplaceSandbox: 'the sandbox that is there cannot be used any more',
    lacksNetwork: "a sandbox is needed and the runtime's pod network is not ready",
    lacksSandbox: 'there is no sandbox that can be used',
    somethingRuns: 'a container still runs',
    sandboxStands: 'a sandbox is not stopped yet',
    isRecorded: 'how the pod ended is kept',
    isRemoved: 'the pod is gone from its source',
  },
  delays: {
    podRetry: 'the wait before the next try',
    volumesTimeout: 'the time after which missing volumes are told of',
    activeDeadline: 'the time that activeDeadlineSeconds gives the pod',
    respawn: 'the wait before what failed is made anew',
  },
  events: {
    'pod.desired': 'the pod is changed at its source',
    'pod.terminate': 'somebody asks for its end',
    'pod.removed': 'the pod is taken from its source',
    'pod.observed': 'the runtime shows the pod anew',
    'container.exited': 'a container ends',
    'predecessor.gone': 'the other pod of the same name has ended',
    'network.ready': "the runtime's pod network is ready",
    'node.addressed': "the node's addresses change",
    'container.changed': 'something changes at a container',
    'container.probed': 'probes of a container have found something new',
    'volume.changed': 'something changes at a volume',
    'object.changed': 'an object of the API that it refers to changes',
    'event.happened': 'something is told to users',
    'child.respawn': 'what failed is to be made anew',
  },
};

export const containerWords: ChartWords = {
  guards: {
    mustStop: 'an instance runs that is to be stopped',
    mustStopLater: 'an instance is to be stopped and the last stop has just failed',
    mustRemove: 'an instance is there that has to be removed first',
    runs: 'an instance runs as it is wanted',
    hasEnded: 'its newest instance has ended, and what follows is not decided yet',
    isComplete: 'it has ended and is not to run again',
    mustRetryLater: 'it could not be created or started just now',
    mustBackOff: 'its crash back-off is not over',
    mayStartCreated: 'an instance is created and only has to be started',
    mayFetch: 'it starts first once there is a sandbox, and its image is not known to be there',
    hasImage: 'it is its turn to start, and its image has just been got onto the node',
    mayStart: 'it is its turn to start',
    backsOff: 'it could not be started several times in a row',
    isAboutRunning: 'the probe was of the instance that runs',
    lacksConfig: 'something that its configuration needs is missing',
    stillRuns: 'it is still to run as it does',
    stillMayFetch: 'it is still the first to start, with the same image',
    stillMayStart: 'it is still its turn to start, with the same image',
    stillWanted: 'it is still wanted where it was created',
    graceShrank: 'it is given less time to end than before',
  },
  delays: {
    crashBackoff: 'the crash back-off',
    retry: 'the wait before the next try',
    reason: 'the moment before the failed start counts as a crash',
    stopRetry: 'the wait before it is asked to stop again',
    lookAgain: 'the wait before the runtime is asked again',
    respawn: 'the wait before what failed is made anew',
  },
  events: {
    'container.desired': 'its pod plans anew',
    'probe.judged': 'a probe has found something new',
    'child.respawn': 'what failed is to be made anew',
    'event.happened': 'something is told to users',
    'image.waiting': 'its image cannot be had',
    'objects.changed': 'an object of the API that the pod refers to changes',
  },
};

export const probeWords: ChartWords = {
  guards: {
    mustKeep: 'enough results in a row say something else than is known, or what is known could not be kept',
    mayTryAgain: 'it could not be made, and was not tried three times yet',
    isDecided: 'what was found stands for as long as the instance runs',
  },
  delays: {
    keepRetry: 'the wait before what was found is kept',
    firstProbe: 'the initial delay',
    period: 'the rest of the period',
  },
  events: {},
};

export const imagePullWords: ChartWords = {
  guards: {
    hasBadName: 'the name of the image cannot be read',
    isUsable: 'the image is there and its pull policy lets it be used',
    isNeverPulled: 'the image is not there and its pull policy forbids to pull it',
    mustBackOff: 'the back-off after the last failed pull is not over',
  },
  delays: {
    showError: 'the moment before the back-off begins',
    pullBackoff: 'the back-off before the next pull',
    lookAgain: 'the wait before the image is looked for again',
  },
  events: {},
};

export const volumeWords: ChartWords = {
  guards: {
    isHeld: 'its pod ends',
    isStale: 'what it shows has changed',
    wasMounted: 'it is mounted from before',
  },
  delays: {
    retry: 'the wait before it is mounted again',
    refresh: 'the time until what it shows is read anew',
  },
  events: {
    'volume.desired': 'the pod is changed at its source',
    'volume.stale': 'an object that it shows changes',
    'volume.hold': 'its pod ends',
  },
};
