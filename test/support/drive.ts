import {
  createActor,
  type Actor,
  type ActorLogic,
  type AnyActorRef,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  type EventFrom,
  type EventObject,
  type InputFrom,
  type Snapshot,
  type SnapshotFrom,
} from 'xstate';
import type { AgentEnv } from '../../machines/agent.types.ts';
import { AgentError } from '../../machines/agent-error.types.ts';
import { fakeParent, type FakeParent } from './fake-parent.ts';
import { T0 } from './fixtures.ts';

/** How a pending effect ends; `emit` does not end it: it sends an event to the machine, as callback actors and child machines do. */
export type Outcome =
  | { kind: 'ok'; output: unknown; label: string }
  | { kind: 'fail'; error: AgentError; label: string }
  | { kind: 'emit'; event: EventObject; label: string };

export const ok = (output?: unknown, label = 'ok'): Outcome => ({ kind: 'ok', output, label });
export const fail = (reason: string, message = `${reason} happened`): Outcome => ({
  kind: 'fail',
  error: new AgentError({ op: 'effect', reason, message, transient: true }),
  label: `fail ${reason}`,
});
export const emit = (event: EventObject, label = event.type): Outcome => ({ kind: 'emit', event, label });

/** One start of an invoked or spawned actor. */
export interface Call {
  /** The name under which the chart lists it in `actors`. */
  src: string;
  input: unknown;
  /** The step of the run in which it began: 0 for the start of the machine. */
  step: number;
  /** Wall clock of its start and end, ms since the epoch. */
  startedAt: number;
  endedAt?: number;
  /** `abandoned`: its state was left, or its machine stopped, before it settled. */
  state: 'pending' | 'ok' | 'failed' | 'abandoned';
}

/** Virtual time: timers fire in order, each at its own due moment. */
class VirtualClock {
  now = T0;
  private nextId = 1;
  private readonly timers = new Map<number, { at: number; fn: () => void }>();

  setTimeout(fn: (...args: unknown[]) => void, ms: number): number {
    const id = this.nextId++;
    this.timers.set(id, { at: this.now + ms, fn });
    return id;
  }

  clearTimeout(id: number): void {
    this.timers.delete(id);
  }

  /** When the earliest timer is due; undefined: none is set. */
  due(): number | undefined {
    return this.timers.size === 0 ? undefined : Math.min(...[...this.timers.values()].map((t) => t.at));
  }

  /** Moves on by `ms`, firing what falls due on the way. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (let due = this.due(); due !== undefined && due <= end; due = this.due()) {
      this.now = Math.max(this.now, due);
      const [id, timer] = [...this.timers].find(([, t]) => t.at === due)!;
      this.timers.delete(id);
      timer.fn();
    }
    this.now = end;
  }
}

interface PendingCall {
  call: Call;
  self: AnyActorRef;
  index: number;
}

/** The machine with every listed actor replaced by a deferred one; made once, run many times. */
export interface DeferredMachine<M extends AnyStateMachine> {
  machine: M;
  /** The run that actors started from now on belong to. */
  current: {
    started(pending: PendingCall): void;
    ended(self: AnyActorRef, state: Call['state']): void;
    count(): number;
  };
}

/**
 * Replaces the actors of a chart by deferred ones that settle only when told to, at once and in the same step (no
 * promise, no microtask). Actors named in `real` stay as they are.
 */
export function deferred<M extends AnyStateMachine>(machine: M, real: readonly string[] = []): DeferredMachine<M> {
  const unused = () => {
    throw new Error('an effect started outside a run');
  };
  const result = { machine, current: { started: unused, ended: unused, count: unused } } as DeferredMachine<M>;
  const actors: Record<string, unknown> = {};
  for (const src of Object.keys(machine.implementations.actors)) {
    if (!real.includes(src)) actors[src] = deferredLogic(src, result);
  }
  result.machine = machine.provide({ actors } as never) as M;
  return result;
}

type Settle = { type: 'settle.ok'; output: unknown } | { type: 'settle.fail'; error: unknown };

function deferredLogic(
  src: string,
  owner: DeferredMachine<AnyStateMachine>,
): ActorLogic<Snapshot<unknown>, EventObject> {
  return {
    getInitialSnapshot: (_scope, input) => ({ status: 'active', output: undefined, error: undefined, input }) as never,
    getPersistedSnapshot: (snapshot) => snapshot,
    start: (snapshot, { self }) => {
      const { input } = snapshot as unknown as { input: unknown };
      const call: Call = { src, input, step: 0, startedAt: 0, state: 'pending' };
      owner.current.started({ call, self: self as AnyActorRef, index: owner.current.count() });
    },
    transition: (snapshot, event, { self }) => {
      const settle = event as Settle | { type: 'xstate.stop' };
      if (settle.type === 'settle.ok') {
        owner.current.ended(self as AnyActorRef, 'ok');
        return { ...snapshot, status: 'done', output: settle.output, error: undefined };
      }
      if (settle.type === 'settle.fail') {
        owner.current.ended(self as AnyActorRef, 'failed');
        return { ...snapshot, status: 'error', error: settle.error, output: undefined };
      }
      if (settle.type === 'xstate.stop') {
        owner.current.ended(self as AnyActorRef, 'abandoned');
        return { ...snapshot, status: 'stopped', output: undefined, error: undefined };
      }
      return snapshot;
    },
  };
}

/** A running machine under test, whose effects and time the test moves by hand. */
export interface Driven<M extends AnyStateMachine> {
  readonly snapshot: SnapshotFrom<M>;
  /** What a machine's guard or action threw, or an error that no state handles. */
  readonly error: unknown;
  readonly parent: FakeParent;
  readonly env: AgentEnv;
  /** Every effect that was started, in order. */
  readonly calls: readonly Call[];
  /** How often the test moved it: events, settled effects, advances. */
  readonly steps: number;
  /** Those that have not settled. */
  pending(src?: string): Call[];
  send(event: EventFrom<M>): void;
  /** Settles the oldest pending effect of this name (or this very call); throws if there is none. */
  settle(which: string | Call, outcome: Outcome): void;
  advance(ms: number): void;
  /** Ms until the next timer; undefined: none is set. */
  untilTimer(): number | undefined;
  /** Moves the wall clock alone, as when an operator sets it; timers do not notice. */
  setWallClock(ms: number): void;
  stop(): void;
}

export interface DriveOptions<M extends AnyStateMachine> {
  input: (world: { env: AgentEnv; parent: FakeParent }) => InputFrom<M>;
  /** Transitions taken, as they happen; used by the walker. */
  onTransitions?: (transitions: AnyTransitionDefinition[], snapshot: SnapshotFrom<M>) => void;
}

/**
 * Starts a machine in a world of its own: deferred effects, virtual time from T0, a recording parent.
 *
 *     const run = drive(deferred(containerMachine), { input: (world) => ({ ...world, pod: pod(), … }) });
 *     run.settle('createContainer', ok({ id: 'c1' }));
 *     expect(run.pending().map((c) => c.src)).toEqual(['startContainer']);
 */
export function drive<M extends AnyStateMachine>(target: DeferredMachine<M>, options: DriveOptions<M>): Driven<M> {
  const clock = new VirtualClock();
  let wallClockShift = 0;
  const env: AgentEnv = { now: () => clock.now + wallClockShift, elapsed: () => clock.now - T0, random: () => 0.5 };
  const parent = fakeParent();
  const calls: Call[] = [];
  let steps = 0;
  const refs = new Map<Call, AnyActorRef>();
  const byRef = new Map<AnyActorRef, Call>();
  const world: DeferredMachine<M>['current'] = {
    count: () => calls.length,
    started: ({ call, self }) => {
      call.step = steps;
      call.startedAt = env.now();
      calls.push(call);
      refs.set(call, self);
      byRef.set(self, call);
    },
    ended: (self, state) => {
      const call = byRef.get(self);
      if (!call || call.state !== 'pending') return;
      call.state = state;
      call.endedAt = env.now();
    },
  };
  target.current = world;
  let failure: unknown;
  const actor = createActor(target.machine, {
    input: options.input({ env, parent }),
    clock: {
      setTimeout: (fn: (...args: unknown[]) => void, ms: number) => clock.setTimeout(fn, ms),
      clearTimeout: (id: number) => clock.clearTimeout(id),
    },
    inspect: (event: { type: string; _transitions?: AnyTransitionDefinition[]; snapshot?: unknown }) => {
      if (event.type !== '@xstate.microstep') return;
      const own = (event._transitions ?? []).filter((t) => t.source?.machine === target.machine);
      options.onTransitions?.(own, event.snapshot as SnapshotFrom<M>);
    },
  } as never) as Actor<M>;
  actor.subscribe({ error: (error: unknown) => (failure = error) });
  actor.start();

  const pending = (src?: string) => calls.filter((c) => c.state === 'pending' && (src === undefined || c.src === src));
  const enter = () => {
    target.current = world;
    steps += 1;
  };
  return {
    get snapshot() {
      return actor.getSnapshot() as SnapshotFrom<M>;
    },
    get error() {
      return failure;
    },
    get steps() {
      return steps;
    },
    parent,
    env,
    calls,
    pending,
    send: (event) => {
      enter();
      actor.send(event);
    },
    settle: (which, outcome) => {
      enter();
      const call = typeof which === 'string' ? pending(which)[0] : which;
      const ref = call && refs.get(call);
      if (!call || !ref || call.state !== 'pending') {
        throw new Error(
          `no pending effect ${typeof which === 'string' ? which : which.src}; pending: ${pending()
            .map((c) => c.src)
            .join(', ')}`,
        );
      }
      if (outcome.kind === 'ok') ref.send({ type: 'settle.ok', output: outcome.output });
      else if (outcome.kind === 'fail') ref.send({ type: 'settle.fail', error: outcome.error });
      else actor.send(outcome.event as EventFrom<M>);
    },
    advance: (ms) => {
      enter();
      clock.advance(ms);
    },
    untilTimer: () => {
      const due = clock.due();
      return due === undefined ? undefined : Math.max(0, due - clock.now);
    },
    setWallClock: (ms) => {
      wallClockShift = ms - clock.now;
    },
    stop: () => {
      enter();
      actor.stop();
    },
  };
}
