import type { AnyActorRef, InspectionEvent } from 'xstate';
import type { ActorNode } from './server.types.ts';

interface Seen {
  value: unknown;
  state: string;
  since: number;
}

/**
 * Follows the actors of one system, for `statelet ps`: pass `inspect` to createActor. An actor that is forgotten by the
 * system is forgotten here.
 */
export function createActorTracker(now: () => number): {
  inspect: (event: InspectionEvent) => void;
  tree: (root: AnyActorRef) => ActorNode;
} {
  const seen = new WeakMap<AnyActorRef, Seen>();
  const look = (actor: AnyActorRef): Seen => {
    const snapshot: unknown = actor.getSnapshot();
    const { value, status } = (snapshot ?? {}) as { value?: unknown; status?: string };
    const known = seen.get(actor);
    if (known && known.value === (value ?? status)) return known;
    const state = (value === undefined ? status : stateText(value)) || 'active';
    const next = { value: value ?? status, state, since: known?.state === state ? known.since : now() };
    seen.set(actor, next);
    return next;
  };
  const tree = (actor: AnyActorRef): ActorNode => {
    const { state, since } = look(actor);
    const { children = {}, context } = (actor.getSnapshot() ?? {}) as {
      children?: Record<string, AnyActorRef | undefined>;
      context?: { namespace?: unknown; name?: unknown };
    };
    const { namespace, name } = context ?? {};
    return {
      id: actor.id,
      machine: nameOf(actor),
      ...(typeof namespace === 'string' && typeof name === 'string' ? { about: `${namespace}/${name}` } : {}),
      state,
      since,
      children: Object.values(children).flatMap((child) => (child ? [tree(child)] : [])),
    };
  };
  return {
    inspect: (event) => {
      if (event.type === '@xstate.snapshot' && isActor(event.actorRef)) look(event.actorRef);
    },
    tree,
  };
}

function isActor(ref: unknown): ref is AnyActorRef {
  return typeof ref === 'object' && ref !== null && 'getSnapshot' in ref;
}

function nameOf(actor: AnyActorRef): string {
  const { src, logic } = actor as AnyActorRef & { src?: unknown; logic?: { id?: string } };
  return logic?.id ?? (typeof src === 'string' ? src : actor.id);
}

/** `{ syncing: 'active' }` as `syncing.active`. */
function stateText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, inner]) => {
      const rest = stateText(inner);
      return rest ? `${key}.${rest}` : key;
    })
    .join(', ');
}
