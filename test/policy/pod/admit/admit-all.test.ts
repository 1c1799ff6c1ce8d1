import { describe, expect, test } from '@jest/globals';
import type { DesiredPod, PodSpec } from '../../../../machines/kubernetes.types.ts';
import type { AdmissionView } from '../../../../machines/pod/policy/admit/admission.types.ts';
import { admitAll, wasAdmitted } from '../../../../machines/pod/policy/admit/admit-all.ts';
import { admit } from '../../../../machines/pod/policy/admit/admit.ts';
import { judgedAgainAfter, PREEMPTED, refusedStatus } from '../../../../machines/pod/policy/admit/refusal.ts';
import { container, instance, observed, sandbox } from '../fixtures.ts';
import { asker, asking, node, staticAsker } from './fixtures.ts';

const at = (minute: number) => ({ creationTimestamp: `2026-01-01T12:${String(minute).padStart(2, '0')}:00Z` });
const on8088 = { containers: [container('c', { ports: [{ containerPort: 80, hostPort: 8088 }] })] };

/** UIDs of the admitted, in every order in which the pods could come: it must not matter. */
function admitted(pods: DesiredPod[], view: Partial<AdmissionView> = {}, before: string[] = []): string[][] {
  const outcomes = permutations(pods).map((order) => {
    const admissions = admitAll(order, { node: node(), active: [], ...view }, ({ metadata }) =>
      before.includes(metadata.uid),
    );
    return [...admissions]
      .filter(([, { admitted }]) => admitted)
      .map(([uid]) => uid)
      .sort();
  });
  return [...new Map(outcomes.map((outcome) => [outcome.join(), outcome])).values()];
}

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

describe('pods that are judged together', () => {
  test('B025 the older of two pods gets the host port, in whatever order they come', () => {
    const [older, newer] = [asker('z', {}, on8088, at(1)), asker('a', {}, on8088, at(2))];
    expect(admitted([older, newer])).toEqual([['z']]);
    expect(admitAll([newer, older], { node: node(), active: [] }, () => false).get('a')).toMatchObject({
      reason: 'NodePorts',
      message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    });
  });

  test('B025 a pod that runs keeps its host port, though an older one wants it', () => {
    const [older, running] = [asker('older', {}, on8088, at(1)), asker('running', {}, on8088, at(2))];
    expect(admitted([older, running], {}, ['running'])).toEqual([['running']]);
    expect(admitted([older], { active: [running] })).toEqual([[]]);
  });

  test('of one age the UID decides', () => {
    expect(admitted([asker('b', {}, on8088, at(1)), asker('a', {}, on8088, at(1))])).toEqual([['a']]);
  });

  test('static pods come before those of the API', () => {
    expect(admitted([staticAsker('s', {}, on8088), asker('a', {}, on8088, at(1))])).toEqual([['s']]);
  });

  test('each that is admitted counts for the next, and one that is refused does not', () => {
    const pods = [
      asker('a', { cpu: '1' }, {}, at(1)),
      asker('b', { cpu: '1500m' }, {}, at(2)),
      asker('c', { cpu: '1' }, {}, at(3)),
    ];
    expect(admitted(pods)).toEqual([['a', 'c']]);
  });

  test('what a preempted pod held is given away once', () => {
    const victim = asker('victim', { cpu: '2' });
    const critical = asker('critical', { cpu: '1500m' }, { priority: 2e9 }, at(1));
    const pods = [critical, asker('b', { cpu: '500m' }, {}, at(2)), asker('c', { cpu: '1m' }, {}, at(3))];
    const admissions = admitAll(pods, { node: node(), active: [victim] }, () => false);
    expect(admissions.get('critical')).toEqual({ admitted: true, preempt: ['victim'] });
    expect(admissions.get('b')).toEqual({ admitted: true });
    expect(admissions.get('c')).toMatchObject({ reason: 'OutOfcpu' });
  });

  test('a preempted pod’s place is taken by the critical one', () => {
    const view = { node: node({ allocatable: { pods: '2' } }), active: [asker('victim'), staticAsker('s')] };
    const pods = [asker('critical', {}, { priority: 2e9 }, at(1)), asker('b', {}, {}, at(2))];
    const admissions = admitAll(pods, view, () => false);
    expect(admissions.get('critical')).toEqual({ admitted: true, preempt: ['victim'] });
    expect(admissions.get('b')).toMatchObject({
      message: "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2",
    });
  });

  test('a preempted pod’s ports are free for the next, and it is not preempted twice', () => {
    const active = [asker('victim', { cpu: '2' }, { ...on8088, initContainers: [asking({ cpu: '2' })] })];
    const critical = (uid: string, cpu: string, minute: number) => asker(uid, { cpu }, { priority: 2e9 }, at(minute));
    const pods = [critical('first', '2', 1), asker('b', {}, on8088, at(2)), critical('second', '1', 3)];
    const admissions = admitAll(pods, { node: node(), active }, () => false);
    expect(admissions.get('first')).toEqual({ admitted: true, preempt: ['victim'] });
    expect(admissions.get('b')).toEqual({ admitted: true });
    expect(admissions.get('second')).toMatchObject({ reason: 'UnexpectedAdmissionError' });
  });

  test('a pod is not in its own way', () => {
    const pod = asker('p', { cpu: '2' });
    expect(admitted([pod], { active: [pod] })).toEqual([['p']]);
  });

  test('a pod that is known to be active already is counted once', () => {
    const running = asker('running', { cpu: '1' }, {}, at(1));
    expect(admitted([running, asker('b', { cpu: '1' }, {}, at(2))], { active: [running] }, ['running'])).toEqual([
      ['b', 'running'],
    ]);
  });
});

describe('a pod that was admitted once', () => {
  test('B065 is not judged again when the node has lost the label that it selects', () => {
    const pod = asker('p', {}, { nodeSelector: { x: 'y' } });
    expect(admitted([pod])).toEqual([[]]);
    expect(admitted([pod], {}, ['p'])).toEqual([['p']]);
  });

  test('B066 keeps its share of a full node ahead of an older newcomer, in whatever order they come', () => {
    const running = ['r1', 'r2'].map((uid, i) => asker(uid, { cpu: '1' }, {}, at(10 + i)));
    const newcomer = asker('new', { cpu: '1m' }, {}, at(1));
    expect(admitted([newcomer, ...running], {}, ['r1', 'r2'])).toEqual([['r1', 'r2']]);
  });

  test('B066 is not judged by a node that has shrunk, is tainted, or is known only in part', () => {
    const running = ['r1', 'r2'].map((uid) => asker(uid, { cpu: '1' }));
    const taints = [{ key: 'gone', effect: 'NoExecute' }];
    const worse = node({ labels: {}, taints, allocatable: {}, pressure: ['DiskPressure'], shuttingDown: true });
    expect(admitted(running, { node: worse }, ['r1', 'r2'])).toEqual([['r1', 'r2']]);
  });

  test.each<[string, Parameters<typeof wasAdmitted>, boolean]>([
    ['nothing is known', [undefined, undefined], false],
    ['the runtime has nothing of it', [observed([], []), undefined], false],
    ['a sandbox', [observed([], [sandbox()]), undefined], true],
    ['a container whose sandbox is gone', [observed([instance('main')], []), undefined], true],
    ['what the API gives every new pod', [undefined, { phase: 'Pending' }], false],
    ['a status that says when it began', [undefined, { phase: 'Pending', startTime: '2026-01-01T12:00:00Z' }], true],
    ['a status of running', [undefined, { phase: 'Running', startTime: '2026-01-01T12:00:00Z' }], true],
    ['a status of a pod that was refused', [undefined, { phase: 'Failed', startTime: '2026-01-01T12:00:00Z' }], false],
  ])('is known by what is left of it: %s', (_case, args, expected) => expect(wasAdmitted(...args)).toBe(expected));
});

describe('a pod that was refused', () => {
  test('is told so in its status', () => {
    expect(refusedStatus({ reason: 'NodePorts', message: 'Predicate failed' })).toEqual({
      reason: 'NodePorts',
      message: 'Pod was rejected: Predicate failed',
    });
  });

  test('B098 comes up when it is judged again and the other is gone, if it is static', () => {
    const asks: Partial<PodSpec> = { priority: 2_000_001_000 };
    const [pod, other] = [staticAsker('p', { cpu: '1500m' }, asks), staticAsker('o', { cpu: '1' }, asks)];
    expect(admit(pod, { node: node(), active: [other] })).toMatchObject({ admitted: false });
    expect([1, 2, 3, 4, 5, 6, 7, 100].map((refusals) => judgedAgainAfter(pod, refusals))).toEqual([
      10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000,
    ]);
    expect(admit(pod, { node: node(), active: [] })).toEqual({ admitted: true });
  });

  test('stays refused, if it is the API’s', () => {
    expect(judgedAgainAfter(asker('p'), 1)).toBeUndefined();
  });
});

/** facts/pod-conditions.tsv and facts/events.tsv. */
test('a pod that was preempted is told so in its event, its status and a condition', () => {
  expect(PREEMPTED).toEqual({
    reason: 'Preempting',
    message: 'Preempted in order to admit critical pod',
    disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
  });
});
