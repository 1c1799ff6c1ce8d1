import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../machines/kubernetes.types.ts';
import { afterList, afterRecall, afterWatch, keepingOf, outcomeOf } from '../../../machines/syncloop/policy/api-set.ts';
import { refusedStatus } from '../../../machines/syncloop/policy/refused-status.ts';
import { container, pod } from '../../support/fixtures.ts';

const SEEN = '2026-01-01T00:00:00Z';
const LATER = '2026-01-01T01:00:00Z';
const object = (resourceVersion: string, over: Parameters<typeof pod>[0] & { status?: Pod['status'] } = {}): Pod => {
  const { status, ...rest } = over;
  const made = pod(rest);
  return { ...made, metadata: { ...made.metadata, resourceVersion }, ...(status && { status }) };
};
const only = (set: ReturnType<typeof afterList>) => outcomeOf(set).pods[0];
const UNKNOWN = { spec: { subdomain: 'x' } };

describe('a pod of the API', () => {
  test('is made the agent’s own: its source, when it was seen, and nothing that only the API needs', () => {
    const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': '../../etc', team: 'a' };
    const made = only(afterList(new Map(), [object('5', { metadata: { annotations, managedFields: [{}] } })], SEEN));
    expect(made?.metadata).toEqual({
      uid: 'uid-1',
      name: 'web',
      namespace: 'default',
      resourceVersion: '5',
      annotations: { team: 'a', 'kubernetes.io/config.source': 'api', 'kubernetes.io/config.seen': SEEN },
    });
  });

  test.each<[string, Parameters<typeof object>[1]]>([
    ['spec', { spec: { activeDeadlineSeconds: 5 } }],
    ['labels', { metadata: { labels: { a: 'b' } } }],
    ['annotations', { metadata: { annotations: { a: 'b' } } }],
    ['deletion', { metadata: { deletionTimestamp: LATER } }],
    ['grace', { metadata: { deletionGracePeriodSeconds: 1 } }],
    ['generation', { metadata: { generation: 2 } }],
    ['conditions of others', { status: { conditions: [{ type: 'example.com/gate', status: 'True' }] } }],
  ])('is another where its %s changed', (_field, over) => {
    const before = afterList(new Map(), [object('5')], SEEN);
    expect(only(afterList(before, [object('6', over)], LATER))).not.toBe(only(before));
  });

  test.each<[string, Parameters<typeof object>[1]]>([
    ['finalizers', { metadata: { finalizers: ['a'] } }],
    ['owner', { metadata: { ownerReferences: [] } }],
    ['phase', { status: { phase: 'Running' } }],
    ['own conditions', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }],
  ])('is the same where its %s changed', (_field, over) => {
    const before = afterList(new Map(), [object('5')], SEEN);
    expect(only(afterList(before, [object('6', over)], LATER))).toBe(only(before));
  });

  test('that an earlier agent kept is the same when the API lists it unchanged', () => {
    const kept = only(afterList(new Map(), [object('5')], SEEN));
    const recalled = afterRecall([kept!], LATER);
    expect(only(recalled)).toEqual(kept);
    expect(only(afterList(recalled, [object('9')], LATER))).toBe(only(recalled));
  });

  test('the status that the API has counts, not the one with which the pod was kept', () => {
    const recalled = afterRecall([{ ...object('5'), status: { phase: 'Pending' } }], LATER);
    const heard = only(afterList(recalled, [{ ...object('9'), status: { phase: 'Running' } }], LATER));
    expect(heard).toMatchObject({ status: { phase: 'Running' } });
    const next = { ...object('10'), status: { phase: 'Running', podIP: '10.0.0.1' } };
    const set = afterList(recalled, [{ ...object('9'), status: { phase: 'Running' } }], LATER);
    expect(only(afterList(set, [next], LATER))).toBe(only(set));
  });
});

describe('a pod that asks for what the agent cannot do', () => {
  test('is refused where nothing of it ever ran', () => {
    const { pods, problems, events, apiPods } = outcomeOf(afterList(new Map(), [object('5', UNKNOWN)], SEEN));
    expect(pods).toEqual([]);
    expect(problems[0]?.message).toMatch(/^default\/web: spec\.subdomain: /);
    expect(events[0]).toMatchObject({
      reason: 'FailedValidation',
      pod: { name: 'web', namespace: 'default', uid: 'uid-1' },
    });
    expect(apiPods[0]?.refused?.pod.metadata.uid).toBe('uid-1');
  });

  test.each([{ limits: { cpu: 'banana' } }, { requests: { memory: '12x' } }, { limits: { cpu: '1e50' } }])(
    'harms no other where its quantities cannot be read: %j',
    (resources) => {
      const bad = object('5', { spec: { containers: [container({ resources: resources as object })] } });
      const good = object('6', { metadata: { uid: 'uid-2', name: 'other' } });
      const { pods, problems, apiPods } = outcomeOf(afterList(new Map(), [bad, good], SEEN));
      expect(pods.map(({ metadata }) => metadata.name)).toEqual(['other']);
      expect(problems[0]?.message).toMatch(/^default\/web: spec\.containers\[0\]\.resources\..* is not a quantity/);
      const refused = apiPods[0]?.refused as Parameters<typeof refusedStatus>[0];
      expect(refusedStatus(refused, 0)).toMatchObject({ phase: 'Pending' });
      const burstable = { ...refused.pod, status: { qosClass: 'Burstable' } };
      expect(refusedStatus({ ...refused, pod: burstable }, 0).qosClass).toBe('Burstable');
    },
  );

  test('goes on with its last good version where it ran before, and its end is obeyed', () => {
    const good = afterList(new Map(), [object('5')], SEEN);
    const event = object('6', { ...UNKNOWN, metadata: { deletionTimestamp: LATER } });
    const { pods, problems } = outcomeOf(afterWatch(good, [{ type: 'MODIFIED', object: event }], LATER));
    expect(pods[0]?.spec).toEqual(only(good)?.spec);
    expect(pods[0]?.metadata.deletionTimestamp).toBe(LATER);
    expect(problems).toHaveLength(1);
  });

  test('goes on where another agent has run it', () => {
    const status = {
      containerStatuses: [
        { name: 'app', image: 'a', imageID: 'b', ready: true, restartCount: 0, containerID: 'containerd://c' },
      ],
    };
    const { pods, problems } = outcomeOf(afterList(new Map(), [object('5', { ...UNKNOWN, status })], SEEN));
    expect(pods).toHaveLength(1);
    expect(problems).toHaveLength(1);
  });

  test('runs when it no longer does', () => {
    const refused = afterList(new Map(), [object('5', UNKNOWN)], SEEN);
    const { pods, apiPods } = outcomeOf(afterList(refused, [object('6')], SEEN));
    expect(pods).toHaveLength(1);
    expect(apiPods[0]).not.toHaveProperty('refused');
  });
});

test('what is new or changed is kept, what is gone is forgotten', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((uid) => pod({ uid }));
  const changed = pod({ uid: 'a', spec: { activeDeadlineSeconds: 5 } });
  expect(keepingOf([changed, b!, c!], [a!, b!, pod({ uid: 'd' })])).toEqual({ keep: [changed, c], forget: ['d'] });
});
