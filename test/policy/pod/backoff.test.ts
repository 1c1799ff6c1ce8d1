import { describe, expect, test } from '@jest/globals';
import { type Backoff, backoffRemaining, nextBackoff } from '../../../machines/pod/policy/backoff.ts';
import { T0 } from './fixtures.ts';

const KUBELET = { initialMs: 10_000, maxMs: 300_000 };

/** Waits before each successor of a container that runs `ranMs` every time. */
function waits(count: number, ranMs: number, settings = KUBELET): number[] {
  let state: Backoff | undefined;
  let now = T0;
  return Array.from({ length: count }, () => {
    const finishedAt = (now += ranMs);
    const wait = backoffRemaining(state, finishedAt, now);
    now += wait;
    state = nextBackoff(state, finishedAt, settings);
    return wait / 1000;
  });
}

describe('crash back-off', () => {
  test('the first restart is immediate, then 10 s doubling to 300 s', () => {
    expect(waits(9, 0)).toEqual([0, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  test('maxContainerRestartPeriod caps it, and its beginning too', () => {
    expect(waits(5, 0, { initialMs: 10_000, maxMs: 25_000 })).toEqual([0, 10, 20, 25, 25]);
    expect(waits(3, 0, { initialMs: 10_000, maxMs: 3_000 })).toEqual([0, 3, 3]);
  });

  test.each([
    ['exactly 600 s', 600_000, [0, 10, 20, 40]],
    ['more than 600 s', 600_001, [0, 0, 0, 0]],
  ])('a container that ran %s since its start', (_, ranMs, expected) => {
    expect(waits(4, ranMs)).toEqual(expected);
  });

  test('the quiet time does not shrink with the longest wait', () => {
    expect(waits(3, 60_000, { initialMs: 10_000, maxMs: 10_000 })).toEqual([0, 10, 10]);
  });

  test('the wait counts from the end, and runs down to 0', () => {
    const state = nextBackoff(undefined, T0, KUBELET);
    const left = (now: number) => backoffRemaining(state, T0 + 5_000, now);
    expect([T0 + 5_000, T0 + 9_000, T0 + 15_000, T0 + 99_000].map(left)).toEqual([10_000, 6_000, 0, 0]);
  });

  test('a clock that was set back does not make it longer', () => {
    const state = nextBackoff(undefined, T0, KUBELET);
    expect(backoffRemaining(state, T0, T0 - 3_600_000)).toBe(10_000);
  });

  test('nothing to wait for without an earlier end', () => {
    expect(backoffRemaining(undefined, T0, T0)).toBe(0);
  });
});
