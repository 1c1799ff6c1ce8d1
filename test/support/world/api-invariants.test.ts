import { describe, expect, test } from '@jest/globals';
import type { PodStatus } from '../../../machines/kubernetes.types.ts';
import { ApiError } from '../apiserver/errors.ts';
import type { KubeObject } from '../apiserver/objects.ts';
import { resourceNamed } from '../apiserver/resources.ts';
import { ApiInvariants } from './api-invariants.ts';
import type { ApiWrite } from './api-server.ts';

const AT = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'] as const;

/** A server that only tells of the writes that it is made to tell of, and a world in which nothing runs. */
function witness() {
  const breaches: string[] = [];
  const clock = { elapsed: 100_000 };
  let lives = 0;
  const runtime = { containers: new Map<string, object>(), sandboxes: new Map<string, object>() };
  const mounts = new Map<string, unknown>();
  const world = { invariants: { breaches, lives: () => lives }, runtime, mounts, cgroups: new Map(), clock };
  const server: { onWrite?: (write: ApiWrite) => void; onTwoWriters?: (what: string) => void } = {};
  new ApiInvariants(world as never, server as never);
  const write = (more: Partial<ApiWrite>) => {
    const target = { resource: resourceNamed('pods'), namespace: 'default', name: 'web', subresource: '' };
    server.onWrite?.({
      at: clock.elapsed,
      verb: 'patch',
      resource: 'pods',
      target,
      body: {},
      posthumous: false,
      ...more,
    });
  };
  const object = (status: PodStatus, metadata: object = {}) =>
    ({ metadata: { name: 'web', uid: 'u', ...metadata }, status }) as unknown as KubeObject;
  const status = (was: PodStatus, is: PodStatus, more: Partial<ApiWrite> = {}, metadata: object = {}) =>
    write({ resource: 'pods/status', before: object(was, metadata), after: object(is, metadata), ...more });
  const remove = (status: PodStatus, metadata: object = { deletionTimestamp: AT[0] }, body?: object) =>
    write({
      verb: 'delete',
      before: object(status, metadata),
      body: { gracePeriodSeconds: 0, preconditions: { uid: 'u' }, ...body },
    });
  const beginAnew = () => void (lives += 1);
  return { breaches, clock, runtime, mounts, server, write, status, remove, beginAnew };
}

const ready = (is: string, lastTransitionTime: string): PodStatus =>
  ({ phase: 'Running', conditions: [{ type: 'Ready', status: is, lastTransitionTime }] }) as unknown as PodStatus;
const initialized: PodStatus['conditions'] = [{ type: 'Initialized', status: 'True' }];
const restarted = (restartCount: number): PodStatus => ({
  phase: 'Running',
  containerStatuses: [{ name: 'app', image: 'i', imageID: '', ready: true, restartCount }],
});
const running = (attempt = 0) => ({ podUid: 'u', name: 'app', state: 'running', attempt });

describe('a wrong status is caught', () => {
  test.each<[string, PodStatus, PodStatus]>([
    ['phase went from Failed to Running', { phase: 'Failed' }, { phase: 'Running' }],
    ['phase went from Running to Pending', { phase: 'Running' }, { phase: 'Pending', conditions: initialized }],
    ['observedGeneration went back', { observedGeneration: 2 }, { observedGeneration: 1 }],
    ['startTime changed', { startTime: AT[0] }, { startTime: AT[1] }],
    ['lastTransitionTime of Ready went back', ready('True', AT[1]), ready('False', AT[0])],
    ['lastTransitionTime of Ready changed, its status did not', ready('True', AT[0]), ready('True', AT[1])],
    ['container app is not told of any more', restarted(0), { phase: 'Running' }],
  ])('%s', (says, was, is) => {
    const { breaches, status } = witness();
    status(was, was);
    expect(breaches).toEqual([]);
    status(was, is);
    expect(breaches).toEqual([`100000 ms: status of web (u): ${says}`]);
  });

  test('restartCount went back, of a container whose record the runtime has', () => {
    const { breaches, status, runtime } = witness();
    status(restarted(2), restarted(1));
    expect(breaches).toEqual([]);
    runtime.containers.set('c', running(2));
    status(restarted(2), restarted(1));
    expect(breaches).toEqual(['100000 ms: status of web (u): restartCount of app went back']);
  });

  test('of a mirror pod too, save where its static pod begins anew', () => {
    const { breaches, status, beginAnew } = witness();
    const mirror = { annotations: { 'kubernetes.io/config.mirror': 'hash' } };
    const fall = () => status({ phase: 'Running' }, { phase: 'Pending', conditions: initialized }, {}, mirror);
    beginAnew();
    fall();
    expect(breaches).toEqual([]);
    fall();
    expect(breaches).toEqual(['100000 ms: status of web (hash): phase went from Running to Pending']);
  });

  test('what a dead agent had sent off excuses the first write of the next one, for a while', () => {
    const { breaches, status, clock } = witness();
    const fall = () => status({ phase: 'Failed' }, { phase: 'Running' });
    const late = () => status({}, { phase: 'Failed' }, { posthumous: true });
    late();
    fall();
    expect(breaches).toEqual([]);
    fall();
    expect(breaches).toHaveLength(1);
    late();
    clock.elapsed += 15_000;
    fall();
    expect(breaches).toHaveLength(2);
  });
});

describe('a wrong deletion is caught', () => {
  test.each<[string, Parameters<ReturnType<typeof witness>['remove']>]>([
    [
      'web is deleted without grace 0 or without its UID as precondition',
      [{ phase: 'Failed' }, { deletionTimestamp: AT[0] }, { gracePeriodSeconds: 30 }],
    ],
    [
      'web is deleted without grace 0 or without its UID as precondition',
      [{ phase: 'Failed' }, { deletionTimestamp: AT[0] }, { preconditions: { uid: 'other' } }],
    ],
    ['web is deleted though nobody asked for it', [{ phase: 'Failed' }, {}]],
    ['web is deleted before its terminal status is written', [{ phase: 'Running' }]],
  ])('%s', (says, call) => {
    const { breaches, remove } = witness();
    remove({ phase: 'Failed' });
    expect(breaches).toEqual([]);
    remove(...call);
    expect(breaches).toEqual([`100000 ms: pod ${says}`]);
  });

  test('while something of the pod is left', () => {
    const { breaches, remove, runtime, mounts } = witness();
    runtime.containers.set('c', running());
    runtime.sandboxes.set('s', { podUid: 'u', state: 'ready' });
    mounts.set('u', []);
    remove({ phase: 'Succeeded' });
    expect(breaches.map((text) => text.replace('100000 ms: pod web is deleted ', ''))).toEqual([
      'while something of it runs',
      'while its sandbox stands',
      'while volumes or cgroup are held',
    ]);
  });
});

describe('a call that is not allowed is caught', () => {
  test('but not one that met another pod, or a Node that was made anew', () => {
    const { breaches, write } = witness();
    const refused = (message: string, body: object = {}, code = 422) =>
      write({ error: new ApiError(code, 'Invalid', message), body: body as never });
    refused('metadata.uid: field is immutable');
    refused('wrong', { metadata: { uid: 'other' } });
    refused('come again', {}, 429);
    expect(breaches).toEqual([]);
    refused('spec: may not be changed');
    expect(breaches).toEqual(['100000 ms: patch pods web is forbidden: spec: may not be changed']);
  });

  test('two writers of one object', () => {
    const { breaches, server } = witness();
    server.onTwoWriters?.('/api/v1/pods/web u');
    expect(breaches).toEqual(['100000 ms: two writers at once of /api/v1/pods/web u']);
  });
});
