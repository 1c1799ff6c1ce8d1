import { assign, enqueueActions, setup, stopChild } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { RecordedEvent } from '../agent.types.ts';
import { happened } from '../notify.ts';
import type { ObservedContainer } from '../runtime.types.ts';
import { slot } from '../slot.types.ts';
import {
  afterConfigError,
  afterFailure,
  afterPush,
  afterServing,
  inOwnTime,
  probedInstance,
  probeInput,
  stopRecord,
  type ContainerContext,
  type ProbeFailed,
  type ProbeRespawn,
  type Probes,
} from './container.context.ts';
import type {
  ContainerChanged,
  ContainerEvent,
  ContainerInput,
  ContainerProbed,
  ContainerSlots,
} from './container.types.ts';
import { imagePullMachine } from './image-pull.machine.ts';
import { nextAttempt, viewAfterCall, viewAfterLook, viewWithout } from './policy/container-view.ts';
import {
  crashRemaining,
  decideContainer,
  reasonRemaining,
  retryRemaining,
  type ContainerDecision,
} from './policy/decide-container.ts';
import { goDuration } from './policy/duration.ts';
import { killMessage } from './policy/kill-message.ts';
import { wantedProbes } from './policy/probe-verdict.ts';
import { probeMachine } from './probe.machine.ts';
import type { ProbeType } from './probe.types.ts';

const slots: ContainerSlots = {
  createContainer: slot('createContainer'),
  startContainer: slot('startContainer'),
  stopContainer: slot('stopContainer'),
  inspectContainer: slot('inspectContainer'),
  removeContainer: slot('removeContainer'),
};

/** For how long an image that was got before there was a sandbox is taken to be still there, ms; unused ones stay 2 min. */
const FETCHED_MS = 60_000;

/** Wait before a probe that threw is made anew, ms. */
const RESPAWN_MS = 1_000;

const CONFIG_ERROR = 'CreateContainerConfigError';
/** Waiting reasons that a service may name; any other reason becomes the one of the step that failed. */
const WAITING_REASONS = [
  CONFIG_ERROR,
  'CreateContainerError',
  'PreCreateHookError',
  'RunContainerError',
  'PreStartHookError',
];

type Context = { context: ContainerContext };
const decided =
  (...to: ContainerDecision['to'][]) =>
  ({ context }: Context) =>
    to.includes(decideContainer(context, context.env.elapsed()).to);
type Heard = ContainerEvent | ProbeFailed | ProbeRespawn;
const pushed = (context: ContainerContext, event: Heard) =>
  event.type === 'container.desired' ? { ...context, ...afterPush(context, event) } : context;
const stillDecided =
  (...to: ContainerDecision['to'][]) =>
  ({ context, event }: Context & { event: Heard }) => {
    const after = pushed(context, event);
    return (
      to.includes(decideContainer(after, context.env.elapsed()).to) && after.container.image === context.container.image
    );
  };
const podName = ({ pod: { metadata } }: ContainerContext) => `${metadata.name}_${metadata.namespace}(${metadata.uid})`;

function report(context: ContainerContext, busy: boolean, change: Pick<ContainerChanged, 'instance' | 'gone'> = {}) {
  const { parent, container, waiting } = context;
  parent.send({ type: 'container.changed', name: container.name, waiting, busy, ...change } satisfies ContainerChanged);
}

function record(context: ContainerContext, type: RecordedEvent['type'], reason: string, message: string): void {
  const { name, namespace, uid } = context.pod.metadata;
  happened(context.parent, { type, reason, message, pod: { name, namespace, uid }, fieldPath: fieldPath(context) });
}

/** The error of a failed invoke, and the waiting reason where the error names none. */
export const failedWith = (reason: string) => ({
  type: 'fail' as const,
  params: ({ event }: { event: { error: unknown } }) => ({ error: event.error, reason }),
});

export const containerSetup = setup({
  types: {
    context: {} as ContainerContext,
    input: {} as ContainerInput,
    events: {} as Heard,
    tags: {} as 'mayRun' | 'stopped' | 'ready' | 'busy',
  },
  actors: { imagePull: imagePullMachine, probe: probeMachine, ...slots },
  delays: {
    crashBackoff: ({ context }) =>
      Math.max(crashRemaining(context, context.env.elapsed()), retryRemaining(context.retry, context.env.elapsed())),
    retry: ({ context }) => retryRemaining(context.retry, context.env.elapsed()),
    reason: ({ context: { retry, env } }) =>
      reasonRemaining(retry, env.elapsed()) ?? retryRemaining(retry, env.elapsed()),
    stopRetry: ({ context }) => retryRemaining(context.stopRetry, context.env.elapsed()),
    lookAgain: ({ context }) => context.settings.retryMs,
    respawn: RESPAWN_MS,
  },
  guards: {
    mustStop: decided('stop'),
    mustStopLater: decided('stopLater'),
    mustRemove: decided('remove'),
    runs: decided('run'),
    hasEnded: decided('exited'),
    isComplete: decided('complete'),
    mustRetryLater: decided('retryLater'),
    mustBackOff: decided('backOff'),
    mayStartCreated: decided('adopt'),
    mayFetch: decided('fetch'),
    /** It may start, and its image was got onto the node a moment ago: that one is not removed again so soon. */
    hasImage: ({ context }) => {
      const { fetchedAt, env } = context;
      return fetchedAt !== undefined && env.elapsed() - fetchedAt < FETCHED_MS && decided('pull')({ context });
    },
    mayStart: decided('pull'),
    /** A start failed again: its successor waits as that of a crash does. */
    backsOff: ({ context }) => reasonRemaining(context.retry, context.env.elapsed()) !== undefined,
    isAboutRunning: ({ context: { probed }, event }) => event.type === 'probe.judged' && event.id === probed?.id,
    lacksConfig: ({ context }) => context.waiting?.reason === CONFIG_ERROR,
    stillRuns: stillDecided('run'),
    stillMayFetch: stillDecided('fetch', 'pull'),
    stillMayStart: stillDecided('pull'),
    /** What was just created is still wanted where it was created. */
    stillWanted: ({ context }) => context.plan.do === 'run' && context.sandbox?.id === context.createdIn,
    graceShrank: ({ context, event }) => {
      if (event.type !== 'container.desired' || event.plan.do !== 'stop' || !context.stop) return false;
      // Grace comes in whole seconds: the same end, said again later, may seem up to one second nearer.
      return context.env.elapsed() + event.plan.gracePeriodSeconds * 1000 < context.stop.killAt - 1000;
    },
  },
  actions: {
    learn: assign(({ context, event }) => pushed(context, event)),
    record: ({ context }, { type, reason, message }: Pick<RecordedEvent, 'type' | 'reason' | 'message'>) =>
      record(context, type, reason, message),
    forward: ({ context, event }) => {
      if (event.type === 'event.happened') context.parent.send(event);
    },
    aim: assign(({ context }) => {
      const decision = decideContainer(context, context.env.elapsed());
      return { target: 'instance' in decision ? decision.instance : context.target };
    }),
    /** The runtime made it: its number is taken, and it is what is started next. */
    takeCreated: assign(({ context }, id: string) => ({
      target: { id, logPath: '' },
      made: { id, at: context.env.now() },
      highestAttempt: Math.max(context.highestAttempt, context.triedAttempt ?? -1),
    })),
    /** Aims at what is to be stopped, and says so the first time. */
    aimToStop: enqueueActions(({ context, enqueue }) => {
      const decision = decideContainer(context, context.env.elapsed());
      if (!('instance' in decision)) return;
      const { instance } = decision;
      enqueue.assign({ target: instance, stop: stopRecord(context, instance) });
      if (context.stop?.id === instance.id) return;
      enqueue(() => record(context, 'Normal', 'Killing', killMessage(context, instance)));
    }),
    prepareToCreate: assign(({ context }) => ({
      triedAttempt: nextAttempt(context),
      createdIn: context.sandbox?.id,
      fetchedAt: undefined,
      notStarted: undefined,
    })),
    tellBusy: ({ context }) => report(context, true),
    tellIdle: ({ context }) => report(context, false),
    /** An own call's answer about one instance; undefined: the runtime no longer has the one that the call was about. */
    take: enqueueActions(({ context, enqueue }, instance: ObservedContainer | undefined) => {
      const id = context.target?.id ?? '';
      enqueue.assign(inOwnTime(context, instance ? viewAfterCall(context, instance) : viewWithout(context, id)));
      enqueue(({ context: after }) =>
        report(after, false, instance ? { instance } : { gone: { id, at: context.calledAt } }),
      );
    }),
    started: assign({ waiting: undefined, retry: undefined }),
    stopped: assign(({ context }, instance: ObservedContainer | undefined) => ({
      stop: context.stop && { ...context.stop, settled: true },
      // A runtime that says "stopped" and shows it running is not asked again at once.
      stopRetry:
        instance?.state === 'running'
          ? { failedAt: context.env.elapsed(), delayMs: context.settings.retryMs }
          : undefined,
    })),
    /** A fresh look at all instances: what changed or went is told one by one. */
    takeLook: enqueueActions(({ context, enqueue }, found: ObservedContainer[]) => {
      const gone = context.instances.filter((old) => !found.some(({ id }) => id === old.id));
      enqueue.assign(inOwnTime(context, viewAfterLook(context, found)));
      enqueue(({ context: after }) => {
        for (const { id } of gone) report(after, true, { gone: { id, at: context.calledAt } });
        for (const instance of found) report(after, true, { instance });
        report(after, false);
      });
    }),
    called: assign(({ context }) => ({ calledAt: context.env.now() })),
    fail: enqueueActions(({ context, enqueue }, { error, reason }: { error: unknown; reason: string }) => {
      const failure = AgentError.from(error, reason);
      const waiting = {
        reason: WAITING_REASONS.includes(failure.reason) ? failure.reason : reason,
        message: failure.message,
      };
      const after = waiting.reason === CONFIG_ERROR ? afterConfigError(context) : undefined;
      enqueue.assign({ ...(after ?? afterFailure(context, failure.reason === 'NameReserved')), waiting });
      enqueue(() => record(context, 'Warning', 'Failed', `Error: ${failure.message}`));
    }),
    failToStart: assign(({ context }) => ({
      notStarted: context.target?.id,
      retry: context.retry && { ...context.retry, reasonMs: context.settings.retryMs },
    })),
    backOff: assign(({ context }) => ({ retry: context.retry && { ...context.retry, reasonMs: 0 } })),
    failToStop: enqueueActions(({ context, enqueue }, { error }: { error: unknown }) => {
      const { message } = AgentError.from(error, 'StopContainer');
      enqueue.assign({ stopRetry: { failedAt: context.env.elapsed(), delayMs: context.settings.retryMs, message } });
      enqueue(() => record(context, 'Warning', 'FailedKillPod', `error killing pod: ${message}`));
    }),
    /** What never started may still start, by a call that seemed to fail: no other is made before it is gone. */
    failToRemove: assign(({ context }) => {
      const id = context.target?.id ?? '';
      return context.instances.find((i) => i.id === id)?.state === 'created'
        ? { retry: { failedAt: context.env.elapsed(), delayMs: context.settings.retryMs } }
        : { unremovable: [...context.unremovable, id] };
    }),
    retryNow: assign({ retry: undefined }),
    stopNow: assign({ stopRetry: undefined }),
    serveBackoff: assign(({ context }) => afterServing(context)),
    waitForCrash: enqueueActions(({ context, enqueue }) => {
      const { retry, backoff } = context;
      const delay = goDuration((retry?.reasonMs === 0 ? retry.delayMs : backoff?.delayMs) ?? 0);
      const message = `back-off ${delay} restarting failed container=${context.container.name} pod=${podName(context)}`;
      if (context.waiting?.message === message) return;
      enqueue.assign({ waiting: { reason: 'CrashLoopBackOff', message } });
      enqueue(({ context: after }) => report(after, false));
      const text = `Back-off restarting failed container ${context.container.name} in pod ${podName(context)}`;
      enqueue(() => record(context, 'Warning', 'BackOff', text));
    }),
    waitForImage: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'image.waiting') return;
      const { reason, message, backoff } = event;
      enqueue.assign({
        waiting: { reason, message },
        imageBackoff: backoff && { image: context.container.image ?? '', backoff },
      });
      enqueue(({ context: after }) => report(after, false));
    }),
    /** The image is there: its back-off is over. */
    takeImage: assign((_, imageRef: string) => ({ imageRef, imageBackoff: undefined })),
    keepImage: assign(({ context: { env } }) => ({ fetchedAt: env.elapsed() })),
    /** Makes the probes that the running instance is to have now, and ends all others. */
    tendProbes: enqueueActions(({ context, enqueue, self }) => {
      const probed = probedInstance(context);
      const wanted = probed ? wantedProbes(context, { id: probed.id, state: 'running' }, context.verdicts) : [];
      const isSame = probed?.id === context.probed?.id;
      const kept: Probes = {};
      for (const [type, actor] of Object.entries(context.probes) as [ProbeType, Probes[ProbeType]][]) {
        if (isSame && [...wanted, ...context.unkept].includes(type)) kept[type] = actor;
        else if (actor) enqueue(stopChild(actor));
      }
      const missing = wanted.filter((type) => !kept[type] && !context.mourned.includes(`probe.${type}`));
      if (isSame && missing.length === 0 && Object.keys(kept).length === Object.keys(context.probes).length) return;
      enqueue.assign({ probed, probes: kept, unkept: isSame ? context.unkept : [] });
      for (const type of missing) {
        if (!probed) continue;
        const input = { ...probeInput(context, probed, type), parent: self, fieldPath: fieldPath(context) };
        enqueue.assign(({ spawn, context: { probes } }) => ({
          probes: { ...probes, [type]: spawn('probe', { id: `probe.${type}`, input }) },
        }));
      }
    }),
    takeVerdict: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'probe.judged') return;
      const { id, probe, healthy, kept } = event;
      const before = context.verdicts?.id === id ? context.verdicts : { id };
      const verdicts = { ...before, [probe]: healthy };
      const others = context.unkept.filter((each) => each !== probe);
      enqueue.assign({ verdicts, unkept: kept ? others : [...others, probe] });
      if (before[probe] === healthy) return;
      const { name } = context.container;
      enqueue(() => context.parent.send({ type: 'container.probed', name, verdicts } satisfies ContainerProbed));
    }),
    /** A probe threw: told as an event, and made anew after a while. */
    mournProbe: enqueueActions(({ context, event, enqueue }) => {
      const { actorId, error } = event as ProbeFailed;
      enqueue(stopChild(actorId));
      const { [actorId.slice('probe.'.length) as ProbeType]: _failed, ...probes } = context.probes;
      enqueue.assign({ probes, mourned: [...context.mourned, actorId] });
      const message = `${actorId} failed and is started again: ${AgentError.from(error, 'probe').message}`;
      enqueue(() => record(context, 'Warning', 'FailedSync', message));
      enqueue.raise({ type: 'child.respawn', id: actorId }, { delay: 'respawn' });
    }),
    forgive: assign(({ context: { mourned }, event }) => ({
      mourned: event.type === 'child.respawn' ? mourned.filter((id) => id !== event.id) : mourned,
    })),
    stopWaiting: enqueueActions(({ context, enqueue }) => {
      if (!context.waiting) return;
      enqueue.assign({ waiting: undefined });
      enqueue(({ context: after }) => report(after, false));
    }),
  },
});

export function fieldPath({ kind, container }: Pick<ContainerContext, 'kind' | 'container'>): string {
  return kind === 'regular' ? `spec.containers{${container.name}}` : `spec.initContainers{${container.name}}`;
}
