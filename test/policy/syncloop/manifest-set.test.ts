import { describe, expect, test } from '@jest/globals';
import { keepingOf, outcome, readSet, vanished } from '../../../machines/syncloop/policy/manifest-set.ts';

const from = { nodeName: 'node-1', source: 'file' as const, seen: '2026-01-01T00:00:00.000Z' };
const later = { ...from, seen: '2026-01-02T00:00:00.000Z' };
const manifest = (name: string, extra = '') =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n${extra}spec:\n  containers:\n  - name: app\n    image: busybox\n`;
const seenOf = (set: ReturnType<typeof readSet>, origin: string) =>
  set[origin]?.pods[0]?.metadata.annotations?.['kubernetes.io/config.seen'];

describe('readSet', () => {
  test('an unchanged text is not decoded again', () => {
    const first = readSet({}, [{ origin: '/a', text: manifest('a') }], from);
    const second = readSet(first, [{ origin: '/a', text: manifest('a') }], later);
    expect(second['/a']).toBe(first['/a']);
  });

  test('a text that says the same gives the same pod, seen when it first was', () => {
    const first = readSet({}, [{ origin: '/a', text: manifest('a') }], from);
    const second = readSet(first, [{ origin: '/a', text: `# comment\n${manifest('a')}` }], later);
    expect(second['/a']?.pods[0]).toBe(first['/a']?.pods[0]);
  });

  test('a pod whose UID is given stays that pod when its manifest changes', () => {
    const first = readSet({}, [{ origin: '/a', text: manifest('a', '  uid: given\n') }], from);
    const text = manifest('a', '  uid: given\n  labels: {app: web}\n');
    const second = readSet(first, [{ origin: '/a', text }], later);
    expect(second['/a']?.pods[0]?.metadata).toMatchObject({ uid: 'given', labels: { app: 'web' } });
    expect(seenOf(second, '/a')).toBe(from.seen);
  });

  test('a pod with other content is another pod, seen now', () => {
    const first = readSet({}, [{ origin: '/a', text: manifest('a') }], from);
    const second = readSet(first, [{ origin: '/a', text: manifest('a', '  labels: {app: web}\n') }], later);
    expect(second['/a']?.pods[0]?.metadata.uid).not.toBe(first['/a']?.pods[0]?.metadata.uid);
    expect(seenOf(second, '/a')).toBe(later.seen);
  });

  test('an origin that could not be read without a reason is still a problem that names it', () => {
    expect(readSet({}, [{ origin: '/a' }], from)['/a']).toEqual({
      pods: [],
      problems: ['/a: could not be read'],
      stands: false,
    });
  });
});

test('vanished are origins that gave pods and are not there, or are said to be missing', () => {
  const set = readSet(
    {},
    ['/a', '/b', '/c']
      .map((origin) => ({ origin, text: manifest(origin.slice(1)) }))
      .concat({ origin: '/bad', text: '' }),
    from,
  );
  const raw = [
    { origin: '/a', text: 'anything' },
    { origin: '/b', error: 'does not exist', missing: true },
  ];
  expect(vanished(set, raw)).toEqual(['/b', '/c']);
});

test('outcome joins all origins, drops duplicates and tells of both kinds of problem', () => {
  const set = readSet(
    {},
    [
      { origin: '/a', text: manifest('web') },
      { origin: '/b', text: manifest('web') },
      { origin: '/c', error: 'permission denied' },
    ],
    from,
  );
  const { pods, problems, events } = outcome(set, 'file');
  expect(pods).toHaveLength(1);
  expect(problems[0]).toEqual({ origin: '/c', message: '/c: permission denied' });
  expect(problems[1]?.message).toContain('due to duplicate pod name');
  expect(events).toMatchObject([{ reason: 'FailedValidation', message: problems[1]?.message }]);
});

describe('of two manifests with one name', () => {
  const both = [
    { origin: '/a', text: manifest('web') },
    { origin: '/b', text: manifest('web') },
  ];
  const runs = (set: ReturnType<typeof readSet>) =>
    Object.entries(set).flatMap(([origin, { pods }]) =>
      pods.some((pod) => outcome(set, 'file').pods.includes(pod)) ? [origin] : [],
    );

  test('the first by its origin runs where both come at once', () => {
    expect(runs(readSet({}, both, from))).toEqual(['/a']);
  });

  test('the one that runs goes on when another comes that sorts before it', () => {
    const before = readSet({}, both.slice(1), from);
    const after = readSet(before, both, from);
    expect(runs(after)).toEqual(['/b']);
    expect(outcome(after, 'file').events[0]?.message).toMatch(/from \/a due to duplicate pod name .*: \/b has it$/);
    expect(runs(readSet(after, both, from))).toEqual(['/b']);
  });

  test('the other takes its place once it is gone, or has another name', () => {
    const held = readSet(readSet({}, both.slice(1), from), both, from);
    expect(runs(readSet(held, both.slice(0, 1), from))).toEqual(['/a']);
    const renamed = readSet(held, [both[0]!, { origin: '/b', text: manifest('db') }], from);
    expect(runs(renamed)).toEqual(['/a', '/b']);
  });

  test('it goes on over a restart of the agent: only what is in force is kept', () => {
    const held = readSet(readSet({}, both.slice(1), from), both, from);
    const { kept } = keepingOf(held, {});
    expect(Object.keys(kept)).toEqual(['/b']);
    expect(runs(readSet({}, both, from, kept))).toEqual(['/b']);
  });
});
