import type { DesiredPod, PodStatus } from '../../machines/kubernetes.types.ts';
import type { ObservedPod } from '../../machines/runtime.types.ts';
import type { PodEntry, SourceName, SourceSettings } from '../../machines/syncloop/syncloop.types.ts';
import type { LiveActor } from '../live/live.types.ts';
import type { ExplainView, Scene } from './explain.types.ts';

/** What is read of the syncloop's context. */
export interface SeenAgent {
  nodeName: string;
  sources: readonly SourceSettings[];
  delivered: readonly SourceName[];
  desired: Readonly<Partial<Record<SourceName, readonly DesiredPod[]>>>;
  problems: Readonly<Partial<Record<SourceName, readonly { origin: string; message: string }[]>>>;
  entries: Readonly<Record<string, PodEntry>>;
  observed: Readonly<Record<string, ObservedPod>>;
  refusals: Readonly<Record<string, number>>;
  looks: Readonly<Record<string, 'asked' | 'answered'>>;
  healthMessage: string;
  listedAt?: number;
  settings: { cluster?: unknown; logRotation?: unknown };
}

/** What is read of a pod's context. */
export interface SeenPod {
  pod: DesiredPod;
  orphan: boolean;
  removed: boolean;
  predecessorUid?: string;
  termination?: { gracePeriodSeconds: number; failed?: { reason: string; message: string }; over?: boolean };
  failures: number;
  failure?: string;
  observed: ObservedPod;
  status?: PodStatus;
}

export function sceneOf(view: ExplainView): Scene {
  const actors = view.live.actors();
  return { ...view, actors, children: Map.groupBy(actors, ({ parent }) => parent) };
}

/** The root's context; undefined while there is no agent. */
export function agentOf(scene: Scene): { actor: LiveActor; seen: SeenAgent } | undefined {
  const actor = scene.children.get(undefined)?.[0];
  return actor && { actor, seen: scene.live.peek(actor.sessionId) as SeenAgent };
}

export const seenPod = ({ live }: Scene, { sessionId }: LiveActor) => live.peek(sessionId) as SeenPod;

/** Actors of one machine that are about one pod, in the order in which they began. */
export function about(scene: Scene, machine: string, namespace: string, name: string): readonly LiveActor[] {
  return scene.actors.filter(
    (actor) => actor.machine === machine && actor.about?.namespace === namespace && actor.about.name === name,
  );
}

/** In the order in which they began. */
export const childrenOf = ({ children }: Scene, { sessionId }: LiveActor): readonly LiveActor[] =>
  children.get(sessionId) ?? [];

/** All below an actor. */
export function below(scene: Scene, actor: LiveActor): readonly LiveActor[] {
  return childrenOf(scene, actor).flatMap((child) => [child, ...below(scene, child)]);
}
