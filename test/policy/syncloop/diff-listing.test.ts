import { describe, expect, test } from '@jest/globals';
import type { ListedPod, RuntimeEvent } from '../../../machines/runtime.types.ts';
import {
  afterEcho,
  diffListing,
  isKnown,
  listedView,
  podOf,
  shows,
  type KnownPod,
} from '../../../machines/syncloop/policy/diff-listing.ts';
import { instance, observed, sandbox, T0 } from '../../support/fixtures.ts';

type State = ListedPod['containers'][0]['state'];

const pod = (uid: string, state: State = 'running', more: ListedPod['containers'] = []): ListedPod => ({
  uid,
  name: uid,
  namespace: 'default',
  sandboxes: [{ id: `${uid}-sandbox`, state: 'ready' }],
  containers: [{ id: `${uid}-app`, state }, ...more],
});
const known = (pods: ListedPod[], at = T0): Record<string, KnownPod> =>
  Object.fromEntries(pods.map((p) => [p.uid, { pod: p, at, observedAt: at }]));
const changed = (before: ListedPod[], after: ListedPod[]) =>
  diffListing(known(before), { at: T0 + 1, pods: after }, T0 + 2).changed;

describe('diffListing', () => {
  test.each<[string, ListedPod[], ListedPod[], string[]]>([
    ['nothing changed', [pod('a')], [pod('a')], []],
    ['a pod is new', [pod('a')], [pod('a'), pod('b')], ['b']],
    ['a pod is gone', [pod('a'), pod('b')], [pod('a')], ['b']],
    ['a container has another state', [pod('a')], [pod('a', 'exited')], ['a']],
    ['a container is new', [pod('a')], [pod('a', 'running', [{ id: 'x', state: 'created' }])], ['a']],
    ['a container is gone', [pod('a', 'running', [{ id: 'x', state: 'exited' }])], [pod('a')], ['a']],
    [
      'the sandbox has another state',
      [pod('a')],
      [{ ...pod('a'), sandboxes: [{ id: 'a-sandbox', state: 'notReady' }] }],
      ['a'],
    ],
    [
      'the order is another',
      [pod('a', 'running', [{ id: 'x', state: 'exited' }])],
      [
        {
          ...pod('a'),
          containers: [
            { id: 'x', state: 'exited' },
            { id: 'a-app', state: 'running' },
          ],
        },
      ],
      [],
    ],
  ])('%s', (_name, before, after, expected) => {
    expect(changed(before, after)).toEqual(expected);
  });

  test('a change is found once: the next listing finds nothing', () => {
    const first = diffListing(known([pod('a'), pod('gone')]), { at: T0 + 1, pods: [pod('a', 'exited')] }, T0 + 2);
    expect(first.changed).toEqual(['a', 'gone']);
    expect(diffListing(first.known, { at: T0 + 3, pods: [pod('a', 'exited')] }, T0 + 4).changed).toEqual([]);
  });

  test('a look that began after the listing counts more than the listing', () => {
    const later = known([pod('a', 'exited')], T0 + 10);
    const { changed: found, known: after } = diffListing(later, { at: T0 + 5, pods: [pod('a')] }, T0 + 20);
    expect(found).toEqual([]);
    expect(after).toEqual(later);
  });

  test('a look from the future, made before the clock was set back, does not count', () => {
    const future = known([pod('a', 'running')], T0 + 3_600_000);
    expect(diffListing(future, { at: T0 + 5, pods: [pod('a', 'exited')] }, T0 + 20).changed).toEqual(['a']);
  });
});

describe('shows', () => {
  const event = (kind: RuntimeEvent['kind'], containerId = 'a-app'): RuntimeEvent => ({ kind, containerId, at: T0 });
  const without: ListedPod = { ...pod('a'), containers: [] };
  const stopped: ListedPod = { ...pod('a'), sandboxes: [{ id: 'a-sandbox', state: 'notReady' }] };

  test.each<[string, ListedPod, RuntimeEvent, boolean]>([
    ['created: it is there', pod('a', 'created'), event('created'), true],
    ['created: it is not there', without, event('created'), false],
    ['started: it runs', pod('a'), event('started'), true],
    ['started: it has ended since', pod('a', 'exited'), event('started'), true],
    ['started: it is still only created', pod('a', 'created'), event('started'), false],
    ['stopped: it has ended', pod('a', 'exited'), event('stopped'), true],
    ['stopped: it still runs', pod('a'), event('stopped'), false],
    ['stopped: it is gone', without, event('stopped'), true],
    ['stopped: the sandbox is still ready', pod('a'), event('stopped', 'a-sandbox'), false],
    ['stopped: the sandbox is not ready', stopped, event('stopped', 'a-sandbox'), true],
    ['started: the sandbox is there', pod('a'), event('started', 'a-sandbox'), true],
    ['deleted: it is gone', without, event('deleted'), true],
    ['deleted: it is still there', pod('a', 'exited'), event('deleted'), false],
    ['oom: its pod is seen', pod('a'), event('oom'), true],
    ['oom: it was never seen', without, event('oom'), false],
  ])('%s', (_name, view, told, expected) => {
    expect(shows(view, told)).toBe(expected);
  });
});

describe('isKnown', () => {
  const at = (delta: number, kind: RuntimeEvent['kind'], containerId = 'a-app'): RuntimeEvent => ({
    kind,
    containerId,
    at: T0 + delta,
  });
  const knownPod = (view: ListedPod) => ({ pod: view, at: T0, observedAt: T0 });

  test.each<[string, ListedPod, RuntimeEvent, boolean]>([
    ['a start told after it was seen running', pod('a'), at(5, 'started'), true],
    ['an end told after it was seen ended', pod('a', 'exited'), at(5, 'stopped'), true],
    ['an end that was not seen', pod('a'), at(5, 'stopped'), false],
    ['an end of something never seen', pod('a'), at(5, 'stopped', 'new'), false],
    ['an end of something gone, told before the look', pod('a'), at(-5, 'stopped', 'old'), true],
    ['running out of memory after the look', pod('a'), at(5, 'oom'), false],
  ])('%s', (_name, view, told, expected) => {
    expect(isKnown(knownPod(view), told, T0 + 10)).toBe(expected);
  });
});

describe('afterEcho', () => {
  const echo = { pod: { uid: 'a', name: 'a', namespace: 'default' }, at: T0 + 5 };

  test('an own call makes a pod known, to be looked at in full by the next audit', () => {
    const after = afterEcho(undefined, { ...echo, sandboxes: [{ id: 's', state: 'ready' }] });
    expect(after).toEqual({
      pod: { ...echo.pod, sandboxes: [{ id: 's', state: 'ready' }], containers: [] },
      at: T0 + 5,
      observedAt: 0,
    });
  });

  test('it changes what it was about and leaves the rest, and when the rest was seen', () => {
    const before = { pod: pod('a'), at: T0, observedAt: T0 };
    const after = afterEcho(before, { ...echo, containers: [{ id: 'a-app', state: 'exited' }], gone: ['a-sandbox'] });
    expect(after).toEqual({
      pod: { ...pod('a'), ...echo.pod, sandboxes: [], containers: [{ id: 'a-app', state: 'exited' }] },
      at: T0,
      observedAt: T0,
    });
  });
});

test('podOf finds a pod by the id of its container or sandbox', () => {
  const pods = known([pod('a'), pod('b')]);
  expect([podOf(pods, 'b-app'), podOf(pods, 'a-sandbox'), podOf(pods, 'c-app')]).toEqual(['b', 'a', undefined]);
});

test('listedView is what a listing would show of an observed pod', () => {
  const full = observed({ sandboxes: [sandbox()], containers: [instance({ state: 'exited' })] });
  expect(listedView(full)).toEqual({
    uid: 'uid-1',
    name: 'web',
    namespace: 'default',
    sandboxes: [{ id: 's1', state: 'ready' }],
    containers: [{ id: 'app-0', state: 'exited' }],
  });
});
