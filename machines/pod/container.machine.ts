import { AgentError } from '../agent-error.types.ts';
import type { ParentRef } from '../agent.types.ts';
import { initialContext, keptStopOf, type ContainerContext } from './container.context.ts';
import { containerSetup, failedWith, fieldPath } from './container.setup.ts';
import type { ImagePullInput } from './image-pull.types.ts';
import { nextAttempt } from './policy/container-view.ts';
import { imagePullPolicy } from './policy/image-policy.ts';
import { containerWords } from './words.ts';

const created = {
  type: 'record',
  params: { type: 'Normal', reason: 'Created', message: 'Container created' },
} as const;
const started = {
  type: 'record',
  params: { type: 'Normal', reason: 'Started', message: 'Container started' },
} as const;
const lookFailed = {
  type: 'record',
  params: ({ event }: { event: { error: unknown } }) => ({
    type: 'Warning' as const,
    reason: 'FailedSync',
    message: `error determining status: ${AgentError.from(event.error, 'ContainerStatus').message}`,
  }),
} as const;

const imagePullInput = ({ context, self }: { context: ContainerContext; self: ParentRef }): ImagePullInput => ({
  env: context.env,
  parent: self,
  pod: context.pod,
  fieldPath: fieldPath(context),
  image: context.container.image ?? '',
  imagePullPolicy: imagePullPolicy(context.container),
  backoff: context.imageBackoff?.image === context.container.image ? context.imageBackoff?.backoff : undefined,
});

/**
 * One container of a pod: brings what planContainers wants of it about. Its parent pushes down all it is to go by
 * (`container.desired`) and gets every own call's answer at once (`container.changed`).
 */
export const containerMachine = containerSetup.createMachine({
  id: 'container',
  meta: containerWords,
  description:
    'One container of a pod: has an instance of it running, leaves it, or stops it, as the plan of its pod says.',
  context: ({ input }) => initialContext(input),
  initial: 'deciding',
  on: {
    'container.desired': { actions: 'learn' },
    'event.happened': { actions: 'forward' },
    'probe.judged': { guard: 'isAboutRunning', actions: ['takeVerdict', 'tendProbes'] },
    'xstate.error.actor.probe.*': { actions: 'mournProbe' },
    'child.respawn': { actions: ['forgive', 'tendProbes'] },
  },
  states: {
    deciding: {
      description: 'Finds from the plan, the sandbox and the instances there are what is to be done next.',
      entry: 'tendProbes',
      always: [
        { guard: 'mustStop', target: 'stopping' },
        { guard: 'mustStopLater', target: 'waitingToStop' },
        { guard: 'mustRemove', target: 'removing' },
        { guard: 'runs', target: 'running' },
        { guard: 'hasEnded', target: 'exited' },
        { guard: 'isComplete', target: 'completed' },
        { guard: 'mustRetryLater', target: 'waitingToRetry' },
        { guard: 'mustBackOff', target: 'crashLoopBackOff' },
        { guard: 'mayStartCreated', target: 'starting', actions: 'aim' },
        { guard: 'hasImage', target: 'creating', actions: 'serveBackoff' },
        { guard: 'mayStart', target: 'pulling', actions: 'serveBackoff' },
        { guard: 'mayFetch', target: 'fetching' },
        { target: 'waiting' },
      ],
    },
    waiting: {
      description: 'Does not run yet: its turn has not come, or the pod has no sandbox.',
      tags: 'stopped',
      entry: 'stopWaiting',
      on: { 'container.desired': { target: 'deciding', actions: 'learn' } },
    },
    fetching: {
      description:
        'It starts first in the sandbox of its pod: its image is looked up, and pulled where that is needed, without waiting for that.',
      invoke: {
        id: 'imagePull',
        src: 'imagePull',
        input: imagePullInput,
        onDone: {
          target: 'deciding',
          actions: [{ type: 'takeImage', params: ({ event }) => event.output.imageRef }, 'keepImage', 'stopWaiting'],
        },
        onError: { target: 'deciding', actions: [failedWith('ErrImagePull'), 'tellIdle'] },
      },
      on: {
        'image.waiting': { actions: 'waitForImage' },
        'container.desired': [
          { guard: 'stillMayFetch', actions: 'learn' },
          { target: 'deciding', actions: 'learn' },
        ],
      },
    },
    pulling: {
      description: 'Its image is looked up, and pulled where that is needed.',
      invoke: {
        id: 'imagePull',
        src: 'imagePull',
        input: imagePullInput,
        onDone: {
          target: 'creating',
          actions: { type: 'takeImage', params: ({ event }) => event.output.imageRef },
        },
        onError: { target: 'deciding', actions: [failedWith('ErrImagePull'), 'tellIdle'] },
      },
      on: {
        'image.waiting': { actions: 'waitForImage' },
        'container.desired': [
          { guard: 'stillMayStart', actions: 'learn' },
          { target: 'deciding', actions: 'learn' },
        ],
      },
    },
    creating: {
      description: 'The runtime creates an instance in the sandbox of the pod.',
      tags: 'busy',
      entry: ['prepareToCreate', 'called', 'tellBusy'],
      invoke: {
        src: 'createContainer',
        input: ({ context: { pod, container, kind, sandbox, imageRef, ...view } }) => {
          if (!sandbox) throw new Error('creating without a sandbox');
          return { pod, container, kind, attempt: nextAttempt(view), sandbox, imageRef };
        },
        onDone: [
          {
            guard: 'stillWanted',
            target: 'starting',
            actions: [created, { type: 'takeCreated', params: ({ event }) => event.output.id }],
          },
          {
            target: 'inspecting',
            actions: [created, { type: 'takeCreated', params: ({ event }) => event.output.id }],
          },
        ],
        onError: { target: 'inspecting', actions: failedWith('CreateContainerError') },
      },
    },
    starting: {
      description: 'The runtime starts the created instance.',
      tags: ['busy', 'mayRun'],
      entry: ['called', 'tellBusy'],
      invoke: {
        src: 'startContainer',
        input: ({ context: { pod, container, target } }) => ({ pod, container, id: target?.id ?? '' }),
        onDone: {
          target: 'deciding',
          actions: ['started', { type: 'take', params: ({ event }) => event.output }, started],
        },
        onError: { target: 'inspecting', actions: [failedWith('RunContainerError'), 'failToStart'] },
      },
    },
    running: {
      description: 'An instance runs in the sandbox of the pod.',
      tags: ['mayRun', 'ready'],
      entry: 'stopWaiting',
      on: {
        'container.desired': [
          { guard: 'stillRuns', actions: ['learn', 'tendProbes'] },
          { target: 'deciding', actions: 'learn' },
        ],
      },
    },
    stopping: {
      description: 'The runtime stops an instance, which has its grace period to end by itself.',
      tags: ['busy', 'mayRun'],
      entry: ['aimToStop', 'called', 'tellBusy'],
      invoke: {
        src: 'stopContainer',
        input: ({ context }) => ({ pod: context.pod, name: context.container.name, ...keptStopOf(context) }),
        onDone: {
          target: 'deciding',
          actions: [
            { type: 'stopped', params: ({ event }) => event.output },
            { type: 'take', params: ({ event }) => event.output },
          ],
        },
        onError: {
          target: 'inspecting',
          actions: { type: 'failToStop', params: ({ event }) => ({ error: event.error }) },
        },
      },
      on: {
        'container.desired': [
          { guard: 'graceShrank', target: 'stopping', reenter: true, actions: 'learn' },
          { actions: 'learn' },
        ],
      },
    },
    waitingToStop: {
      description: 'A stop failed; it is asked for again after a moment.',
      tags: 'mayRun',
      on: { 'container.desired': { target: 'deciding', actions: 'learn' } },
      after: { stopRetry: { target: 'deciding', actions: 'stopNow' } },
    },
    exited: {
      description: 'Its newest instance ended, or was stopped; what follows is for the plan to say.',
      tags: 'stopped',
      on: { 'container.desired': { target: 'deciding', actions: 'learn' } },
    },
    crashLoopBackOff: {
      description:
        'Its newest instance ended or could not be started, and the next one starts when the crash back-off is over.',
      tags: 'stopped',
      entry: 'waitForCrash',
      on: { 'container.desired': { target: 'deciding', actions: 'learn' } },
      after: { crashBackoff: { target: 'deciding', actions: ['serveBackoff', 'retryNow'] } },
    },
    waitingToRetry: {
      description: 'A create or start failed; the next attempt follows after a back-off.',
      tags: 'stopped',
      on: {
        'container.desired': { target: 'deciding', actions: 'learn' },
        'objects.changed': { guard: 'lacksConfig', target: 'deciding', actions: 'retryNow' },
      },
      after: {
        reason: { guard: 'backsOff', target: 'deciding', actions: 'backOff' },
        retry: { target: 'deciding', actions: 'retryNow' },
      },
    },
    inspecting: {
      description:
        'The runtime is asked what became of the instances, because a call failed or came too late to count.',
      tags: ['busy', 'mayRun'],
      entry: ['called', 'tellBusy'],
      invoke: {
        src: 'inspectContainer',
        input: ({ context: { pod, container } }) => ({ podUid: pod.metadata.uid, name: container.name }),
        onDone: { target: 'deciding', actions: { type: 'takeLook', params: ({ event }) => event.output } },
        onError: { target: 'waitingToInspect', actions: lookFailed },
      },
    },
    waitingToInspect: {
      description: 'The runtime did not answer; nothing is done before it does.',
      tags: ['busy', 'mayRun'],
      after: { lookAgain: 'inspecting' },
    },
    removing: {
      description:
        'An instance is removed that never started, whose state nobody knows, or that ended before the newest one.',
      tags: ['busy', 'mayRun'],
      entry: ['aim', 'called', 'tellBusy'],
      invoke: {
        src: 'removeContainer',
        input: ({ context: { target } }) => ({ id: target?.id ?? '', logPath: target?.logPath ?? '' }),
        onDone: { target: 'deciding', actions: { type: 'take', params: () => undefined } },
        onError: { target: 'inspecting', actions: 'failToRemove' },
      },
    },
    completed: {
      description: 'It ended and is not to run again.',
      tags: 'stopped',
      entry: 'stopWaiting',
      on: { 'container.desired': { target: 'deciding', actions: 'learn' } },
    },
  },
});
