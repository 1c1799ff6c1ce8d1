import { describe, expect, test } from '@jest/globals';
import type { PodStatus } from '../../../machines/kubernetes.types.ts';
import { goingOn, mirroredOf, stillMirrored } from '../../../machines/syncloop/policy/mirrored-status.ts';
import type { PodEntry } from '../../../machines/syncloop/syncloop.types.ts';
import { pod } from '../../support/fixtures.ts';

const hashed = (hash: string, uid = hash) =>
  pod({ uid, name: hash, metadata: { annotations: { 'kubernetes.io/config.hash': hash } } });
const running: PodStatus = { phase: 'Running' };
const mirrors = { h1: running };
const entry = (over: Partial<PodEntry> = {}): PodEntry => ({
  ...{ uid: 'h1', name: 'h1', namespace: 'default', source: 'file', pod: hashed('h1') },
  ...{ ending: false, released: false },
  ...over,
});

describe('a static pod goes on from what its mirror pod said', () => {
  test('where it is that very pod: the same hash', () => {
    expect(mirroredOf(mirrors, { pod: hashed('h1', 'own-uid'), source: 'file' })).toBe(running);
    expect(mirroredOf(mirrors, { pod: hashed('h2', 'own-uid'), source: 'file' })).toBeUndefined();
  });

  test('not where it comes again after it ended, nor a pod of the API with such an annotation', () => {
    expect(mirroredOf(mirrors, { pod: hashed('h1'), source: 'file', again: true })).toBeUndefined();
    expect(mirroredOf(mirrors, { pod: hashed('h1'), source: 'api' })).toBeUndefined();
  });

  test('also where it began before the API was heard, unless it ends', () => {
    expect(goingOn(mirrors, { h1: entry() })).toEqual([{ uid: 'h1', pod: hashed('h1'), mirrored: running }]);
    for (const over of [{ ending: true }, { released: true }, { pod: hashed('h2') }])
      expect(goingOn(mirrors, { h1: entry(over) })).toEqual([]);
  });

  test('once, and never after all sources have spoken of it', () => {
    const left = (desired: object, entries: Record<string, PodEntry>, ready: boolean) =>
      stillMirrored({ mirrors, desired }, entries, ready);
    expect(left({}, {}, false)).toEqual(mirrors);
    expect(left({ file: [hashed('h1')] }, { h1: entry() }, false)).toEqual({});
    expect(left({ file: [] }, {}, true)).toEqual({});
    // The runtime is unhealthy: it is still to begin.
    expect(left({ file: [hashed('h1')] }, {}, true)).toEqual(mirrors);
  });
});
