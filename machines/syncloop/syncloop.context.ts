import type { ActorRefFrom } from 'xstate';
import type { DesiredPod } from '../kubernetes.types.ts';
import type { podMachine } from '../pod/pod.machine.ts';
import type { PodRef } from '../pod/pod.types.ts';
import type { ObservedPod } from '../runtime.types.ts';
import type { clusterMachine } from './cluster.machine.ts';
import type { housekeepingMachine } from './housekeeping.machine.ts';
import type { plegMachine } from './pleg.machine.ts';
import type { PodEntry, SourceName, SyncloopEvent, SyncloopInput } from './syncloop.types.ts';

type Health = 'unknown' | 'healthy' | 'networkNotReady' | 'unhealthy';

export interface SyncloopContext extends SyncloopInput {
  runtimeName: string;
  health: Health;
  healthMessage: string;
  delivered: SourceName[];
  desired: Partial<Record<SourceName, DesiredPod[]>>;
  /** Manifests that cannot be used now, by source. */
  problems: Partial<Record<SourceName, { origin: string; message: string }[]>>;
  /** Newest observation of every pod that the runtime has. */
  observed: Record<string, ObservedPod>;
  /** When the last whole listing began, and the pods in it. */
  listedAt?: number;
  listed: PodRef[];
  entries: Record<string, PodEntry>;
  pods: Record<string, ActorRefFrom<typeof podMachine>>;
  pleg?: ActorRefFrom<typeof plegMachine>;
  housekeeping?: ActorRefFrom<typeof housekeepingMachine>;
  failures: number;
  /** How many times each pod was refused. */
  refusals: Record<string, number>;
  /** The node's addresses, primary first. */
  hostIPs: string[];
  /** Pods that wait to be judged by a Node that is read afresh, and whether it was. */
  looks: Record<string, 'asked' | 'answered'>;
  /** Pods whose actor failed, as they were: they stay known until there is another. */
  mourned: Record<string, PodEntry>;
  cluster?: ActorRefFrom<typeof clusterMachine>;
  /** What the API server's side was told last. */
  toldEntries: Record<string, PodEntry>;
  toldReady: boolean;
}

export type ChildOver = { type: `xstate.${'done' | 'error'}.actor.${string}`; actorId: string; error?: unknown };
/** Delayed: a child is made again; a refused pod is judged again. */
export type Respawn = { type: 'child.respawn'; id: string } | { type: 'pod.judge'; uid: string };

/** The record without one key. */
export const without = <T>(record: Record<string, T>, key: string): Record<string, T> => {
  const { [key]: _gone, ...rest } = record;
  return rest;
};

/** Every pod that the agent has, those whose actor is being made again included. */
export function knownPods({
  entries,
  mourned,
}: Pick<SyncloopContext, 'entries' | 'mourned'>): Record<string, PodEntry> {
  return Object.keys(mourned).length > 0 ? { ...mourned, ...entries } : entries;
}

/** Pods whose actor failed and that are still to be made again: a source wants them. */
export function stillMourned(
  { mourned, desired }: Pick<SyncloopContext, 'mourned' | 'desired'>,
  entries: SyncloopContext['entries'],
): SyncloopContext['mourned'] {
  const isWanted = (uid: string) =>
    Object.values(desired).some((pods) => pods.some(({ metadata }) => metadata.uid === uid));
  const left = Object.entries(mourned).filter(([uid]) => !entries[uid] && isWanted(uid));
  return left.length < Object.keys(mourned).length ? Object.fromEntries(left) : mourned;
}

/** How pods ended, without those that nobody wants or knows any more: one that comes back begins anew. */
export function endsThatCount(
  { ended, desired }: Pick<SyncloopContext, 'ended' | 'desired'>,
  entries: SyncloopContext['entries'],
): SyncloopContext['ended'] {
  const wanted = new Set(Object.values(desired).flatMap((pods) => pods.map(({ metadata }) => metadata.uid)));
  const counts = ([uid]: [string, unknown]) => uid in entries || wanted.has(uid);
  return Object.values(ended).length > 0 ? Object.fromEntries(Object.entries(ended).filter(counts)) : ended;
}

/** What a report adds to what the syncloop knows. */
export function collect(
  context: SyncloopContext,
  event: SyncloopEvent | ChildOver | Respawn,
): Partial<SyncloopContext> {
  switch (event.type) {
    case 'source.set': {
      const { source, pods, problems, recalled } = event;
      return {
        desired: { ...context.desired, [source]: pods },
        problems: { ...context.problems, [source]: problems },
        delivered: recalled ? context.delivered : [...new Set([...context.delivered, source])],
      };
    }
    case 'runtime.observed': {
      const { pod } = event;
      if ((context.observed[pod.uid]?.at ?? 0) > pod.at) return {};
      if (pod.sandboxes.length + pod.containers.length > 0)
        return { observed: { ...context.observed, [pod.uid]: pod } };
      return {
        observed: without(context.observed, pod.uid),
        listed: context.listed.filter(({ uid }) => uid !== pod.uid),
      };
    }
    case 'runtime.listed': {
      const stays = ([uid, pod]: [string, ObservedPod]) => event.uids.includes(uid) || pod.at > event.at;
      return {
        listedAt: event.at,
        listed: event.pods,
        observed: Object.fromEntries(Object.entries(context.observed).filter(stays)),
      };
    }
    case 'health.changed':
      return { health: event.health, healthMessage: event.message };
    case 'pod.status': {
      const entry = context.entries[event.uid];
      return entry ? { entries: { ...context.entries, [event.uid]: { ...entry, status: event.status } } } : {};
    }
    default:
      return {};
  }
}
