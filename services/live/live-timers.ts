import type { AnyActorRef, AnyStateNode } from 'xstate';
import { snapshotOf, type SnapshotView } from './actor-view.ts';
import type { LiveTimer } from './live.types.ts';

/** What XState keeps of an event that is sent later. */
interface Scheduled {
  delay: number;
}

interface After {
  eventType: string;
  delay: string;
  state: string;
}

/** When each timer of an actor was first seen to run, by the type of its event. */
export type SeenTimers = Map<string, { scheduled: Scheduled; startedAt: number }>;

const afters = new WeakMap<AnyStateNode, readonly After[]>();

function aftersOf(node: AnyStateNode): readonly After[] {
  const known = afters.get(node);
  if (known) return known;
  const state = node.path.join('.');
  const types = new Map(node.after.map(({ eventType, delay }) => [eventType, String(delay)]));
  const found = [...types].map(([eventType, delay]) => ({ eventType, delay, state }));
  afters.set(node, found);
  return found;
}

/** XState's own record of what is sent later, not a copy: this is asked at each transition. */
function scheduledOf(actor: AnyActorRef): Readonly<Record<string, Scheduled | undefined>> {
  const { system } = actor as AnyActorRef & { system: { _snapshot?: { _scheduledEvents: Record<string, Scheduled> } } };
  return system._snapshot?._scheduledEvents ?? actor.system.getSnapshot()._scheduledEvents;
}

/**
 * Notes the `after` timers that have begun since the last look: XState stamps them with the system's time, which is neither
 * the agent's nor that of a simulated world.
 */
export function seeTimers(actor: AnyActorRef, snapshot: SnapshotView, seen: SeenTimers, now: () => number): void {
  if (seen.size > 0) seen.forEach((timer, type) => timer.scheduled !== scheduled(actor, type) && seen.delete(type));
  for (const node of snapshot._nodes ?? []) {
    for (const { eventType } of aftersOf(node)) {
      const current = scheduled(actor, eventType);
      if (current && !seen.has(eventType)) seen.set(eventType, { scheduled: current, startedAt: now() });
    }
  }
}

const scheduled = (actor: AnyActorRef, eventType: string) => scheduledOf(actor)[`${actor.sessionId}.${eventType}`];

/** The timers that run now, the next one first. */
export function timersOf(actor: AnyActorRef, seen: SeenTimers): LiveTimer[] {
  const timers: LiveTimer[] = [];
  for (const node of snapshotOf(actor)._nodes ?? []) {
    for (const { eventType, delay, state } of aftersOf(node)) {
      const timer = seen.get(eventType);
      if (timer && timer.scheduled === scheduled(actor, eventType))
        timers.push({ delay, state, startedAt: timer.startedAt, ms: timer.scheduled.delay });
    }
  }
  return timers.sort((a, b) => a.startedAt + a.ms - (b.startedAt + b.ms));
}
