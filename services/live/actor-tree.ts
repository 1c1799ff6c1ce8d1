import type { ActorNode } from '../server/server.types.ts';
import type { LiveActor } from './live.types.ts';

/** The actors as a tree, as `statelet ps` draws it: the effects of each that are under way, then its children. */
export function actorTree(actors: readonly LiveActor[]): ActorNode[] {
  const nodes = new Map(actors.map((actor) => [actor.sessionId, nodeOf(actor)]));
  const roots: ActorNode[] = [];
  for (const { sessionId, parent } of actors) {
    const node = nodes.get(sessionId);
    if (node) (nodes.get(parent ?? '')?.children ?? roots).push(node);
  }
  return roots;
}

function nodeOf({ id, machine, about, state, since, effects }: LiveActor): ActorNode {
  return {
    id,
    machine,
    ...(about?.kind === 'pod' && { about: `${about.namespace}/${about.name}` }),
    state,
    since,
    children: effects.map((effect) => ({
      id: effect.id,
      machine: effect.src,
      isEffect: true,
      state: 'active',
      since: effect.began,
      children: [],
    })),
  };
}
