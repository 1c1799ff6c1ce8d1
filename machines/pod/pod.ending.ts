import { endOf, failed, nextToStop, podSetup, ref } from './pod.setup.ts';

/** From the wish that the pod end to the proof that nothing of it runs and its sandbox is stopped. */
export const terminating = podSetup.createStateConfig({
  description: 'The pod is to end: its containers are stopped within one shared grace, then its sandbox.',
  initial: 'stoppingContainers',
  entry: ['holdVolumes', 'act', 'replan'],
  states: {
    stoppingContainers: {
      meta: { awaits: ['containersStopped'] },
      description: 'Every container is told to stop; waits until none runs and no call is in flight.',
      always: { guard: 'containersStopped', target: 'proving' },
    },
    proving: {
      description: 'Looks at the runtime afresh: nothing is released before it shows that nothing runs.',
      invoke: {
        src: 'observePod',
        input: ({ context }) => ref(context),
        onDone: { target: 'deciding', actions: ['succeed', 'observe', 'replan'] },
        onError: { target: 'waitingToProve', actions: 'countFailure' },
      },
    },
    waitingToProve: {
      description: 'The runtime did not answer; waits before it is asked again.',
      after: { podRetry: 'proving' },
      on: { 'network.ready': { target: 'proving', actions: 'learn' } },
    },
    deciding: {
      description: 'Nothing may run any more: sandboxes are stopped one by one, then the pod is terminated.',
      always: [
        { guard: 'somethingRuns', target: 'stoppingContainers' },
        { guard: 'sandboxStands', target: 'stoppingSandbox' },
        { target: '#pod.terminated' },
      ],
    },
    stoppingSandbox: {
      description: 'Has the runtime stop the sandbox and give back its network.',
      invoke: {
        src: 'stopSandbox',
        input: ({ context }) => ({ id: nextToStop(context) }),
        onDone: { target: 'deciding', actions: ['succeed', 'sandboxStopped'] },
        onError: {
          target: 'waitingToStopSandbox',
          actions: failed('FailedKillPod', 'error killing pod: '),
        },
      },
    },
    waitingToStopSandbox: {
      description: 'The sandbox could not be stopped; waits before the next try, as long as it takes.',
      after: { podRetry: 'proving' },
      on: { 'network.ready': { target: 'proving', actions: 'learn' } },
    },
  },
});

/** Nothing runs: what the pod held is given back, and at last every trace of it removed. */
export const terminated = podSetup.createStateConfig({
  description: 'Nothing of the pod runs; what it held is given back.',
  tags: 'containersStopped',
  initial: 'recording',
  entry: ['dismissContainers', 'dismissVolumes'],
  states: {
    recording: {
      description: 'Keeps how the pod ended, and then shows it, however long its volumes are busy.',
      invoke: {
        src: 'recordEnd',
        input: ({ context }) => ({ ...ref(context), status: endOf(context) }),
        onDone: { target: 'releasing', actions: ['release', 'noteRecorded', 'replan'] },
        // A full disk must not keep what would empty it.
        onError: 'releasing',
      },
    },
    releasing: {
      description: 'Unmounts the volumes and removes the cgroup; from the second try on it kills what is left in it.',
      invoke: {
        src: 'releasePod',
        input: ({ context }) => ({
          ...ref(context),
          pod: context.orphan ? undefined : context.pod,
          // The runtime has said that nothing runs; what is still there after a first try is nobody's any more.
          leftovers: context.failures > 0 ? 'kill' : 'keep',
        }),
        onDone: [
          { guard: 'isRecorded', target: 'finished', actions: ['succeed', 'reportReleased'] },
          { target: 'reporting', actions: ['succeed', 'release', 'replan'] },
        ],
        onError: { target: 'waitingToRelease', actions: failed('FailedKillPod', 'error releasing pod: ') },
      },
    },
    waitingToRelease: {
      description: 'Something could not be given back; waits before the next try.',
      after: { podRetry: 'releasing' },
    },
    reporting: {
      description: 'Tries again to keep how the pod ended, so that a later agent does not run it again.',
      invoke: {
        src: 'recordEnd',
        input: ({ context }) => ({ ...ref(context), status: context.status }),
        onDone: { target: 'finished', actions: 'reportReleased' },
        onError: {
          target: 'waitingToReport',
          actions: failed('FailedSync', 'the end of the pod could not be recorded: '),
        },
      },
    },
    waitingToReport: {
      description: 'The end could not be kept; waits before the next try, unless the pod is gone from its source.',
      always: { guard: 'isRemoved', target: 'finished', actions: 'reportReleased' },
      after: { podRetry: 'reporting' },
    },
    finished: {
      meta: { awaits: ['isRemoved'] },
      description: 'The end is reported; containers and logs stay to be read until the pod is gone from its source.',
      tags: 'released',
      always: { guard: 'isRemoved', target: 'removing' },
    },
    removing: {
      description: 'Removes containers, sandboxes, logs and directories: the pod is gone from its source.',
      tags: 'released',
      invoke: {
        src: 'removePod',
        input: ({ context }) => ({
          ...ref(context),
          pod: context.orphan ? undefined : context.pod,
          containers: context.observed.containers,
          sandboxes: context.observed.sandboxes,
        }),
        onDone: 'gone',
        onError: { target: 'waitingToRemove', actions: failed('FailedKillPod', 'error removing pod: ') },
      },
    },
    waitingToRemove: {
      description: 'Something could not be removed; waits before the next try.',
      tags: 'released',
      after: { podRetry: 'removing' },
    },
    gone: { description: 'No trace of the pod is left on this node.', tags: 'released', type: 'final' },
  },
  onDone: 'gone',
});
