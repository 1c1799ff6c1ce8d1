import type { AnyActorRef, InspectionEvent } from 'xstate';
import { AgentError } from '../../machines/agent-error.types.ts';
import {
  aboutOf,
  grantedTo,
  isFailing,
  isMachine,
  lastingName,
  machineOf,
  parentOf,
  snapshotOf,
  stateName,
  type SnapshotView,
} from './actor-view.ts';
import { guardHolds } from './guard-holds.ts';
import { createListeners } from './listeners.ts';
import { causeNow, reasonsAfter } from './cause.ts';
import type { Reasons } from './cause.types.ts';
import { createHistory } from './history.ts';
import type { About, LiveActor, LiveEffect, LiveSystem, Transition } from './live.types.ts';
import { seeTimers, timersOf, type SeenTimers } from './live-timers.ts';
import { redact } from './redact.ts';
import { podSecrets } from './pod-secrets.ts';

interface Entry {
  actor: AnyActorRef;
  machine: string;
  parent?: Entry;
  children: Set<Entry>;
  about?: About;
  /** Its lasting name. */
  name: string;
  /** As it was when it had settled last. */
  snapshot?: SnapshotView;
  state: string;
  since: number;
  /** What it does now is done for these. */
  reasons: Reasons;
  /** The step that it is taking, until its cause is found. */
  step?: { event: { type: string }; after: SnapshotView };
  /** By session of the effect. */
  effects: Map<string, LiveEffect>;
  /** The effect that ended last: its answer is an event that names it by its id only. */
  lastEffect?: LiveEffect;
  timers: SeenTimers;
}

export interface LiveSystemOptions {
  /** ms since the epoch. */
  now(): number;
  /** Kept transitions of each actor, 50, and how many actors have some, 2000. */
  keep?: { transitions: number; actors: number };
  /** Told of what is worth keeping over a restart, as it happens: it must be quick. */
  record?(transition: Transition): void;
  /** Told of trouble of the view itself, in plain words; the actors go on. */
  tell?(message: string): void;
}

export interface RunningLiveSystem extends LiveSystem {
  /** For createActor. */
  inspect(event: InspectionEvent): void;
  /** Adds what an earlier process has kept to the history, oldest first: before the actors start. */
  recall(kept: readonly Transition[]): void;
}

/** They only look for their parent, which acts on what they find. */
const UNRECORDED = 'inspection';
/** What they do is kept over a restart; of others, which do the same again and again, only what is new. */
const TOLD_WHOLE = new Set(['pod', 'container', 'imagePull', 'volume']);
const START: Reasons = { own: { by: 'start', detail: 'the agent started' } };

/**
 * The live view of one actor system: pass `inspect` to createActor. It costs some microseconds a transition while nobody
 * subscribes. Whatever fails in here or in a listener is told, and reaches no actor.
 */
export function createLiveSystem(options: LiveSystemOptions): RunningLiveSystem {
  const { now, record, tell = () => undefined } = options;
  const entries = new Map<string, Entry>();
  const history = createHistory(options.keep ?? { transitions: 50, actors: 2_000 });
  const secretsOf = podSecrets();
  const listeners = createListeners(tell);
  let hasFailed = false;

  const view = (entry: Entry): LiveActor => {
    const { value, status = 'active', tags, children = {}, context } = snapshotOf(entry.actor);
    // An effect is over for its parent before its own end is seen here.
    const running = new Set(Object.values(children).map((child) => child?.sessionId));
    const { actor, machine, name, parent, about, state, since, effects, timers } = entry;
    return {
      sessionId: actor.sessionId,
      id: actor.id,
      machine,
      name,
      ...(parent && { parent: parent.actor.sessionId }),
      ...(about && { about }),
      ...(isFailing(context) && { failing: true as const }),
      value,
      state,
      since,
      status,
      tags: tags ? [...tags] : [],
      effects: [...effects].flatMap(([session, effect]) => (running.has(session) ? effect : [])),
      timers: timersOf(actor, timers),
    };
  };

  /** A bug in here is told of once: what happens once happens again and again. */
  const fail = (what: string, error: unknown) => {
    if (!hasFailed) tell(`${what}: ${AgentError.from(error, 'inspect').message}`);
    hasFailed = true;
  };

  const begin = (actor: AnyActorRef) => {
    const above = parentOf(actor);
    const parent = above && entries.get(above.sessionId);
    if (!isMachine(actor)) {
      const { sessionId, id } = actor;
      parent?.effects.set(sessionId, { src: machineOf(actor), id, began: now(), ...grantedTo(actor) });
      return;
    }
    const machine = machineOf(actor);
    const snapshot = snapshotOf(actor);
    const about = aboutOf(machine, snapshot.context);
    const entry: Entry = {
      ...{ actor, machine, parent, about, state: '', since: now(), reasons: START },
      name: lastingName(machine, actor.id, about, parent?.name),
      step: { event: { type: 'xstate.init' }, after: snapshot },
      children: new Set(),
      effects: new Map(),
      timers: new Map(),
    };
    parent?.children.add(entry);
    entries.set(actor.sessionId, entry);
    if (machine !== UNRECORDED) history.began(entry.name);
  };

  const end = (entry: Entry) => {
    // Children of an actor that threw are stopped by nobody, and are nobody's from now on.
    for (const child of entry.children) end(child);
    entries.delete(entry.actor.sessionId);
    entry.parent?.children.delete(entry);
    history.ended(entry.name);
    if (listeners.none() || !entry.snapshot) return;
    const last = view(entry);
    listeners.notify((listener) => listener.stopped?.(last));
  };

  const endEffect = (actor: AnyActorRef) => {
    const parent = entries.get(parentOf(actor)?.sessionId ?? '');
    const effect = parent?.effects.get(actor.sessionId);
    if (!parent || !effect) return;
    parent.lastEffect = effect;
    parent.effects.delete(actor.sessionId);
  };

  /** A child may ask for its parent's reasons before that one has settled. */
  const resolve = (entry: Entry): Reasons => {
    const { step, snapshot: before, machine, reasons } = entry;
    if (!step) return reasons;
    entry.step = undefined;
    const asked = () => {
      const { own, ending } = entry.parent ? resolve(entry.parent) : START;
      return ending ?? own;
    };
    try {
      entry.reasons = reasonsAfter({ ...step, machine, before, reasons, asked, effect: (id) => slotOf(entry, id) });
    } catch (error) {
      fail(`the cause of ${step.event.type} at ${entry.name} is not known`, error);
    }
    return entry.reasons;
  };

  const settle = (entry: Entry, type: string, snapshot: SnapshotView) => {
    const cause = causeNow(resolve(entry));
    const state = snapshot.value === entry.snapshot?.value ? entry.state : stateName(snapshot);
    let transition: Transition | undefined;
    if (state !== entry.state) {
      const { name: actor, machine } = entry;
      const { sessionId } = entry.actor;
      const at = now();
      transition = {
        at,
        actor,
        machine,
        sessionId,
        ...(entry.snapshot && { from: entry.state }),
        to: state,
        event: type,
        cause,
      };
      Object.assign(entry, { state, since: at });
      if (machine !== UNRECORDED) {
        if (record && (TOLD_WHOLE.has(machine) || !history.knows(transition))) record(transition);
        history.add(transition);
      }
    }
    entry.snapshot = snapshot;
    seeTimers(entry.actor, snapshot, entry.timers, now);
    if (!listeners.none()) {
      const seen = view(entry);
      listeners.notify((listener) => listener.changed?.(seen, transition));
    }
    if (snapshot.status !== 'active') end(entry);
  };

  const see = (inspected: InspectionEvent) => {
    const actor = inspected.actorRef as AnyActorRef;
    switch (inspected.type) {
      case '@xstate.event': {
        if (inspected.event.type === 'xstate.init') return begin(actor);
        if (!inspected.event.type.startsWith('xstate.error.actor.')) return;
        // The only sign of an actor that threw: it shows no snapshot any more.
        const failed = inspected.sourceRef as AnyActorRef | undefined;
        if (!failed) return;
        const entry = entries.get(failed.sessionId);
        return entry ? end(entry) : endEffect(failed);
      }
      case '@xstate.microstep': {
        const entry = entries.get(actor.sessionId);
        if (entry?.step) entry.step.after = inspected.snapshot;
        else if (entry) entry.step = { event: inspected.event, after: inspected.snapshot };
        return;
      }
      case '@xstate.snapshot': {
        const entry = entries.get(actor.sessionId);
        if (entry) settle(entry, inspected.event.type, inspected.snapshot);
        else if ((inspected.snapshot as SnapshotView | undefined)?.status !== 'active') endEffect(actor);
        return;
      }
    }
  };

  const allSecrets = () => secretsOf([...entries.values()].map(({ actor }) => snapshotOf(actor).context));

  return {
    inspect(event) {
      try {
        see(event);
      } catch (error) {
        fail('the live view misses what happens', error);
      }
    },
    actors: () => [...entries.values()].map(view),
    actor(sessionId) {
      const entry = entries.get(sessionId);
      return entry && view(entry);
    },
    context(sessionId) {
      const entry = entries.get(sessionId);
      if (!entry) return undefined;
      return redact(snapshotOf(entry.actor).context, allSecrets());
    },
    peek(sessionId) {
      const entry = entries.get(sessionId);
      return entry && snapshotOf(entry.actor).context;
    },
    redacted: (value) => redact(value, allSecrets()),
    holds(sessionId, guard) {
      const entry = entries.get(sessionId);
      return entry && guardHolds(entry.actor, guard);
    },
    history: (about) => history.of(about),
    recall: (kept) => history.recall(kept),
    subscribe: listeners.add,
  };
}

/** Slot name of the effect whose answer an event brings; a child machine is none. */
function slotOf({ effects, lastEffect }: Entry, id: string): string | undefined {
  if (lastEffect?.id === id) return lastEffect.src;
  for (const effect of effects.values()) if (effect.id === id) return effect.src;
  return undefined;
}
