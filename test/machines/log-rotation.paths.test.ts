import { describe, expect, test } from '@jest/globals';
import type { AgentEnv, ParentRef } from '../../machines/agent.types.ts';
import { logRotationMachine } from '../../machines/node/log-rotation.machine.ts';
import { deferred, drive } from '../support/drive.ts';
import { expectAllTransitionsWalked, fail, neverAbandoned, ok, oneAtATime, walk } from '../support/paths.ts';

const settings = { periodMs: 10_000, maxSizeBytes: 10_485_760, maxFiles: 5, maxWorkers: 1 };
const input = (world: { env: AgentEnv; parent: ParentRef }) => ({ ...world, settings });
const start = () => drive(deferred(logRotationMachine), { input });
const failure = (path: string) => ({ path, message: 'no space left on device' });
const round = (rotated: string[], ...failed: string[]) =>
  ok({ rotated, failed: failed.map(failure) }, `${rotated}/${failed}`);

describe('logRotation', () => {
  test('every transition is walked; a round is never left and never doubled', () => {
    const report = walk(logRotationMachine, {
      inputs: { start: input },
      events: () => [],
      outcomes: { rotateLogs: [round([]), round(['a']), round([], 'a'), fail('UNAVAILABLE')] },
      key: ({ context }) => [context.failing, Math.min(context.rotated, 1)],
      invariants: { 'one round': oneAtATime(['rotateLogs']), 'no round is left': neverAbandoned(['rotateLogs']) },
    });
    expectAllTransitionsWalked(report);
    expect(report.cutOff).toBe(0);
  });

  test('a period passes between the end of a round and the next one, which gets the limits', () => {
    const run = start();
    run.advance(9_999);
    expect(run.calls).toEqual([]);
    run.advance(1);
    expect(run.calls[0]).toMatchObject({
      src: 'rotateLogs',
      input: { maxSizeBytes: 10_485_760, maxFiles: 5, maxWorkers: 1 },
    });
    run.advance(60_000);
    expect(run.calls).toHaveLength(1);
    run.settle('rotateLogs', round(['a', 'b']));
    expect(run.untilTimer()).toBe(10_000);
    expect(run.snapshot.context.rotated).toBe(2);
  });

  test('a log that cannot be rotated is told of once until it was well again', () => {
    const run = start();
    const rounds = (...failed: string[]) => {
      run.advance(10_000);
      run.settle('rotateLogs', round([], ...failed));
      return run.parent.events().length;
    };
    expect([rounds('/a'), rounds('/a'), rounds('/a', '/b'), rounds('/b'), rounds('/a')]).toEqual([1, 1, 2, 2, 3]);
    expect(run.parent.events()[0]).toBe(
      'Warning LogRotationFailed /a could not be rotated, which is tried again every 10 s: no space left on device',
    );
  });

  test('a runtime that does not say what runs is told of once, and asked again', () => {
    const run = start();
    for (const _round of [1, 2]) {
      run.advance(10_000);
      run.settle('rotateLogs', fail('UNAVAILABLE', 'no connection'));
    }
    expect(run.parent.events()).toEqual([
      'Warning LogRotationFailed container logs could not be rotated, which is tried again every 10 s: no connection',
    ]);
    run.advance(10_000);
    expect(run.pending().map(({ src }) => src)).toEqual(['rotateLogs']);
  });
});
