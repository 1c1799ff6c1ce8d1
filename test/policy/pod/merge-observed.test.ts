import { describe, expect, test } from '@jest/globals';
import {
  mergeObserved,
  withContainer,
  withoutContainer,
  withSandbox,
  withSandboxStopped,
} from '../../../machines/pod/policy/merge-observed.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../machines/runtime.types.ts';
import { ended, instance, observed, sandbox } from './fixtures.ts';

const view = (at: number, containers: ObservedContainer[] = [], sandboxes: ObservedSandbox[] = []): ObservedPod => ({
  ...observed(containers, sandboxes),
  at,
});
const ids = ({ containers }: ObservedPod) => containers.map(({ id }) => id);

describe('a listing', () => {
  test.each([
    ['a newer sighting wins', 10, 20, 'listed'],
    ['of two as old as each other the listing wins', 10, 10, 'listed'],
    ['an older sighting is ignored', 20, 10, 'known'],
  ])('%s', (_, knownAt, listedAt, expected) => {
    const previous = view(5, [instance('main', { message: 'known', at: knownAt })]);
    const next = view(listedAt, [instance('main', { message: 'listed', at: listedAt })]);
    expect(mergeObserved(previous, next).containers).toMatchObject([{ message: expected }]);
  });

  test.each([
    ['seen before it began is gone', 10, 20, []],
    ['seen just when it began is gone', 20, 20, []],
    ['seen since it began stays', 21, 20, ['main-0']],
  ])('a container that it lacks and that was %s', (_, knownAt, listedAt, expected) => {
    expect(ids(mergeObserved(view(5, [instance('main', { at: knownAt })]), view(listedAt)))).toEqual(expected);
  });

  test('the same rule holds for sandboxes', () => {
    const previous = view(5, [], [sandbox({ id: 'old', at: 10 }), sandbox({ id: 'new', at: 30 })]);
    const { sandboxes } = mergeObserved(previous, view(20, [], [sandbox({ id: 'other', attempt: 2, at: 20 })]));
    expect(sandboxes.map(({ id }) => id)).toEqual(['other', 'new']);
  });

  test('that began before the last one brings nothing back that the last one no longer saw', () => {
    const late = view(15, [instance('main', { at: 15 })], [sandbox({ at: 15 })]);
    expect(mergeObserved(view(20), late)).toEqual(view(20));
  });

  test('the time of the view never falls', () => {
    expect(mergeObserved(view(20), view(10)).at).toBe(20);
    expect(mergeObserved(view(10), view(20)).at).toBe(20);
  });

  test('B069 lists are newest first by attempt, then by time of creation', () => {
    const containers = [
      instance('a', { id: 'third', attempt: 3, createdAt: 1, at: 10 }),
      instance('a', { id: 'second', attempt: 2, createdAt: 9, at: 10 }),
      instance('a', { id: 'twin', attempt: 2, createdAt: 8, at: 10 }),
    ];
    expect(ids(mergeObserved(view(5), view(10, containers.toReversed())))).toEqual(['third', 'second', 'twin']);
  });

  test.each(['running', 'created', 'unknown'] as const)('an end is final: nothing turns it into %s', (state) => {
    const end = ended('main', 3, { at: 10 });
    const later = mergeObserved(view(10, [end]), view(20, [instance('main', { state, at: 20 })]));
    expect(later.containers).toEqual([{ ...end, at: 20 }]);
    expect(mergeObserved(later, view(30)).containers).toEqual([]);
  });

  test('an end that was seen earlier than a late word of life still counts', () => {
    const previous = view(5, [instance('main', { at: 20 })]);
    expect(withContainer(previous, ended('main', 3, { at: 10 })).containers).toMatchObject([
      { state: 'exited', exitCode: 3, at: 20 },
    ]);
  });
});

describe('the answer of an own call', () => {
  test('adds a container in its place and takes none away', () => {
    const previous = view(10, [instance('a', { attempt: 1, at: 10 })]);
    const next = withContainer(previous, instance('a', { id: 'a-2', attempt: 2, at: 12 }));
    expect(ids(next)).toEqual(['a-2', 'a-0']);
    expect(next.at).toBe(10);
  });

  test('is kept by a listing that began before it', () => {
    const echoed = withContainer(view(10), instance('main', { at: 25 }));
    expect(ids(mergeObserved(echoed, view(20)))).toEqual(['main-0']);
  });

  test('a container found gone is not brought back by an older listing or look', () => {
    const gone = withoutContainer(view(10, [instance('main', { at: 10 })]), 'main-0', 30);
    const old = instance('main', { at: 20 });
    expect(ids(gone)).toEqual([]);
    expect(ids(mergeObserved(gone, view(20, [old])))).toEqual([]);
    expect(ids(withContainer(gone, old))).toEqual([]);
  });

  test('a container found gone is believed when a later look has it', () => {
    const gone = withoutContainer(view(10), 'main-0', 30);
    expect(ids(mergeObserved(gone, view(40, [instance('main', { at: 40 })])))).toEqual(['main-0']);
  });

  test('a removal is forgotten once no listing can undo it', () => {
    const gone = withoutContainer(view(10), 'main-0', 30);
    expect(mergeObserved(gone, view(20)).gone).toEqual({ 'main-0': 30 });
    expect(mergeObserved(gone, view(30)).gone).toBeUndefined();
  });

  test('a container seen since is not gone', () => {
    const previous = view(10, [instance('main', { at: 40 })]);
    expect(withoutContainer(previous, 'main-0', 30)).toEqual(previous);
  });

  test('a new sandbox is the first of them', () => {
    const next = withSandbox(view(10, [], [sandbox({ at: 10 })]), sandbox({ id: 's1', attempt: 1, at: 12 }));
    expect(next.sandboxes.map(({ id }) => id)).toEqual(['s1', 's0']);
  });

  test.each([
    [9, 'ready', ['10.0.0.5']],
    [10, 'notReady', []],
    [11, 'notReady', []],
  ])('a sandbox seen at 10 and stopped at %i', (at, state, ips) => {
    const { sandboxes } = withSandboxStopped(view(10, [], [sandbox({ at: 10 })]), 's0', at);
    expect(sandboxes).toEqual([sandbox({ state: state as ObservedSandbox['state'], ips, at: Math.max(10, at) })]);
  });

  test('a sandbox that is not known is not stopped', () => {
    const previous = view(10, [], [sandbox({ at: 10 })]);
    expect(withSandboxStopped(previous, 'other', 20)).toEqual(previous);
  });
});
