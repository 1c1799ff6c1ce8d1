import { describe, expect, test } from '@jest/globals';
import type { ObservedContainer } from '../../../machines/runtime.types.ts';
import { ended, instance, sandbox, T0 } from './fixtures.ts';
import { containerWords, planOf, podOf, words } from './plan-summary.ts';

const GRACE = 30;
const ending = (now = T0, gracePeriodSeconds = GRACE) => ({
  termination: { gracePeriodSeconds, startedAt: T0 },
  now,
});
const STOP = 'stop podStopping';
const HOLD = 'hold podStopping';

describe('a pod that is to end', () => {
  const desired = podOf('Always', ['i1', 's1+', 's2+'], ['a', 'b']);
  test.each<[string, ObservedContainer[], Record<string, string>]>([
    ['B010 regular containers are all stopped at once', [instance('a'), instance('b')], { a: STOP, b: STOP }],
    ['what never ran is left', [], {}],
    ['what was made and not started is left', [instance('a', { state: 'created' })], {}],
    ['what ended is left', [ended('a', 1)], {}],
    ['what may run is stopped', [instance('a', { state: 'unknown' })], { a: STOP }],
    ['B041 sidecars wait for regular containers', [instance('b'), instance('s2'), instance('s1')], { b: STOP }],
    ['B041 then the last goes first', [instance('s2'), instance('s1')], { s2: STOP }],
    ['B041 then the one before it', [ended('s2', 143), instance('s1')], { s1: STOP }],
    ['B026 sidecars wait for the init container that runs', [instance('i1'), instance('s1')], { i1: STOP }],
    ['B026 and go as soon as it ended', [ended('i1', 137), instance('s1')], { s1: STOP }],
  ])('%s', (_, containers, stops) => {
    const all = { i1: HOLD, s1: HOLD, s2: HOLD, a: HOLD, b: HOLD };
    expect(containerWords(planOf(desired, containers, undefined, ending()))).toEqual({ ...all, ...stops });
  });

  test('sidecars wait no longer than the grace', () => {
    const containers = [instance('a'), instance('s2'), instance('s1')];
    const plan = planOf(desired, containers, undefined, ending(T0 + GRACE * 1000));
    expect(containerWords(plan)).toMatchObject({ a: STOP, s2: STOP, s1: STOP });
  });

  test('all stops share one grace', () => {
    const graceAt = (now: number) => planOf(desired, [instance('a')], undefined, ending(now)).containers.a;
    expect(graceAt(T0)).toMatchObject({ gracePeriodSeconds: 30, message: 'Stopping container a' });
    expect(graceAt(T0 + 12_000)).toMatchObject({ gracePeriodSeconds: 18 });
    expect(graceAt(T0 + 60_000)).toMatchObject({ gracePeriodSeconds: 2 });
  });

  test('asks for no sandbox, and names the one that stands', () => {
    expect(words(planOf(desired, [], [sandbox({ state: 'notReady' })], ending()))).toMatchObject({ sandbox: 'none' });
    expect(words(planOf(desired, [], [], ending()))).toMatchObject({ sandbox: 'none', finished: false });
    expect(words(planOf(desired, [], [sandbox({ ips: [] })], ending()))).toMatchObject({ sandbox: 'keep s0' });
  });

  test('stops what runs in any sandbox', () => {
    const sandboxes = [sandbox({ id: 's9', attempt: 9 }), sandbox({ state: 'notReady' })];
    expect(containerWords(planOf(desired, [instance('a')], sandboxes, ending()))).toMatchObject({ a: STOP });
  });
});
