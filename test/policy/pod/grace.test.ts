import { describe, expect, test } from '@jest/globals';
import { deadlineRemaining } from '../../../machines/pod/policy/deadline.ts';
import { effectiveGrace, remainingGrace } from '../../../machines/pod/policy/grace.ts';
import { terminationAfter } from '../../../machines/pod/policy/termination.ts';
import { pod, T0 } from './fixtures.ts';

const graced = (terminationGracePeriodSeconds?: number, deletionGracePeriodSeconds?: number) =>
  pod({ terminationGracePeriodSeconds }, { deletionGracePeriodSeconds });

describe('effectiveGrace', () => {
  test.each([
    ['the API default', {}, 30],
    ['the spec', { spec: 45 }, 45],
    ['the deletion outranks the spec, shorter', { spec: 45, deletion: 5 }, 5],
    ['the deletion outranks the spec, longer', { spec: 45, deletion: 90 }, 90],
    ['B004 an override outranks the spec', { spec: 120, override: 1 }, 1],
    ['B004 the smallest of override and deletion wins', { spec: 45, deletion: 20, override: 10 }, 10],
    ['an override longer than the deletion changes nothing', { spec: 45, deletion: 20, override: 60 }, 20],
    ['B001 it shrinks', { spec: 120, previous: 120, override: 10 }, 10],
    ['B001 it never grows', { spec: 120, previous: 10, override: 60 }, 10],
    ['B002 a force delete leaves one second', { spec: 30, previous: 30, override: 0 }, 1],
    ['a spec of zero leaves one second', { spec: 0 }, 1],
    ['negative input leaves one second', { spec: -5 }, 1],
  ])('%s', (_, given: { spec?: number; deletion?: number; override?: number; previous?: number }, expected) => {
    const { spec, deletion, override, previous } = given;
    expect(effectiveGrace({ pod: graced(spec, deletion), override, previous })).toBe(expected);
  });
});

describe('remainingGrace', () => {
  test.each([
    ['at once', 30, 0, 30],
    ['B005 after 18 s of 20', 20, 18_000, 2],
    ['parts of a second are not counted', 20, 4_900, 16],
    ['after its end', 30, 31_000, 2],
    ['never less than 2 s', 1, 0, 2],
    ['a clock that was set back gives no more than the whole', 30, -60_000, 30],
  ])('%s', (_, grace, elapsedMs, expected) => {
    expect(remainingGrace(grace, T0, T0 + elapsedMs)).toBe(expected);
  });
});

describe('a termination that is asked for again', () => {
  const first = terminationAfter(undefined, { gracePeriodSeconds: 120 }, graced(30), undefined, T0);

  test('B001 a shorter grace ends it sooner, counted from the second request', () => {
    expect(first).toMatchObject({ gracePeriodSeconds: 120, startedAt: T0 });
    const second = terminationAfter(first, { gracePeriodSeconds: 10 }, graced(30), undefined, T0 + 5_000);
    expect(second).toMatchObject({ gracePeriodSeconds: 10, startedAt: T0 + 5_000 });
  });

  test('B001 a longer grace, or one that would end later, is ignored', () => {
    const longer = terminationAfter(first, { gracePeriodSeconds: 600 }, graced(30), undefined, T0 + 5_000);
    expect(longer).toEqual(first);
    const late = terminationAfter(first, { gracePeriodSeconds: 10 }, graced(30), undefined, T0 + 115_000);
    expect(late).toEqual(first);
  });

  test('B002 a force delete leaves one second from now', () => {
    const forced = terminationAfter(first, { gracePeriodSeconds: 0 }, graced(30), undefined, T0 + 2_000);
    expect(forced).toMatchObject({ gracePeriodSeconds: 1, startedAt: T0 + 2_000 });
  });

  test('an orphan goes with its recorded grace, at least 1 s', () => {
    expect(terminationAfter(undefined, {}, graced(), 7, T0)).toMatchObject({ gracePeriodSeconds: 7 });
    expect(terminationAfter(undefined, {}, graced(), 0, T0)).toMatchObject({ gracePeriodSeconds: 1 });
  });

  test('the reason for failing is kept, and the newest wins', () => {
    const evicted = { reason: 'Evicted', message: 'The node was low on resource: memory.' };
    const failed = terminationAfter(first, { failed: evicted }, graced(30), undefined, T0 + 1_000);
    expect(failed.failed).toEqual(evicted);
    expect(terminationAfter(failed, {}, graced(30), undefined, T0 + 2_000).failed).toEqual(evicted);
  });
});

describe('deadlineRemaining', () => {
  const startTime = new Date(T0).toISOString();
  test.each([
    ['no deadline', undefined, startTime, undefined],
    ['a pod without startTime', 10, undefined, undefined],
    ['B019 before it', 10, startTime, 6_000],
    ['B019 just passed', 4, startTime, 0],
    ['B019 long passed', 1, startTime, -3_000],
  ])('%s', (_, activeDeadlineSeconds, start, expected) => {
    expect(deadlineRemaining(pod({ activeDeadlineSeconds }), start, T0 + 4_000)).toBe(expected);
  });
});
