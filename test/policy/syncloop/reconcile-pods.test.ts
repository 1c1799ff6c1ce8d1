import { describe, expect, test } from '@jest/globals';
import type { DesiredPod } from '../../../machines/kubernetes.types.ts';
import type { ObservedPod } from '../../../machines/runtime.types.ts';
import { passName } from '../../../machines/syncloop/policy/pass-name.ts';
import { reconcilePods, type ReconcileInput } from '../../../machines/syncloop/policy/reconcile-pods.ts';
import type { PodEntry } from '../../../machines/syncloop/syncloop.types.ts';
import { instance } from '../../support/fixtures.ts';

const ref = (uid: string) => ({ uid, name: 'web', namespace: 'default' });
const desired = (uid: string) => ({ metadata: ref(uid), spec: { containers: [] } }) as DesiredPod;
const observed = (uid: string, state: 'running' | 'exited' = 'running'): ObservedPod => ({
  ...ref(uid),
  sandboxes: [],
  containers: [instance({ state })],
  at: 1,
});
const entry = (uid: string, more: Partial<PodEntry> = {}): PodEntry => ({
  ...ref(uid),
  ending: false,
  released: false,
  ...more,
});
const plan = (more: Partial<ReconcileInput>) =>
  reconcilePods({ entries: {}, desired: {}, observed: {}, listed: [], sourcesReady: true, ...more });

describe('a name', () => {
  test('of a pod that is listed but could not be looked at yet is not given to another', () => {
    const file = [desired('new')];
    expect(plan({ desired: { file }, listed: [ref('old')] }).add).toEqual([]);
    expect(plan({ desired: { file }, listed: [ref('old')], observed: { old: observed('old') } }).add).toMatchObject([
      { uid: 'new', predecessorUid: 'old' },
    ]);
    expect(plan({ desired: { file } }).add).toMatchObject([{ uid: 'new', predecessorUid: undefined }]);
  });

  test('is kept by the pod that runs under it, whatever else is listed', () => {
    const input = { desired: { file: [desired('a')] }, listed: [ref('a'), ref('b')] };
    expect(plan({ ...input, observed: { a: observed('a') } }).add).toMatchObject([{ uid: 'a' }]);
    expect(plan({ ...input, observed: { a: observed('a', 'exited') } }).add).toEqual([]);
  });

  test('is had again by a pod that is made anew while another waits for it', () => {
    const waiting = entry('b', { pod: desired('b'), waitsFor: 'a' });
    const input = { entries: { b: waiting }, desired: { file: [desired('a'), desired('b')] } };
    expect(plan(input).add).toMatchObject([{ uid: 'a', predecessorUid: undefined }]);
  });

  test('is free when nothing knows the pod any more that is waited for', () => {
    const entries = { b: entry('b', { pod: desired('b'), waitsFor: 'a' }) };
    expect(plan({ entries, desired: { file: [desired('b')] } }).freed).toEqual(['a']);
    expect(plan({ entries, desired: { file: [desired('b')] }, listed: [ref('a')] }).freed).toEqual([]);
  });

  test('goes to the first that waits for it; the others wait for that one', () => {
    const entries = { b: entry('b', { waitsFor: 'a' }), c: entry('c', { waitsFor: 'a' }) };
    const passed = passName(entries, 'a');
    expect(passed.next).toBe('b');
    expect(passed.entries).toMatchObject({ b: { waitsFor: undefined }, c: { waitsFor: 'b' } });
    expect(passName(entries, 'c')).toEqual({ entries });
  });

  test('is not passed on by a pod that was still waiting for it itself', () => {
    const entries = { b: entry('b', { waitsFor: 'a' }), c: entry('c', { waitsFor: 'b' }) };
    expect(passName(entries, 'b')).toMatchObject({ next: undefined, entries: { c: { waitsFor: 'a' } } });
  });
});
