import { assign, emit, enqueueActions, setup, stopChild } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { EventHappened } from '../agent.types.ts';
import type { DesiredPod } from '../kubernetes.types.ts';
import { logRotationMachine } from '../node/log-rotation.machine.ts';
import { runtimeHealthMachine } from '../node/runtime-health.machine.ts';
import { podMachine } from '../pod/pod.machine.ts';
import type { ObservedPod } from '../runtime.types.ts';
import { slot } from '../slot.types.ts';
import { housekeepingMachine } from './housekeeping.machine.ts';
import { plegMachine } from './pleg.machine.ts';
import { podSourceMachine } from './pod-source.machine.ts';
import { passName } from './policy/pass-name.ts';
import { reconcilePods } from './policy/reconcile-pods.ts';
import {
  collect,
  endsThatCount,
  without,
  type ChildOver,
  type Respawn,
  type SyncloopContext,
} from './syncloop.context.ts';
import type { PodEntry, SyncloopEvent, SyncloopInput, SyncloopSlots } from './syncloop.types.ts';

const slots: SyncloopSlots = { openRuntime: slot('openRuntime'), settleEffects: slot('settleEffects') };
const podId = (uid: string) => `pod.${uid}`;
const uidOf = (id: string) => id.slice('pod.'.length);
const sourcesReady = ({ sources, delivered, listedAt }: SyncloopContext) =>
  listedAt !== undefined && sources.length > 0 && sources.every(({ source }) => delivered.includes(source));
export const syncloopSetup = setup({
  types: {
    context: {} as SyncloopContext,
    input: {} as SyncloopInput,
    events: {} as SyncloopEvent | ChildOver | Respawn,
    emitted: {} as EventHappened,
  },
  actors: {
    pod: podMachine,
    pleg: plegMachine,
    runtimeHealth: runtimeHealthMachine,
    housekeeping: housekeepingMachine,
    logRotation: logRotationMachine,
    podSource: podSourceMachine,
    ...slots,
  },
  delays: {
    pause: ({ context: { settings, failures } }) =>
      Math.min(settings.pauseMaxMs, settings.pauseInitialMs * 2 ** Math.min(failures, 10)),
    /** A child that threw is a bug; the pause keeps a child that always throws from taking the machine with it. */
    respawn: 1000,
  },
  guards: {
    isUnhealthy: ({ context }) => context.health === 'unhealthy',
    isHealthyAgain: ({ context }) => context.health !== 'unhealthy',
    /** A look at a pod that has an actor is that actor's news alone. */
    hasActor: ({ context, event }) => event.type === 'runtime.observed' && event.pod.uid in context.pods,
    isPod: ({ event }) => event.type === 'child.respawn' && event.id.startsWith('pod.'),
    isSource: ({ event }) => event.type === 'child.respawn' && event.id.endsWith('Source'),
    isListed: ({ context }) => context.listedAt !== undefined,
  },
  actions: {
    record: emit(({ event }) => event as EventHappened),
    collect: assign(({ context, event }) => collect(context, event)),
    succeed: assign({ failures: 0 }),
    fail: assign(({ context }) => ({ failures: context.failures + 1 })),
    spawnSource: assign(({ context, spawn, self }, id: string) => {
      const source = context.sources.find((s) => `${s.source}Source` === id);
      const { env, nodeName } = context;
      if (source) spawn('podSource', { id, input: { env, parent: self, nodeName, ...source } });
      return {};
    }),
    spawnWatcher: assign(({ context: { env, settings }, spawn, self }, id: string) => {
      const base = { env, parent: self };
      if (id === 'pleg') return { pleg: spawn('pleg', { id, input: { ...base, settings: settings.pleg } }) };
      if (id === 'housekeeping')
        return {
          housekeeping: spawn('housekeeping', { id, input: { ...base, periodMs: settings.housekeepingPeriodMs } }),
        };
      if (id === 'logRotation') {
        if (settings.logRotation) spawn('logRotation', { id, input: { ...base, settings: settings.logRotation } });
        return {};
      }
      spawn('runtimeHealth', { id, input: { ...base, periodMs: settings.healthPeriodMs } });
      return {};
    }),
    recordRuntimeAway: emit(({ context, event }) => {
      const { error } = event as unknown as { error: unknown };
      const message = `container runtime is not reachable (try ${context.failures}): ${AgentError.from(error, 'syncloop').message}`;
      return {
        type: 'event.happened' as const,
        event: { type: 'Warning' as const, reason: 'RuntimeNotReady', message },
      };
    }),
    /** Children stop with their waits and reads; a mutating call in flight is not cut, its end is awaited. */
    dismissAll: enqueueActions(({ enqueue, self }) => {
      for (const id of Object.keys(self.getSnapshot().children)) if (id !== 'settleEffects') enqueue(stopChild(id));
      enqueue.assign({ pods: {}, pleg: undefined, housekeeping: undefined });
    }),
    passToPod: ({ context, event }) => {
      if (event.type === 'runtime.observed')
        context.pods[event.pod.uid]?.send({ type: 'pod.observed', observed: event.pod });
      if (event.type === 'runtime.exited')
        context.pods[event.uid]?.send({ type: 'container.exited', container: event.container });
    },
    /** Pods that the runtime had and a whole listing has no more. */
    passAbsence: ({ context, event }) => {
      if (event.type !== 'runtime.listed') return;
      for (const [uid, pod] of Object.entries(context.pods)) {
        const { name, namespace } = context.entries[uid] ?? { name: '', namespace: '' };
        if (!event.uids.includes(uid))
          pod.send({
            type: 'pod.observed',
            observed: { uid, name, namespace, sandboxes: [], containers: [], at: event.at },
          });
      }
    },
    passHealth: ({ context }) => {
      for (const pod of Object.values(context.pods))
        pod.send({ type: 'network.ready', ready: context.health === 'healthy' });
    },
    passInspect: ({ context, event }) => {
      if (event.type === 'pod.inspect') context.pleg?.send(event);
    },
    listNow: ({ context }) => context.pleg?.send({ type: 'list.now' }),
    /** Brings the set of pod actors in line with what is desired and observed. */
    reconcile: enqueueActions(({ context, enqueue, self }) => {
      const plan = reconcilePods({ ...context, sourcesReady: sourcesReady(context) });
      // While the runtime is unhealthy nothing new begins; what is no longer wanted is told so at once, and starts nothing more.
      const isPaused = context.health === 'unhealthy';
      let { entries } = context;
      const spawnPod = (
        entry: PodEntry,
        pod: DesiredPod | undefined,
        observed: ObservedPod,
        predecessorUid?: string,
      ) => {
        entries = { ...entries, [entry.uid]: entry };
        const { uid, name, namespace } = entry;
        const input = {
          env: context.env,
          parent: self,
          pod,
          uid,
          name,
          namespace,
          observed,
          keptStops: context.stops[uid],
          predecessorUid,
          networkReady: context.health === 'healthy' || context.health === 'unknown',
          settings: { ...context.settings.pod, runtimeName: context.runtimeName },
        };
        enqueue.assign(({ context: { pods }, spawn }) => ({
          pods: { ...pods, [uid]: spawn('pod', { id: podId(uid), input }) },
        }));
      };
      for (const uid of plan.remove) {
        const { again: _dropped, ...entry } = entries[uid] as PodEntry;
        entries = { ...entries, [uid]: { ...entry, ending: true } };
        const pod = context.pods[uid];
        if (pod) enqueue.sendTo(pod, { type: 'pod.removed' });
      }
      for (const { uid, pod, source } of plan.update) {
        entries = { ...entries, [uid]: { ...(entries[uid] as PodEntry), pod, source } };
        const actor = context.pods[uid];
        if (actor) enqueue.sendTo(actor, { type: 'pod.desired', pod });
      }
      for (const { uid, pod, source, predecessorUid, again, ending = false } of isPaused ? [] : plan.add) {
        const { name, namespace } = pod.metadata;
        if (again) entries = { ...entries, [uid]: { ...(entries[uid] as PodEntry), again: { pod, source } } };
        else {
          const empty = { uid, name, namespace, sandboxes: [], containers: [], at: context.listedAt ?? 0 };
          const entry = {
            uid,
            name,
            namespace,
            source,
            pod,
            status: context.ended[uid],
            ending,
            released: false,
            waitsFor: predecessorUid,
            ...(ending && { again: { pod, source } }),
          };
          spawnPod(
            entry,
            entry.status ? { ...pod, status: entry.status } : pod,
            context.observed[uid] ?? empty,
            predecessorUid,
          );
        }
      }
      for (const { uid, observed } of isPaused ? [] : plan.orphans) {
        const { name, namespace } = observed;
        spawnPod({ uid, name, namespace, ending: true, released: false }, undefined, observed);
      }
      for (const uid of plan.freed) {
        const passed = passName(entries, uid);
        ({ entries } = passed);
        const pod = passed.next === undefined ? undefined : context.pods[passed.next];
        if (pod) enqueue.sendTo(pod, { type: 'predecessor.gone' });
      }
      if (entries !== context.entries) enqueue.assign({ entries });
      if (sourcesReady(context)) enqueue.assign({ ended: endsThatCount(context, entries) });
      if (sourcesReady(context) && context.housekeeping) {
        const keep = [
          ...new Set([
            ...Object.keys(entries),
            ...Object.keys(context.observed),
            ...context.listed.map(({ uid }) => uid),
          ]),
        ];
        enqueue.sendTo(context.housekeeping, { type: 'housekeeping.keep', keep });
      }
    }),
    markReleased: assign(({ context }, uid: string) => {
      const entry = context.entries[uid];
      return entry ? { entries: { ...context.entries, [uid]: { ...entry, released: true } } } : {};
    }),
    /** Lets the first of the pods that wait for this one's name go on. */
    passName: enqueueActions(({ context, enqueue }, uid: string) => {
      const { entries, next } = passName(context.entries, uid);
      if (entries !== context.entries) enqueue.assign({ entries });
      const pod = next === undefined ? undefined : context.pods[next];
      if (pod) enqueue.sendTo(pod, { type: 'predecessor.gone' });
    }),
    /** A pod actor that ended has left nothing behind; a pod that came again under its UID is new from now on. */
    reap: enqueueActions(({ context, enqueue, event }) => {
      const id = (event as ChildOver).actorId;
      enqueue(stopChild(id));
      const uid = uidOf(id);
      enqueue.assign({
        pods: without(context.pods, uid),
        entries: without(context.entries, uid),
        ended: without(context.ended, uid),
        stops: without(context.stops, uid),
        observed: without(context.observed, uid),
        listed: context.listed.filter((ref) => ref.uid !== uid),
      });
    }),
    /** A child threw: told as an event, and made anew from what is observed. */
    mourn: enqueueActions(({ context, enqueue, event }) => {
      const { actorId, error } = event as ChildOver;
      enqueue(stopChild(actorId));
      const message = `${actorId} failed and is started again: ${AgentError.from(error, 'syncloop').message}`;
      enqueue.emit({
        type: 'event.happened',
        event: { type: 'Warning', reason: 'FailedSync', message, pod: context.entries[uidOf(actorId)] },
      });
      enqueue.raise({ type: 'child.respawn', id: actorId }, { delay: 'respawn' });
      const uid = uidOf(actorId);
      if (!context.pods[uid]) return;
      const { name = '', namespace = '' } = context.entries[uid] ?? {};
      // Forgotten but for its being there: it is added again, or ended as an orphan, once it is seen afresh.
      enqueue.assign({
        pods: without(context.pods, uid),
        entries: without(context.entries, uid),
        observed: without(context.observed, uid),
        listed: [...context.listed, { uid, name, namespace }],
      });
    }),
    askForPod: ({ context }, id: string) => context.pleg?.send({ type: 'pod.inspect', uid: uidOf(id) }),
  },
});
