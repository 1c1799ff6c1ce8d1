import { assign, enqueueActions, setup, stopChild } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';
import { slot } from '../slot.types.ts';
import { containerMachine } from './container.machine.ts';
import {
  containerInput,
  initialContext,
  learn,
  terminationOf,
  type ChildFailed,
  type PodContext,
} from './pod.context.ts';
import type { ObservedPod } from '../runtime.types.ts';
import type { PodEvent, PodInput, PodSlots } from './pod.types.ts';
import { deadlineRemaining } from './policy/deadline.ts';
import { mergeObserved, withSandbox, withSandboxStopped } from './policy/merge-observed.ts';
import { anyRunning, planPod, sandboxesToStop, statusOf } from './policy/pod-view.ts';
import { sameStatus } from './policy/same-status.ts';

const slots: PodSlots = {
  ensureCgroup: slot('ensureCgroup'),
  makeDirectories: slot('makeDirectories'),
  mountVolumes: slot('mountVolumes'),
  runSandbox: slot('runSandbox'),
  stopSandbox: slot('stopSandbox'),
  observePod: slot('observePod'),
  releasePod: slot('releasePod'),
  removePod: slot('removePod'),
};

const ref = ({ uid, name, namespace }: PodContext) => ({ uid, name, namespace });
const quiet = ({ busy, observed }: PodContext) => busy.length === 0 && !anyRunning(observed);
const nextToStop = ({ observed, stoppedSandboxes }: PodContext) => sandboxesToStop(observed, stoppedSandboxes)[0] ?? '';
const deadline = ({ pod, status, env }: PodContext) => deadlineRemaining(pod, status?.startTime, env.now());
/** Longest delay that timers take, ms: 2^31 - 1. */
const LONGEST_DELAY = 2_147_483_647;
/** First wait after a failed effect of the pod itself, ms; doubles up to podRetryMs. */
const FIRST_RETRY = 500;

/** A failed effect: the event's reason and what its message begins with (test/facts/events.tsv). */
interface Failure {
  error: unknown;
  reason: string;
  says: string;
}

const failed = (reason: string, says: string) =>
  ({
    type: 'fail',
    params: ({ event }: { event: { error: unknown } }) => ({ error: event.error, reason, says }),
  }) as const;

const podSetup = setup({
  types: {
    context: {} as PodContext,
    input: {} as PodInput,
    events: {} as PodEvent | ChildFailed,
    tags: {} as 'mayRunContainers' | 'containersStopped' | 'released',
  },
  actors: { container: containerMachine, ...slots },
  delays: {
    podRetry: ({ context: { settings, failures } }) =>
      Math.min(settings.podRetryMs, FIRST_RETRY * 2 ** Math.min(failures, 10)),
    activeDeadline: ({ context }) => Math.min(LONGEST_DELAY, deadline(context) ?? LONGEST_DELAY),
  },
  guards: {
    mustEnd: ({ context }) => context.termination !== undefined,
    hasEnded: ({ context }) => context.plan.finished,
    hasPredecessor: ({ context }) => context.predecessorUid !== undefined && !anyRunning(context.observed),
    deadlinePassed: ({ context }) => (deadline(context) ?? 1) <= 0,
    prepared: ({ context }) => context.prepared,
    containersStopped: ({ context }) => quiet(context),
    mustReplaceSandbox: ({ context }) =>
      context.plan.sandbox.do === 'create' && quiet(context) && nextToStop(context) !== '',
    lacksNetwork: ({ context }) =>
      context.plan.sandbox.do === 'create' && !context.networkReady && !context.pod.spec.hostNetwork,
    lacksSandbox: ({ context }) => context.plan.sandbox.do === 'create' && quiet(context),
    somethingRuns: ({ context }) => anyRunning(context.observed),
    sandboxStands: ({ context }) => nextToStop(context) !== '',
    isRemoved: ({ context }) => context.removed,
  },
  actions: {
    learn: assign(({ context, event }) => learn(context, event)),
    forward: ({ context, event }) => {
      if (event.type === 'event.happened') context.parent.send(event);
    },
    /** The pod's own end: all its containers ended, or its deadline passed. */
    end: assign(({ context }) => ({ termination: terminationOf(context, {}, context.env.now()) })),
    endAtDeadline: assign(({ context }) => ({
      termination: terminationOf(
        context,
        {
          failed: {
            reason: 'DeadlineExceeded',
            message: 'Pod was active on the node longer than the specified deadline',
          },
        },
        context.env.now(),
      ),
    })),
    act: assign({ acting: true }),
    succeed: assign({ failures: 0 }),
    /** One more failed effect: recorded for the user, counted for the wait. */
    fail: enqueueActions(({ context, enqueue }, { error, reason, says }: Failure) => {
      const failure = AgentError.from(error, reason);
      const { sandbox } = context.plan;
      const reserved = failure.reason === 'NameReserved' && sandbox.do === 'create';
      enqueue.assign({
        failures: context.failures + 1,
        // A name that stays reserved for a sandbox that never shows up is left to it: the next number is free.
        sandboxAttemptFloor: reserved && context.failures > 0 ? sandbox.attempt + 1 : context.sandboxAttemptFloor,
      });
      enqueue(() =>
        happened(context.parent, { type: 'Warning', reason, message: `${says}${failure.message}`, pod: ref(context) }),
      );
    }),
    /** Plans again from what is known now, tells the containers, and reports the status where it changed. */
    replan: enqueueActions(({ context, enqueue, self }) => {
      const now = context.env.now();
      const plan = planPod(context, now);
      enqueue.assign({ plan });
      for (const name of context.acting ? Object.keys(plan.containers) : []) {
        const input = { ...containerInput(context, plan, name), parent: self };
        const child = context.containers[name];
        if (child) {
          const { pod: desired, container, sandbox, instances, plan: own } = input;
          enqueue.sendTo(child, { type: 'container.desired', pod: desired, container, plan: own, sandbox, instances });
        } else {
          enqueue.assign(({ spawn, context: { containers } }) => ({
            containers: { ...containers, [name]: spawn('container', { id: `container.${name}`, input }) },
          }));
        }
      }
      const status = statusOf(context, now);
      if (!status || sameStatus(status, context.status)) return;
      enqueue.assign({ status });
      enqueue(() => context.parent.send({ type: 'pod.status', uid: context.uid, status }));
    }),
    dismissContainers: enqueueActions(({ context, enqueue }) => {
      for (const child of Object.values(context.containers)) enqueue(stopChild(child));
      enqueue.assign({ containers: {}, acting: false, busy: [] });
    }),
    release: assign({ released: true }),
    reportReleased: ({ context }) => context.parent.send({ type: 'pod.released', uid: context.uid }),
    countFailure: assign(({ context }) => ({ failures: context.failures + 1 })),
    /** The answer of an invoked look. */
    observe: assign(({ context, event }) => ({
      observed: mergeObserved(context.observed, (event as unknown as { output: ObservedPod }).output),
    })),
    sandboxStopped: assign(({ context }) => ({
      stoppedSandboxes: [...context.stoppedSandboxes, nextToStop(context)],
      observed: withSandboxStopped(context.observed, nextToStop(context), context.env.now()),
    })),
    recordSandboxChanged: ({ context }) =>
      happened(context.parent, {
        type: 'Normal',
        reason: 'SandboxChanged',
        message: 'Pod sandbox changed, it will be killed and re-created.',
        pod: ref(context),
      }),
    recordNetworkNotReady: ({ context }) =>
      happened(context.parent, {
        type: 'Warning',
        reason: 'NetworkNotReady',
        message: "network is not ready: the container runtime's network plugin is not ready",
        pod: ref(context),
      }),
  },
});

export const podMachine = podSetup.createMachine({
  id: 'pod',
  description: 'One pod on this node, from the first sight of it to the last trace of it.',
  context: ({ input }) => initialContext(input),
  initial: 'pending',
  entry: 'replan',
  on: {
    'pod.desired': { actions: ['learn', 'replan'] },
    'pod.terminate': { actions: ['learn', 'replan'] },
    'pod.removed': { actions: ['learn', 'replan'] },
    'pod.observed': { actions: ['learn', 'replan'] },
    'predecessor.gone': { actions: 'learn' },
    'network.ready': { actions: 'learn' },
    'container.changed': { actions: ['learn', 'replan'] },
    'event.happened': { actions: 'forward' },
    'xstate.error.actor.container.*': { actions: ['learn', 'replan'] },
  },
  states: {
    pending: {
      description: 'Nothing of the pod was started by this process yet.',
      initial: 'deciding',
      states: {
        deciding: {
          description:
            'Chooses by what is desired and what the runtime has, the same after a start as after a restart.',
          always: [
            { guard: 'mustEnd', target: '#pod.terminating' },
            { guard: 'hasEnded', target: '#pod.terminating', actions: 'end' },
            { guard: 'hasPredecessor', target: 'waitingForPredecessor' },
            { target: '#pod.syncing' },
          ],
        },
        waitingForPredecessor: {
          description: 'Another pod of the same name has not ended yet; two never run at once.',
          always: { guard: 'mustEnd', target: '#pod.terminating' },
          on: { 'predecessor.gone': { target: 'deciding', actions: 'learn' } },
        },
      },
    },
    syncing: {
      description: 'The pod is to run: what it needs is prepared, and its containers follow the plan.',
      tags: 'mayRunContainers',
      initial: 'preparing',
      after: { activeDeadline: { guard: 'deadlinePassed', actions: ['endAtDeadline', 'replan'] } },
      states: {
        preparing: {
          description: 'Makes what the containers stand on: cgroup, directories, volumes.',
          initial: 'ensuringCgroup',
          states: {
            ensuringCgroup: {
              description: "Makes the pod's cgroup with its limits.",
              invoke: {
                src: 'ensureCgroup',
                input: ({ context }) => ({ pod: context.pod }),
                onDone: 'makingDirectories',
                onError: {
                  target: '#pod.syncing.backoff',
                  actions: failed('FailedCreatePodContainer', 'unable to ensure pod container exists: '),
                },
              },
            },
            makingDirectories: {
              description: "Makes the pod's directories and reads how far its logs have counted.",
              invoke: {
                src: 'makeDirectories',
                input: ({ context }) => ({ pod: context.pod }),
                onDone: {
                  target: 'mountingVolumes',
                  actions: assign(({ event }) => ({ highestLogAttempt: event.output.highestLogAttempt })),
                },
                onError: {
                  target: '#pod.syncing.backoff',
                  actions: failed('Failed', 'error making pod data directories: '),
                },
              },
            },
            mountingVolumes: {
              description: 'Makes every volume ready to be bound into containers.',
              invoke: {
                src: 'mountVolumes',
                input: ({ context }) => ({ pod: context.pod }),
                onDone: { target: '#pod.syncing.active', actions: ['succeed', assign({ prepared: true })] },
                onError: { target: '#pod.syncing.backoff', actions: failed('FailedMount', '') },
              },
            },
          },
        },
        active: {
          description: 'The containers follow the plan; the sandbox is made when there is none that can be used.',
          entry: ['act', 'replan'],
          always: [
            { guard: 'mustEnd', target: '#pod.terminating' },
            { guard: 'hasEnded', target: '#pod.terminating', actions: 'end' },
            { guard: 'deadlinePassed', target: '#pod.terminating', actions: 'endAtDeadline' },
            { guard: 'mustReplaceSandbox', target: 'stoppingOldSandbox', actions: 'recordSandboxChanged' },
            { guard: 'lacksNetwork', target: 'waitingForNetwork' },
            { guard: 'lacksSandbox', target: 'startingSandbox' },
          ],
        },
        waitingForNetwork: {
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
          description: 'Looks at what the runtime has of the pod: a call that failed may have done its work.',
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
    },
    terminating: {
      description: 'The pod is to end: its containers are stopped within one shared grace, then its sandbox.',
      initial: 'stoppingContainers',
      entry: ['act', 'replan'],
      states: {
        stoppingContainers: {
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
    },
    terminated: {
      description: 'Nothing of the pod runs; what it held is given back.',
      tags: 'containersStopped',
      initial: 'releasing',
      entry: 'dismissContainers',
      states: {
        releasing: {
          description: 'Unmounts the volumes and removes the cgroup.',
          invoke: {
            src: 'releasePod',
            input: ({ context }) => ({ ...ref(context), pod: context.orphan ? undefined : context.pod }),
            onDone: { target: 'finished', actions: ['succeed', 'release', 'replan', 'reportReleased'] },
            onError: { target: 'waitingToRelease', actions: failed('FailedKillPod', 'error releasing pod: ') },
          },
        },
        waitingToRelease: {
          description: 'Something could not be given back; waits before the next try.',
          after: { podRetry: 'releasing' },
        },
        finished: {
          description:
            'The end is reported; containers and logs stay to be read until the pod is gone from its source.',
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
    },
    gone: { description: 'The actor has nothing more to do.', type: 'final' },
  },
});
