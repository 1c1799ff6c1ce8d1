import { describe, expect, test } from '@jest/globals';
import {
  firstView,
  nextAttempt,
  viewAfterCall,
  viewAfterLook,
  viewAfterPush,
  viewWithout,
} from '../../../machines/pod/policy/container-view.ts';
import { goDuration } from '../../../machines/pod/policy/duration.ts';
import { imageBackoffRemaining, nextImageBackoff } from '../../../machines/pod/policy/image-backoff.ts';
import { instance, T0 } from '../../support/fixtures.ts';

describe('image back-off', () => {
  test('is 10 s doubling to 300 s, and forgotten 600 s after the last failure', () => {
    const first = nextImageBackoff(undefined, T0, 'no');
    expect(first).toEqual({ delayMs: 10_000, failedAt: T0, message: 'no' });
    expect(nextImageBackoff(first, T0 + 600_000, 'no').delayMs).toBe(20_000);
    expect(nextImageBackoff(first, T0 + 600_001, 'no').delayMs).toBe(10_000);
    expect(nextImageBackoff({ ...first, delayMs: 160_000 }, T0, 'no').delayMs).toBe(300_000);
  });

  test('ends when its time is over, and is not lengthened by a clock that was set back', () => {
    const backoff = nextImageBackoff(undefined, T0, 'no');
    expect(imageBackoffRemaining(backoff, T0 + 4000)).toBe(6000);
    expect(imageBackoffRemaining(backoff, T0 + 10_000)).toBe(0);
    expect(imageBackoffRemaining(backoff, T0 - 10_000)).toBe(10_000);
    expect(imageBackoffRemaining(undefined, T0)).toBe(0);
  });
});

test.each([
  [0, '0s'],
  [850, '850ms'],
  [1250, '1.25s'],
  [10_000, '10s'],
  [80_000, '1m20s'],
  [300_000, '5m0s'],
  [3_661_500, '1h1m1.5s'],
  [9_999.999_999, '10s'],
])('%d ms is printed as Go does: %s', (ms, text) => expect(goDuration(ms)).toBe(text));

describe('what a container knows of its instances', () => {
  const ids = (view: { instances: { id: string }[] }) => view.instances.map((i) => i.id);

  test('is ordered by attempt, then by creation', () => {
    const view = firstView([instance({ attempt: 1 }), instance({ attempt: 3, createdAt: T0 - 1 }), instance()], -1);
    expect(ids(view)).toEqual(['app-3', 'app-1', 'app-0']);
  });

  test('B069 B089 the next attempt is above all ever seen, in instances and log files, whatever is left of them', () => {
    expect(nextAttempt(firstView([], -1))).toBe(0);
    expect(nextAttempt(firstView([instance({ attempt: 2 })], 6))).toBe(7);
    expect(nextAttempt(viewAfterPush(firstView([instance({ attempt: 2 })], -1), []))).toBe(3);
  });

  test('the newer sighting of an instance stands, whichever way it came', () => {
    const view = firstView([instance({ at: T0 + 5, state: 'exited' })], -1);
    expect(viewAfterPush(view, [instance({ at: T0 + 4 })]).instances[0]?.state).toBe('exited');
    expect(viewAfterPush(view, [instance({ at: T0 + 6 })]).instances[0]?.state).toBe('running');
  });

  test('an own answer is kept until a push has carried it; after that, missing means gone', () => {
    const own = viewAfterCall(firstView([], -1), instance());
    const before = viewAfterPush(own, []);
    expect(ids(before)).toEqual(['app-0']);
    const carried = viewAfterPush(before, [instance()]);
    expect(ids(viewAfterPush(carried, []))).toEqual([]);
  });

  test('what an own call removed does not come back by a stale push', () => {
    const view = viewWithout(firstView([instance()], -1), 'app-0');
    expect(ids(viewAfterPush(view, [instance()]))).toEqual([]);
  });

  test('a fresh look replaces everything; what it found first counts as unknown to the pod', () => {
    const view = viewAfterLook(firstView([instance()], -1), [instance({ attempt: 1 })]);
    expect(ids(view)).toEqual(['app-1']);
    expect(ids(viewAfterPush(view, []))).toEqual(['app-1']);
  });

  test('only ends that were in the push are known to its plan', () => {
    const view = firstView([instance()], -1);
    expect(viewAfterCall(view, instance({ state: 'exited', at: T0 + 1 })).knownExits).toEqual([]);
    expect(viewAfterPush(view, [instance({ state: 'exited', at: T0 + 1 })]).knownExits).toEqual(['app-0']);
  });
});

describe('when an instance ended, by the clock of the agent', () => {
  const HOUR = 3_600_000;
  const exited = (finishedAt: number, at: number) => instance({ state: 'exited', finishedAt, at });

  test('is what the runtime says where nobody saw it live, and never later than it was seen', () => {
    expect(firstView([exited(T0 - 500, T0)], -1).ends).toEqual({ 'app-0': T0 - 500 });
    expect(firstView([exited(T0 + HOUR, T0)], -1).ends).toEqual({ 'app-0': T0 });
  });

  test('lies between the last sight of it alive and the first after it, though the runtime set its clock', () => {
    const alive = firstView([instance({ at: T0 })], -1);
    expect(viewAfterPush(alive, [exited(T0 + 30, T0 + 50)]).ends).toEqual({ 'app-0': T0 + 30 });
    expect(viewAfterPush(alive, [exited(T0 - HOUR, T0 + 50)]).ends).toEqual({ 'app-0': T0 });
    const after = viewAfterPush(alive, [exited(T0 + HOUR, T0 + 50)]);
    expect(after.ends).toEqual({ 'app-0': T0 + 50 });
    expect(viewAfterPush(after, [exited(T0 + HOUR, T0 + 900)]).ends).toEqual({ 'app-0': T0 + 50 });
  });

  test('is not before this machine had it made', () => {
    const made = { ...firstView([], -1), made: { id: 'app-0', at: T0 } };
    expect(viewAfterCall(made, exited(T0 - HOUR, T0 + 10)).ends).toEqual({ 'app-0': T0 });
  });
});
