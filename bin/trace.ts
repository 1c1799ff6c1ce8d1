import type { Logger } from 'pino';
import type { AnyActorRef, InspectionEvent } from 'xstate';

/**
 * Logs every state that an actor enters, with the event that led there, at debug level (-v 4). States and event types
 * only: what events and contexts carry may be secret.
 */
export function traceTransitions(log: Logger): (event: InspectionEvent) => void {
  if (!log.isLevelEnabled('debug')) return () => undefined;
  const last = new WeakMap<AnyActorRef, string>();
  return (inspected) => {
    if (inspected.type !== '@xstate.snapshot') return;
    const { value } = inspected.snapshot as { value?: unknown };
    const actor = inspected.actorRef as AnyActorRef;
    if (value === undefined) return;
    const state = JSON.stringify(value);
    if (last.get(actor) === state) return;
    last.set(actor, state);
    const parent = (actor as { _parent?: AnyActorRef })._parent?.id;
    log.debug(
      { actor: parent ? `${parent}/${actor.id}` : actor.id, cause: inspected.event.type, state: value },
      'state',
    );
  };
}
