import { assign, emit, enqueueActions, setup, stopChild } from 'xstate';
import { AgentError } from '../agent-error.types.ts';
import type { EventHappened, RecordedEvent } from '../agent.types.ts';
import { logRotationMachine } from '../node/log-rotation.machine.ts';
import { runtimeHealthMachine } from '../node/runtime-health.machine.ts';
import { podMachine } from '../pod/pod.machine.ts';
import { sameJson } from '../pod/policy/same-json.ts';
import { slot } from '../slot.types.ts';
import { housekeepingMachine } from './housekeeping.machine.ts';
import { plegMachine } from './pleg.machine.ts';
import { podSourceMachine } from './pod-source.machine.ts';
import { clusterMachine } from './cluster.machine.ts';
import { entryNews } from './policy/entry-news.ts';
import { hostIPsOf, nodeViewOf } from './policy/node-view.ts';
import { passName } from './policy/pass-name.ts';
import { haveEntries, reconcile, sourcesReady } from './syncloop.reconcile.ts';
import { collect, knownPods, without, type ChildOver, type Respawn, type SyncloopContext } from './syncloop.context.ts';
import type { SyncloopEvent, SyncloopInput, SyncloopSlots } from './syncloop.types.ts';

const slots: SyncloopSlots = { openRuntime: slot('openRuntime'), settleEffects: slot('settleEffects') };
const podId = (uid: string) => `pod.${uid}`;
const uidOf = (id: string) => id.slice('pod.'.length);
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
    cluster: clusterMachine,
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
    isCluster: ({ event }) => event.type === 'child.respawn' && event.id === 'cluster',
    hasCluster: ({ context }) => context.cluster !== undefined,
    isListed: ({ context }) => context.listedAt !== undefined,
  },
  actions: {
    record: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'event.happened') return;
      enqueue.emit(event);
      enqueue(() => context.cluster?.send({ type: 'event.record', event: event.event }));
    }),
    collect: assign(({ context, event }) => collect(context, event)),
    succeed: assign({ failures: 0 }),
    fail: assign(({ context }) => ({ failures: context.failures + 1 })),
    spawnSource: assign(({ context, spawn, self }, id: string) => {
      const source = context.sources.find((s) => `${s.source}Source` === id);
      const { env, nodeName } = context;
      if (source && source.source !== 'api')
        spawn('podSource', { id, input: { env, parent: self, nodeName, ...source } });
      return {};
    }),
    spawnCluster: assign(({ context, spawn, self }) => {
      const { env, nodeName, settings } = context;
      if (!settings.cluster) return {};
      const input = { env, parent: self, nodeName, settings: settings.cluster };
      return { cluster: spawn('cluster', { id: 'cluster', input }) };
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
    recordRuntimeAway: enqueueActions(({ context, enqueue, event }) => {
      const { error } = event as unknown as { error: unknown };
      const message = `container runtime is not reachable (try ${context.failures}): ${AgentError.from(error, 'syncloop').message}`;
      enqueue.raise({ type: 'event.happened', event: { type: 'Warning', reason: 'RuntimeNotReady', message } });
    }),
    /** Children stop with their waits and reads; a mutating call in flight is not cut, its end is awaited. */
    dismissAll: enqueueActions(({ enqueue, self }) => {
      for (const id of Object.keys(self.getSnapshot().children))
        if (id !== 'settleEffects' && id !== 'cluster') enqueue(stopChild(id));
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
      const { changes, told, spawns, events, judgeAgain, look, keep } = reconcile(context);
      enqueue.assign(changes);
      for (const { uid, event } of told) {
        const pod = context.pods[uid];
        if (pod) enqueue.sendTo(pod, event);
      }
      for (const { uid, ...input } of spawns)
        enqueue.assign(({ context: { pods }, spawn }) => ({
          pods: { ...pods, [uid]: spawn('pod', { id: podId(uid), input: { ...input, uid, parent: self } }) },
        }));
      for (const event of events) enqueue.raise({ type: 'event.happened', event });
      for (const { uid, delayMs } of judgeAgain) enqueue.raise({ type: 'pod.judge', uid }, { delay: delayMs });
      if (look) enqueue(() => context.cluster?.send({ type: 'node.look' }));
      if (keep && context.housekeeping) enqueue.sendTo(context.housekeeping, { type: 'housekeeping.keep', keep });
    }),
    /** A pod that was refused is new once more; its refusals are remembered. */
    forgetRefusal: assign(({ context }, uid: string) =>
      context.entries[uid]?.refused ? { entries: without(context.entries, uid) } : {},
    ),
    /** Nothing new begins while the runtime is unhealthy; the pod is not forgotten over it. */
    judgeLater: enqueueActions(({ event, enqueue }) => {
      if (event.type === 'pod.judge') enqueue.raise(event, { delay: 'respawn' });
    }),
    /** Tells the API server's side what became of the pods, each that changed. */
    tellCluster: enqueueActions(({ context, enqueue }) => {
      const { cluster, toldEntries } = context;
      if (!cluster) return;
      const entries = knownPods(context);
      if (entries !== toldEntries) {
        enqueue(() => {
          for (const event of entryNews(toldEntries, entries)) cluster.send(event);
        });
        enqueue.assign({ toldEntries: entries });
      }
      // After the pods: until one of them is known, its mirror pod would be taken for one that nobody has.
      if (context.toldReady || !sourcesReady(context) || !haveEntries(context, entries)) return;
      enqueue(() => cluster.send({ type: 'sources.ready' }));
      enqueue.assign({ toldReady: true });
    }),
    passHealthToCluster: ({ context: { cluster, health, healthMessage: message } }) => {
      if (health !== 'unknown') cluster?.send({ type: 'health.changed', health, message });
    },
    learnNode: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'node.known') return;
      const answered = Object.keys(context.looks).map((uid) => [uid, 'answered'] as const);
      const hostIPs = hostIPsOf(event.node) ?? context.hostIPs;
      enqueue.assign({
        node: nodeViewOf(event.node, context.node),
        hostIPs,
        ...(event.looked && { looks: Object.fromEntries(answered) }),
      });
      if (sameJson(hostIPs, context.hostIPs)) return;
      for (const pod of Object.values(context.pods)) enqueue.sendTo(pod, { type: 'node.addressed', hostIPs });
    }),
    logProblem: emit(({ event }) => ({
      type: 'event.happened' as const,
      event: {
        type: 'Warning' as const,
        reason: 'EventNotRecorded',
        message: event.type === 'recorder.problem' ? event.message : '',
      },
    })),
    loseCluster: assign({ cluster: undefined }),
    drainCluster: ({ context }) => context.cluster?.send({ type: 'cluster.drain' }),
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
        verdicts: without(context.verdicts, uid),
        observed: without(context.observed, uid),
        listed: context.listed.filter((ref) => ref.uid !== uid),
      });
    }),
    /** A child threw: told as an event, and made anew from what is observed. */
    mourn: enqueueActions(({ context, enqueue, event }) => {
      const { actorId, error } = event as ChildOver;
      enqueue(stopChild(actorId));
      const entry = context.entries[uidOf(actorId)];
      const { uid = '', name = '', namespace = '' } = entry ?? {};
      const message = `${actorId} failed and is started again: ${AgentError.from(error, 'syncloop').message}`;
      const pod = entry && { uid, name, namespace };
      const told: RecordedEvent = { type: 'Warning', reason: 'FailedSync', message, ...(pod && { pod }) };
      enqueue.emit({ type: 'event.happened', event: told });
      if (actorId !== 'cluster') enqueue(() => context.cluster?.send({ type: 'event.record', event: told }));
      enqueue.raise({ type: 'child.respawn', id: actorId }, { delay: 'respawn' });
      // The next one has to be told everything.
      if (actorId === 'cluster') enqueue.assign({ cluster: undefined, toldEntries: {}, toldReady: false });
      if (!entry) return;
      // It is added again, or ended as an orphan, once it is seen afresh; until then nobody hears that it is gone.
      enqueue.assign({
        pods: without(context.pods, uid),
        entries: without(context.entries, uid),
        mourned: { ...context.mourned, [uid]: entry },
        observed: without(context.observed, uid),
        listed: [...context.listed, { uid, name, namespace }],
      });
    }),
    askForPod: ({ context }, id: string) => context.pleg?.send({ type: 'pod.inspect', uid: uidOf(id) }),
  },
});
