import { describe, expect, test } from '@jest/globals';
import type { AgentEnv, ParentRef } from '../../machines/agent.types.ts';
import { housekeepingMachine } from '../../machines/syncloop/housekeeping.machine.ts';
import { deferred, drive } from '../support/drive.ts';
import { expectAllTransitionsWalked, fail, neverAbandoned, ok, oneAtATime, walk } from '../support/paths.ts';

const input = (world: { env: AgentEnv; parent: ParentRef }) => ({ ...world, periodMs: 2000 });
const start = () => drive(deferred(housekeepingMachine), { input });
const keep = (...uids: string[]) => ({ type: 'housekeeping.keep' as const, keep: uids });
const removed = (...paths: string[]) => ok({ removed: paths }, `removed ${paths.length}`);

describe('housekeeping', () => {
  test('every transition is walked; a sweep is never left and never doubled', () => {
    const report = walk(housekeepingMachine, {
      inputs: { start: input },
      events: () => [keep('a'), keep('a', 'b')],
      outcomes: { sweep: [removed(), removed('/var/lib/kubelet/pods/x'), fail('EBUSY')] },
      key: ({ context }) => [context.restless, context.keep.length, Math.min(context.failures, 2)],
      invariants: {
        'one sweep': oneAtATime(['sweep']),
        'no sweep is left': neverAbandoned(['sweep']),
        'sources first': (run) =>
          run.calls.length > 0 && run.snapshot.context.keep.length === 0 ? 'swept before any pod was kept' : undefined,
      },
    });
    expectAllTransitionsWalked(report);
    expect(report.cutOff).toBe(0);
  });

  test('nothing is swept before it is known what is to be kept', () => {
    const run = start();
    run.advance(3_600_000);
    expect(run.calls).toEqual([]);
    run.send(keep());
    run.advance(2000);
    expect(run.calls[0]).toMatchObject({ src: 'sweep', input: { keep: [] } });
  });

  test('a sweep keeps what was to be kept when it began, not what was to be kept when it was planned', () => {
    const run = start();
    run.send(keep('a'));
    run.advance(1000);
    run.send(keep('a', 'b'));
    run.advance(1000);
    expect(run.calls[0]?.input).toEqual({ keep: ['a', 'b'] });
  });

  test('an idle node is swept seldom; a change of the pods brings the next sweep within a period', () => {
    const run = start();
    run.send(keep('a'));
    run.advance(2000);
    run.settle('sweep', removed());
    run.send(keep('a'));
    run.advance(59_999);
    expect(run.calls).toHaveLength(1);
    run.advance(1);
    expect(run.calls).toHaveLength(2);
    run.settle('sweep', removed());
    run.send(keep());
    run.advance(2000);
    expect(run.calls).toHaveLength(3);
  });

  test('a change during a sweep is not lost', () => {
    const run = start();
    run.send(keep('a'));
    run.advance(2000);
    run.send(keep());
    run.settle('sweep', removed());
    run.advance(2000);
    expect(run.calls.map((c) => c.input)).toEqual([{ keep: ['a'] }, { keep: [] }]);
  });

  test('a failure is told once, retried ever more seldom, and told anew after a success', () => {
    const run = start();
    run.send(keep());
    for (const wait of [2000, 4000, 8000]) {
      run.advance(wait - 1);
      expect(run.pending()).toEqual([]);
      run.advance(1);
      run.settle('sweep', fail('EBUSY', 'pods/x is still mounted'));
    }
    expect(run.parent.events()).toEqual(['Warning ContainerGCFailed pods/x is still mounted']);
    run.advance(16_000);
    run.settle('sweep', removed('pods/x'));
    run.advance(2000);
    run.settle('sweep', fail('EBUSY', 'pods/y is still mounted'));
    expect(run.parent.events()).toHaveLength(2);
    expect(run.snapshot.context.removed).toBe(1);
  });
});
