import { describe, expect, test } from '@jest/globals';
import { assign, setup } from 'xstate';
import type { AgentEnv, ParentRef } from '../../machines/agent.types.ts';
import { slot } from '../../machines/slot.types.ts';
import { deferred, drive } from './drive.ts';
import { T0 } from './fixtures.ts';
import { emit, expectAllTransitionsWalked, fail, neverAbandoned, ok, oneAtATime, walk } from './paths.ts';

const machine = setup({
  types: {
    context: {} as { tries: number; env: AgentEnv; parent: ParentRef },
    events: {} as { type: 'go' } | { type: 'leave' } | { type: 'noticed' },
    input: {} as { env: AgentEnv; parent: ParentRef; tries: number },
  },
  actors: { work: slot<{ tries: number }, { answer: number }>('work') },
  guards: { wornOut: ({ context }) => context.tries >= 2 },
  delays: { retry: 1000 },
}).createMachine({
  id: 'sample',
  context: ({ input }) => input,
  initial: 'deciding',
  states: {
    deciding: { always: [{ guard: 'wornOut', target: 'ended' }, { target: 'idle' }] },
    idle: { on: { go: 'working' } },
    working: {
      invoke: {
        src: 'work',
        input: ({ context }) => ({ tries: context.tries }),
        onDone: { target: 'ended', actions: ({ context }) => context.parent.send({ type: 'done' }) },
        onError: { target: 'waiting', actions: assign({ tries: ({ context }) => context.tries + 1 }) },
      },
      on: { leave: 'idle', noticed: {} },
    },
    waiting: { after: { retry: 'deciding' } },
    ended: { type: 'final' },
  },
});

const options = {
  inputs: { first: (world: { env: AgentEnv; parent: ParentRef }) => ({ ...world, tries: 0 }) },
  events: () => [{ type: 'go' as const }, { type: 'leave' as const }],
  outcomes: { work: [ok({ answer: 1 }), fail('Broken'), emit({ type: 'noticed' })] },
  key: ({ context }: { context: { tries: number } }) => context.tries,
};

describe('walk', () => {
  test('reaches every transition and state: events, always, after, onDone, onError, events from children', () => {
    const report = walk(machine, options);
    expectAllTransitionsWalked(report);
    expect(report.transitions).toHaveLength(8);
    expect(report.transitions.map((t) => t.id)).toContain('sample.working · onError work[0] → sample.waiting');
    expect(report.transitions.map((t) => t.id)).toContain('sample.waiting · after retry[0] → sample.deciding');
    expect(report.transitions.map((t) => t.id)).toContain('sample.deciding · always[0] {wornOut} → sample.ended');
    expect(report.cutOff).toBe(0);
  });

  test('names what was not walked, and exceptions that are not needed', () => {
    const report = walk(machine, { ...options, outcomes: { work: [ok({ answer: 1 })] } });
    expect(() => expectAllTransitionsWalked(report)).toThrow('transition not walked: sample.working · onError work[0]');
    expect(() => expectAllTransitionsWalked(report)).toThrow('state not walked: sample.waiting');
    const all = walk(machine, options);
    expect(() => expectAllTransitionsWalked(all, { except: ['sample.waiting'] })).toThrow('excepted, and is walked');
    expect(() => expectAllTransitionsWalked(all, { except: ['sample.gone'] })).toThrow('not in the chart');
  });

  test('shows the path to a violated invariant', () => {
    const report = walk(machine, { ...options, invariants: { 'work ends': neverAbandoned(['work']) } });
    expect(report.problems[0]).toEqual({
      path: ['first', '{"type":"go"}', '{"type":"leave"}'],
      message: 'work ends: work was left while it was in flight',
    });
    expect(walk(machine, { ...options, invariants: { one: oneAtATime(['work']) } }).problems).toEqual([]);
  });

  test('reports a machine that throws, with the path', () => {
    const broken = machine.provide({
      guards: {
        wornOut: ({ context }) => {
          if (context.tries === 1) throw new Error('guard broke');
          return false;
        },
      },
    });
    const report = walk(broken, options);
    expect(report.problems[0]?.message).toContain('guard broke');
    expect(report.problems[0]?.path).toEqual(['first', '{"type":"go"}', 'work: fail Broken', 'after 1000 ms']);
  });

  test('refuses to walk a chart of whose effects one has no outcome, and a key that is too fine', () => {
    expect(() => walk(machine, { ...options, outcomes: {} })).toThrow('no outcomes for actor "work"');
    expect(() => walk(machine, { ...options, key: () => Math.random(), maxDepth: 30, maxPaths: 200 })).toThrow(
      'coarser',
    );
  });
});

describe('drive', () => {
  test('effects settle when told, time moves when told, and both are recorded', () => {
    const run = drive(deferred(machine), { input: (world) => ({ ...world, tries: 1 }) });
    run.send({ type: 'go' });
    expect(run.pending()).toEqual([{ src: 'work', input: { tries: 1 }, step: 1, startedAt: T0, state: 'pending' }]);
    run.advance(50);
    run.settle('work', fail('Broken'));
    expect(run.calls[0]).toMatchObject({ state: 'failed', endedAt: T0 + 50 });
    expect(run.untilTimer()).toBe(1000);
    run.advance(999);
    expect(run.snapshot.value).toBe('waiting');
    run.advance(1);
    expect(run.snapshot.status).toBe('done');
    expect(run.env.now()).toBe(T0 + 1050);
    expect(() => run.settle('work', ok())).toThrow('no pending effect work');
  });

  test('the parent keeps what it is sent', () => {
    const run = drive(deferred(machine), { input: (world) => ({ ...world, tries: 0 }) });
    run.send({ type: 'go' });
    run.settle('work', ok({ answer: 1 }));
    expect(run.parent.ofType('done')).toHaveLength(1);
  });
});
