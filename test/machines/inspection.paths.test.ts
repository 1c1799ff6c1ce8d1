import { describe, expect, test } from '@jest/globals';
import type { RuntimeEvent } from '../../machines/runtime.types.ts';
import { inspectionMachine } from '../../machines/syncloop/inspection.machine.ts';
import { deferred, drive, type DriveOptions } from '../support/drive.ts';
import { instance, observed, sandbox, T0 } from '../support/fixtures.ts';
import { expectAllTransitionsWalked, fail, neverAbandoned, ok, oneAtATime, walk } from '../support/paths.ts';

const event = (kind: RuntimeEvent['kind'], containerId = 'app-0'): RuntimeEvent => ({ kind, containerId, at: T0 });
const input =
  (...events: RuntimeEvent[]): DriveOptions<typeof inspectionMachine>['input'] =>
  ({ parent }) => ({ parent, pod: { uid: 'uid-1', name: 'web', namespace: 'default' }, events });
const start = (...events: RuntimeEvent[]) => drive(deferred(inspectionMachine), { input: input(...events) });
const again = (...events: RuntimeEvent[]) => ({ type: 'inspection.again' as const, events });
const running = observed({ sandboxes: [sandbox()], containers: [instance()] });
const exited = observed({ sandboxes: [sandbox()], containers: [instance({ state: 'exited' })] });

describe('inspection', () => {
  test('every transition is walked; looks never overlap and are never left', () => {
    const report = walk(inspectionMachine, {
      inputs: { 'on request': input(), 'on an exit': input(event('stopped')) },
      events: () => [again(), again(event('stopped'))],
      outcomes: { observePod: [ok(running, 'running'), ok(exited, 'exited'), fail('DEADLINE_EXCEEDED')] },
      key: ({ context }) => [Object.keys(context.awaited), context.dirty, context.looks, Math.min(context.failures, 2)],
      invariants: { 'one look': oneAtATime(['observePod']), 'no look is left': neverAbandoned(['observePod']) },
      maxDepth: 12,
    });
    expectAllTransitionsWalked(report);
  });

  test('a pod that is seen as it was told of needs one look', () => {
    const run = start(event('stopped'));
    run.settle('observePod', ok(exited));
    expect(run.parent.sent).toEqual([{ type: 'inspection.observed', pod: exited }]);
    expect(run.snapshot.status).toBe('done');
  });

  test('an exit that the runtime told of and does not show yet is looked for again within 20 ms', () => {
    const run = start(event('stopped'));
    run.settle('observePod', ok(running));
    expect(run.untilTimer()).toBe(20);
    run.advance(20);
    run.settle('observePod', ok(exited));
    expect(run.snapshot.status).toBe('done');
  });

  test('what the runtime never shows is given up after eight looks', () => {
    const run = start(event('started', 'never-seen'));
    for (let look = 1; look <= 7; look++) {
      run.settle('observePod', ok(running));
      run.advance(run.untilTimer() ?? 0);
    }
    run.settle('observePod', ok(running));
    expect(run.snapshot.status).toBe('done');
    expect(run.calls).toHaveLength(8);
  });

  test('a flood of requests during a look leads to one more look', () => {
    const run = start();
    for (let i = 0; i < 1000; i++) run.send(again(event('stopped')));
    run.settle('observePod', ok(running));
    run.settle('observePod', ok(exited));
    expect(run.snapshot.status).toBe('done');
    expect(run.calls).toHaveLength(2);
  });

  test('a look that fails is told and tried again, ever more seldom; requests do not make it sooner', () => {
    const run = start();
    for (const wait of [500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
      run.settle('observePod', fail('DEADLINE_EXCEEDED', 'too slow'));
      run.send(again());
      expect(run.untilTimer()).toBe(wait);
      run.advance(wait);
    }
    expect(run.parent.sent[1]).toEqual({ type: 'inspection.failed', uid: 'uid-1', message: 'too slow', failures: 2 });
  });

  test('a look that hangs is told once as slow and goes on', () => {
    const run = start();
    run.advance(60_000);
    expect(run.parent.sent.map((m) => m.type)).toEqual(['inspection.slow']);
    run.settle('observePod', ok(running));
    expect(run.parent.sent.map((m) => m.type)).toEqual(['inspection.slow', 'inspection.observed']);
  });
});
