import { describe, expect, test } from '@jest/globals';
import { keptEnd, keptGraceLeft, removalBegan } from '../../../machines/pod/policy/kept-stop.ts';
import type { KeptStop } from '../../../machines/pod/container.types.ts';
import { instance, observed, T0 } from '../../support/fixtures.ts';

const stop = (over: Partial<KeptStop> = {}): KeptStop => ({
  id: 'app-0',
  killAt: T0 + 30_000,
  gracePeriodSeconds: 30,
  reason: 'podStopping',
  podEnd: { removed: true },
  ...over,
});
const seen = observed({ containers: [instance()] });

describe('what is left of a kept stop', () => {
  test.each([
    ['10 s after its begin', 10_000, 20_000],
    ['after its end', 31_000, 0],
    ['where the clock was set ahead', 3_600_000, 0],
    ['where the clock was set back: the whole, never more', -3_600_000, 30_000],
  ])('%s', (_, elapsed, left) => {
    expect(keptGraceLeft(stop(), T0 + elapsed)).toBe(left);
  });

  test('of one that was asked for again with less: that', () => {
    expect(keptGraceLeft(stop({ gracePeriodSeconds: 2 }), T0)).toBe(2_000);
  });
});

describe('the end of a pod that an earlier agent began', () => {
  test('goes on from now with what is left, the shortest of its containers', () => {
    const stops = { app: stop(), side: stop({ id: 'side-0', killAt: T0 + 12_500 }) };
    const both = observed({ containers: [instance(), instance({ name: 'side' })] });
    expect(keptEnd(stops, both, T0, 77)).toEqual({ gracePeriodSeconds: 13, startedAt: 77, removed: true });
  });

  test('has at least one second, and the reason for which the pod is to be Failed', () => {
    const failed = { reason: 'Preempting', message: 'for a critical pod', disruption: 'was preempted' };
    const kept = { app: stop({ podEnd: { failed } }) };
    expect(keptEnd(kept, seen, T0 + 60_000, 0)).toEqual({ gracePeriodSeconds: 1, startedAt: 0, failed });
    expect(removalBegan(kept, seen)).toBe(false);
  });

  test('is none where a container was stopped alone, and none that is of a container which is gone', () => {
    const alone = { app: stop({ reason: 'definitionChanged', podEnd: undefined }) };
    expect(keptEnd(alone, seen, T0, 0)).toBeUndefined();
    const old = { app: stop({ id: 'app-of-old' }) };
    expect(keptEnd(old, seen, T0, 0)).toBeUndefined();
    expect([removalBegan(old, seen), removalBegan(undefined, seen), removalBegan(old, undefined)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(removalBegan({ app: stop() }, seen)).toBe(true);
  });
});
