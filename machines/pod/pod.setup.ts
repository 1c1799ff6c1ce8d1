import { and, assign, enqueueActions, not, or, setup, stateIn, stopChild } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import { happened } from '../notify.ts';
import { slot, watchSlot } from '../slot.types.ts';
import { containerMachine } from './container.machine.ts';
import {
  containerInput,
  learn,
  terminationOf,
  type ChildFailed,
  type PodContext,
  type Respawn,
} from './pod.context.ts';
import type { ObservedPod } from '../runtime.types.ts';
import type { FollowObjectsInput, PodEvent, PodInput, PodSlots } from './pod.types.ts';
import { volumeReferences } from './policy/object-references.ts';
import { usedVolumes, volumesShowing } from './policy/used-volumes.ts';
import { volumeMachine } from './volume.machine.ts';
import { deadlineRemaining } from './policy/deadline.ts';
import { mergeObserved, withSandboxStopped } from './policy/merge-observed.ts';
import { anyRunning, endIsUnproven, planPod, sandboxesToStop, statusOf } from './policy/pod-view.ts';
import { sameJson } from './policy/same-json.ts';
import { samePush } from './policy/same-push.ts';

const slots: PodSlots = {
  ensureCgroup: slot('ensureCgroup'),
  makeDirectories: slot('makeDirectories'),
  runSandbox: slot('runSandbox'),
  stopSandbox: slot('stopSandbox'),
  observePod: slot('observePod'),
  releasePod: slot('releasePod'),
  recordEnd: slot('recordEnd'),
  removePod: slot('removePod'),
};

export const ref = ({ uid, name, namespace }: PodContext) => ({ uid, name, namespace });
const quiet = ({ busy, observed }: PodContext) => busy.length === 0 && !anyRunning(observed);
/** The status that it ends with, before that is told. */
export const endOf = (context: PodContext) => statusOf({ ...context, released: true }, context.env.now());
export const nextToStop = ({ observed, stoppedSandboxes }: PodContext) =>
  sandboxesToStop(observed, stoppedSandboxes)[0] ?? '';
const deadline = ({ pod, status, env }: PodContext) => deadlineRemaining(pod, status?.startTime, env.now());
/** Of a pod without a deadline, ms: a hundred years, that no node lives. */
const NO_DEADLINE = 3_153_600_000_000;
/** First wait after a failed effect of the pod itself, ms; doubles up to podRetryMs. */
const FIRST_RETRY = 500;

/** A pod that has waited so long for its volumes is told of, ms (volume_manager.go: podAttachAndMountTimeout). */
const VOLUMES_TIMEOUT = 123_000;
const unmounted = ({ pod, mounted }: PodContext) =>
  usedVolumes(pod).flatMap(({ name }) => (mounted.includes(name) ? [] : name));

/** A failed effect: the event's reason and what its message begins with (test/facts/events.tsv). */
interface Failure {
  error: unknown;
  reason: string;
  says: string;
}

/** The `fail` action for an onError: the event's reason and what its message begins with. */
export const failed = (reason: string, says: string) =>
  ({
    type: 'fail',
    params: ({ event }: { event: { error: unknown } }) => ({ error: event.error, reason, says }),
  }) as const;

/** A step of its preparation that changes something on the node. */
const underWay = or([
  stateIn({ syncing: { preparing: { cgroup: 'ensuringCgroup' } } }),
  stateIn({ syncing: { preparing: { directories: 'makingDirectories' } } }),
]);

export const podSetup = setup({
  types: {
    context: {} as PodContext,
    input: {} as PodInput,
    events: {} as PodEvent | ChildFailed | Respawn,
    tags: {} as 'mayRunContainers' | 'containersStopped' | 'released',
  },
  actors: {
    container: containerMachine,
    volume: volumeMachine,
    followObjects: watchSlot<FollowObjectsInput>('followObjects'),
    ...slots,
  },
  delays: {
    podRetry: ({ context: { settings, failures } }) =>
      Math.min(settings.podRetryMs, FIRST_RETRY * 2 ** Math.min(failures, 10)),
    volumesTimeout: VOLUMES_TIMEOUT,
    respawn: 1000,
    // Timers count whole milliseconds and may be a part of one early: the deadline must have passed when it fires.
    activeDeadline: ({ context }) => Math.ceil(deadline(context) ?? NO_DEADLINE) + 1,
  },
  guards: {
    mustEnd: ({ context }) => context.termination !== undefined,
    /** The pod is to end, and no effect of its preparation is under way. */
    mayEndPreparing: and(['mustEnd', not(underWay)]),
    /** A step of its preparation failed, and none is under way any more. */
    preparingFailed: and([
      not(underWay),
      or([
        stateIn({ syncing: { preparing: { cgroup: 'failed' } } }),
        stateIn({ syncing: { preparing: { directories: 'failed' } } }),
      ]),
    ]),
    hasEnded: ({ context }) => context.plan.finished,
    endIsUnproven: ({ context }) => endIsUnproven(context.plan, context.observed),
    hasPredecessor: ({ context }) => context.predecessorUid !== undefined && !anyRunning(context.observed),
    deadlinePassed: ({ context }) => (deadline(context) ?? 1) <= 0,
    prepared: ({ context }) => context.prepared,
    volumesMounted: ({ context }) => unmounted(context).length === 0,
    containersStopped: ({ context }) => quiet(context),
    mustReplaceSandbox: ({ context }) =>
      context.plan.sandbox.do === 'create' && quiet(context) && nextToStop(context) !== '',
    lacksNetwork: ({ context }) =>
      context.plan.sandbox.do === 'create' && !context.networkReady && !context.pod.spec.hostNetwork,
    lacksSandbox: ({ context }) => context.plan.sandbox.do === 'create' && quiet(context),
    somethingRuns: ({ context }) => anyRunning(context.observed),
    sandboxStands: ({ context }) => nextToStop(context) !== '',
    isRecorded: ({ context }) => context.recorded,
    isRemoved: ({ context }) => context.removed,
  },
  actions: {
    learn: assign(({ context, event }) => learn(context, event)),
    forward: ({ context, event }) => {
      if (event.type === 'event.happened') context.parent.send(event);
    },
    /** The pod's own end: all its containers ended, or its deadline passed. */
    end: assign(({ context }) => ({ termination: terminationOf(context, { over: true }, context.env.elapsed()) })),
    endAtDeadline: enqueueActions(({ context, enqueue }) => {
      const failed = {
        reason: 'DeadlineExceeded',
        message: 'Pod was active on the node longer than the specified deadline',
      };
      enqueue.assign({ termination: terminationOf(context, { failed }, context.env.elapsed()) });
      enqueue(() => happened(context.parent, { type: 'Normal', ...failed, pod: ref(context) }));
    }),
    /** A child threw: told as an event, and made anew after a while from what is observed. */
    mourn: enqueueActions(({ context, event, enqueue }) => {
      const { actorId, error } = event as ChildFailed;
      enqueue(stopChild(actorId));
      const message = `${actorId} failed and is started again: ${AgentError.from(error, 'pod').message}`;
      enqueue(() => happened(context.parent, { type: 'Warning', reason: 'FailedSync', message, pod: ref(context) }));
      enqueue.raise({ type: 'child.respawn', id: actorId }, { delay: 'respawn' });
    }),
    act: assign({ acting: true }),
    succeed: assign({ failures: 0, failure: undefined }),
    /** One more failed effect: recorded for the user, counted for the wait. */
    fail: enqueueActions(({ context, enqueue }, { error, reason, says }: Failure) => {
      const failure = AgentError.from(error, reason);
      const { sandbox } = context.plan;
      const reserved = failure.reason === 'NameReserved' && sandbox.do === 'create';
      enqueue.assign({
        failures: context.failures + 1,
        failure: `${says}${failure.message}`,
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
      const plan = planPod(context, context.env.elapsed());
      enqueue.assign({ plan });
      for (const name of context.acting ? Object.keys(plan.containers) : []) {
        const input = { ...containerInput(context, plan, name), parent: self };
        const child = context.containers[name];
        if (child) {
          const { pod: desired, container, sandbox, instances, plan: own } = input;
          const push = { type: 'container.desired' as const, pod: desired, container, plan: own, sandbox, instances };
          if (samePush(push, context.told[name])) continue;
          enqueue.sendTo(child, push);
          enqueue.assign(({ context: { told } }) => ({ told: { ...told, [name]: push } }));
        } else if (!context.mourned.includes(`container.${name}`)) {
          enqueue.assign(({ spawn, context: { containers } }) => ({
            containers: { ...containers, [name]: spawn('container', { id: `container.${name}`, input }) },
          }));
        }
      }
      const status = statusOf({ ...context, plan }, now);
      // That it is what the API has already, only the first report tells.
      if (!status || context.reported || (context.shown && sameJson(status, context.status))) return;
      enqueue.assign({ status, shown: true });
      enqueue(() => context.parent.send({ type: 'pod.status', uid: context.uid, status }));
    }),
    /** One actor for each volume that has none: at the start, and in place of one that failed. */
    makeVolumes: enqueueActions(({ context, enqueue, self }) => {
      if (context.termination) return;
      const { env, pod, settings, volumes, mourned } = context;
      for (const volume of usedVolumes(pod)) {
        if (volumes[volume.name] || mourned.includes(`volume.${volume.name}`)) continue;
        // Nothing else of a volume is read anew by the clock: metadata is told, and a token says itself when.
        const refreshPeriodMs = volumeReferences(volume).length > 0 ? settings.refreshPeriodMs : undefined;
        const input = { env, parent: self, pod, volume, refreshPeriodMs };
        enqueue.assign(({ spawn, context: { volumes: made } }) => ({
          volumes: { ...made, [volume.name]: spawn('volume', { id: `volume.${volume.name}`, input }) },
        }));
      }
    }),
    tellVolumes: enqueueActions(({ context: { pod, volumes }, enqueue }) => {
      for (const volume of Object.values(volumes)) enqueue.sendTo(volume, { type: 'volume.desired', pod });
    }),
    holdVolumes: enqueueActions(({ context: { volumes }, enqueue }) => {
      for (const volume of Object.values(volumes)) enqueue.sendTo(volume, { type: 'volume.hold' });
    }),
    dismissVolumes: enqueueActions(({ context: { volumes }, enqueue }) => {
      for (const volume of Object.values(volumes)) enqueue(stopChild(volume));
      enqueue.assign({ volumes: {} });
    }),
    /** Volumes that show it are written anew, and containers that could not be configured try again. */
    passObjectChange: enqueueActions(({ context: { pod, volumes, containers }, event, enqueue }) => {
      if (event.type !== 'object.changed') return;
      for (const name of volumesShowing(pod, event.reference)) {
        const volume = volumes[name];
        if (volume) enqueue.sendTo(volume, { type: 'volume.stale' });
      }
      for (const container of Object.values(containers)) enqueue.sendTo(container, { type: 'objects.changed' });
    }),
    recordVolumesLate: ({ context }) =>
      happened(context.parent, {
        type: 'Warning',
        reason: 'FailedMount',
        message:
          `Unable to attach or mount volumes: unmounted volumes=[${unmounted(context).join(' ')}], ` +
          'unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
        pod: ref(context),
      }),
    recordUnfollowed: ({ context }, error: unknown) =>
      happened(context.parent, {
        type: 'Warning',
        reason: 'FailedSync',
        message: `changes of configMaps and secrets are not followed: ${AgentError.from(error, 'follow objects').message}`,
        pod: ref(context),
      }),
    dismissContainers: enqueueActions(({ context, enqueue }) => {
      for (const child of Object.values(context.containers)) enqueue(stopChild(child));
      enqueue.assign({ containers: {}, told: {}, acting: false, busy: [] });
    }),
    release: assign({ released: true }),
    noteRecorded: assign({ recorded: true }),
    /** The end is told: no status follows it. */
    reportReleased: enqueueActions(({ context, enqueue }) => {
      enqueue.assign({ reported: true });
      enqueue(() => context.parent.send({ type: 'pod.released', uid: context.uid }));
    }),
    /** A look that failed says nothing of its own where something else failed before. */
    countFailure: assign(({ context: { failures, failure }, event }) => ({
      failures: failures + 1,
      failure: failure ?? AgentError.from((event as unknown as { error: unknown }).error, 'observePod').message,
    })),
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
