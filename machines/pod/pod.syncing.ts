import { assign } from 'xstate';
import { failed, nextToStop, podSetup, ref } from './pod.setup.ts';
import { withError } from '../with-error.ts';
import { withSandbox } from './policy/merge-observed.ts';

/** The part of the pod's life in which its containers may run. */
export const syncing = podSetup.createStateConfig({
  description: 'The pod is to run: what it needs is prepared, and its containers follow the plan.',
  tags: 'mayRunContainers',
  initial: 'preparing',
  invoke: {
    src: 'followObjects',
    input: ({ context }) => ({ pod: context.pod }),
    onError: { actions: withError('recordUnfollowed') },
  },
  after: { activeDeadline: { guard: 'deadlinePassed', actions: ['endAtDeadline', 'replan'] } },
  states: {
    preparing: {
      description: 'Makes what the containers stand on, side by side: cgroup, directories, volumes.',
      type: 'parallel',
      // It is left only when nothing is under way: that would leave behind what the end has cleared away.
      always: [
        { guard: 'mayEndPreparing', target: '#pod.terminating' },
        { guard: 'preparingFailed', target: 'backoff' },
      ],
      onDone: { target: 'active', actions: ['succeed', assign({ prepared: true })] },
      states: {
        cgroup: {
          description: 'The cgroup of the pod.',
          initial: 'ensuringCgroup',
          states: {
            ensuringCgroup: {
              description: "Makes the pod's cgroup with its limits.",
              invoke: {
                src: 'ensureCgroup',
                input: ({ context }) => ({ pod: context.pod }),
                onDone: 'ensured',
                onError: {
                  target: 'failed',
                  actions: failed('FailedCreatePodContainer', 'unable to ensure pod container exists: '),
                },
              },
            },
            failed: { description: 'The cgroup could not be made; waits for the other steps before the next try.' },
            ensured: { type: 'final', description: 'The cgroup is there.' },
          },
        },
        directories: {
          description: 'The directories of the pod.',
          initial: 'makingDirectories',
          states: {
            makingDirectories: {
              description: "Makes the pod's directories and reads how far its logs have counted.",
              invoke: {
                src: 'makeDirectories',
                input: ({ context }) => ({ pod: context.pod }),
                onDone: {
                  target: 'made',
                  actions: assign(({ event }) => ({ highestLogAttempt: event.output.highestLogAttempt })),
                },
                onError: {
                  target: 'failed',
                  actions: failed('Failed', 'error making pod data directories: '),
                },
              },
            },
            failed: {
              description: 'The directories could not be made; waits for the other steps before the next try.',
            },
            made: { type: 'final', description: 'The directories are there.' },
          },
        },
        volumes: {
          description: 'The volumes that its containers use.',
          initial: 'waitingForVolumes',
          states: {
            waitingForVolumes: {
              meta: { awaits: ['volumesMounted'] },
              description:
                'Every volume that a container uses is mounted by an actor of its own; waits for all of them.',
              entry: 'makeVolumes',
              always: { guard: 'volumesMounted', target: 'mounted' },
              after: { volumesTimeout: { target: 'waitingForVolumes', reenter: true, actions: 'recordVolumesLate' } },
            },
            mounted: { type: 'final', description: 'The volumes are there.' },
          },
        },
      },
    },
    active: {
      description: 'The containers follow the plan; the sandbox is made when there is none that can be used.',
      entry: ['act', 'replan'],
      always: [
        { guard: 'mustEnd', target: '#pod.terminating' },
        { guard: 'endIsUnproven', target: 'inspecting' },
        { guard: 'hasEnded', target: '#pod.terminating', actions: 'end' },
        { guard: 'deadlinePassed', target: '#pod.terminating', actions: 'endAtDeadline' },
        { guard: 'mustReplaceSandbox', target: 'stoppingOldSandbox', actions: 'recordSandboxChanged' },
        { guard: 'lacksNetwork', target: 'waitingForNetwork' },
        { guard: 'lacksSandbox', target: 'startingSandbox' },
      ],
    },
    waitingForNetwork: {
      meta: { awaits: ['network.ready'] },
      description: 'The runtime says that the pod network is not ready; pods of the host network go on.',
      entry: 'recordNetworkNotReady',
      always: { guard: 'mustEnd', target: '#pod.terminating' },
      on: { 'network.ready': { target: 'active', actions: 'learn' } },
    },
    stoppingOldSandbox: {
      description: 'Stops a sandbox that cannot be used any more, before another is made.',
      invoke: {
        src: 'stopSandbox',
        input: ({ context }) => ({ id: nextToStop(context) }),
        onDone: { target: 'active', actions: 'sandboxStopped' },
        onError: { target: 'backoff', actions: failed('FailedKillPod', 'error killing pod: ') },
      },
    },
    startingSandbox: {
      description: 'Has the runtime make the sandbox: network, pause process, and what the containers share.',
      invoke: {
        src: 'runSandbox',
        input: ({ context: { pod, plan } }) => ({
          pod,
          attempt: plan.sandbox.do === 'create' ? plan.sandbox.attempt : 0,
        }),
        onDone: {
          target: 'active',
          actions: [
            'succeed',
            assign(({ context, event }) => ({ observed: withSandbox(context.observed, event.output) })),
          ],
        },
        onError: { target: 'backoff', actions: failed('FailedCreatePodSandBox', 'Failed to create pod sandbox: ') },
      },
    },
    backoff: {
      description: 'Waits after a failed step; a look at the runtime comes before the next try.',
      always: { guard: 'mustEnd', target: '#pod.terminating' },
      after: { podRetry: 'inspecting' },
      on: { 'network.ready': { target: 'inspecting', actions: 'learn' } },
    },
    inspecting: {
      description:
        'Looks at what the runtime has: a call that failed may have done its work, or the sandbox may have died unseen.',
      invoke: {
        src: 'observePod',
        input: ({ context }) => ref(context),
        onDone: [
          { guard: 'prepared', target: 'active', actions: 'observe' },
          { target: 'preparing', actions: 'observe' },
        ],
        onError: { target: 'backoff', actions: 'countFailure' },
      },
    },
  },
});
