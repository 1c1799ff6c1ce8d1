import { describe, expect, test } from '@jest/globals';
import type { DesiredPod, PodSpec } from '../../../../machines/kubernetes.types.ts';
import type { AdmissionView, NodeView } from '../../../../machines/pod/policy/admit/admission.types.ts';
import { admit } from '../../../../machines/pod/policy/admit/admit.ts';
import { container } from '../fixtures.ts';
import { asker, guaranteed, node, STATIC, staticAsker } from './fixtures.ts';

const judge = (pod: DesiredPod, more: Partial<NodeView> = {}, active: AdmissionView['active'] = []) =>
  admit(pod, { node: node(more), active });
const refused = (reason: string, message: string) => ({ admitted: false, reason, message });

const noExecute = [{ key: 'gone', effect: 'NoExecute' }];
const onPort = (uid: string, spec: Partial<PodSpec> = {}) =>
  asker(uid, {}, { containers: [container('c', { ports: [{ containerPort: 80, hostPort: 8088 }] })], ...spec });
const sysctl = (name: string): Partial<PodSpec> => ({ securityContext: { sysctls: [{ name, value: '1' }] } });

test('a plain pod is admitted', () => {
  expect(judge(asker('p', { cpu: '1' }))).toEqual({ admitted: true });
});

/** Reasons and messages of the kubelet: facts/admission.tsv. */
describe('a pod is refused with the kubelet’s words', () => {
  test.each<[string, DesiredPod, Partial<NodeView>, string]>([
    ['Evicted', asker('p'), { pressure: ['DiskPressure'] }, 'The node had condition: [DiskPressure].'],
    ['SysctlForbidden', asker('p', {}, sysctl('vm.a')), {}, 'forbidden sysctl: "vm.a" not allowlisted'],
    [
      'PodOSSelectorNodeLabelDoesNotMatch',
      asker('p', {}, {}, { labels: { 'kubernetes.io/os': 'windows' } }),
      {},
      "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ],
    [
      'PodOSNotSupported',
      asker('p', {}, { os: { name: 'windows' } }),
      {},
      "Failed to admit pod as the OS field doesn't match node OS",
    ],
    [
      'SupplementalGroupsPolicyNotSupported',
      asker('p', {}, { securityContext: { supplementalGroupsPolicy: 'Strict' } }),
      { supplementalGroupsPolicy: false },
      'SupplementalGroupsPolicy=Strict is not supported in this node',
    ],
    [
      'OutOfcpu',
      asker('p', { cpu: '2001m', memory: '2Gi' }),
      {},
      "Node didn't have enough resource: cpu, requested: 2001, used: 0, capacity: 2000",
    ],
    [
      'OutOfmemory',
      asker('p', { memory: '2Gi' }),
      {},
      "Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824",
    ],
    [
      'OutOfephemeral-storage',
      asker('p', { 'ephemeral-storage': '11Gi' }),
      {},
      "Node didn't have enough resource: ephemeral-storage, requested: 11811160064, used: 0, capacity: 10737418240",
    ],
    [
      'OutOfpods',
      asker('p', { cpu: '9' }),
      { allocatable: { pods: '0' } },
      "Node didn't have enough resource: pods, requested: 1, used: 0, capacity: 0",
    ],
    [
      'OutOfhugepages-2Mi',
      asker('p', { 'hugepages-2Mi': '2Mi' }),
      {},
      "Node didn't have enough resource: hugepages-2Mi, requested: 2097152, used: 0, capacity: 0",
    ],
    [
      'NodeName',
      asker('p', {}, { nodeName: 'n2' }),
      {},
      "Predicate NodeName failed: node(s) didn't match the requested node name",
    ],
    [
      'TaintToleration',
      asker('p'),
      { taints: noExecute },
      "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    ],
    ['NodeShutdown', asker('p'), { shuttingDown: true }, 'Pod was rejected as the node is shutting down.'],
  ])('%s', (reason, pod, more, message) => expect(judge(pod, more)).toEqual(refused(reason, message)));

  test('NodePorts', () => {
    const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
    expect(judge(onPort('p'), {}, [onPort('o')])).toEqual(refused('NodePorts', message));
  });

  test('NodeAffinity, where the Node is to be read anew before that counts', () => {
    expect(judge(asker('p', {}, { nodeSelector: { x: 'y' } }))).toEqual({
      ...refused('NodeAffinity', "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"),
      stale: true,
    });
  });

  test('NodeAffinity for good, where more than labels is in the way', () => {
    const pod = asker('p', {}, { nodeSelector: { x: 'y' }, nodeName: 'n2' });
    expect(judge(pod)).toMatchObject({ reason: 'NodeAffinity' });
    expect(judge(pod)).not.toHaveProperty('stale');
  });

  test('UnexpectedAdmissionError for an amount that cannot be read', () => {
    expect(judge(asker('p', { cpu: 'much' }))).toMatchObject({
      reason: 'UnexpectedAdmissionError',
      message: expect.stringMatching(/^Allocate failed due to "much" is not a quantity.*, which is unexpected$/),
    });
  });
});

describe('the first refusal in the kubelet’s order is told', () => {
  // Each step adds what is told ahead of all that is there already.
  const active = [onPort('o')];
  const worst = onPort('p', { nodeSelector: { x: 'y' }, nodeName: 'n2', os: { name: 'windows' }, ...sysctl('vm.a') });
  const without = (...fields: (keyof PodSpec)[]): DesiredPod => ({
    ...worst,
    spec: Object.fromEntries(
      Object.entries(worst.spec).filter(([field]) => !fields.includes(field as keyof PodSpec)),
    ) as unknown as PodSpec,
  });
  const bad: Partial<NodeView> = { taints: noExecute, shuttingDown: true };
  test.each<[string, DesiredPod, Partial<NodeView>]>([
    ['Evicted', worst, { ...bad, pressure: ['PIDPressure'] }],
    ['SysctlForbidden', worst, bad],
    ['PodOSNotSupported', without('securityContext'), bad],
    ['OutOfpods', without('securityContext', 'os'), { ...bad, allocatable: { pods: '1' } }],
    ['NodeAffinity', without('securityContext', 'os'), bad],
    ['NodeName', without('securityContext', 'os', 'nodeSelector'), bad],
    ['NodePorts', without('securityContext', 'os', 'nodeSelector', 'nodeName'), bad],
    ['TaintToleration', asker('p'), bad],
    ['NodeShutdown', asker('p'), { shuttingDown: true }],
  ])('%s', (reason, pod, more) => expect(judge(pod, more, active)).toMatchObject({ admitted: false, reason }));
});

describe('under pressure', () => {
  const tolerant = (effect: string) => ({
    tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect }],
  });
  test.each<[string, DesiredPod, NodeView['pressure'], boolean]>([
    ['of memory a pod that asks for none is refused', asker('p'), ['MemoryPressure'], false],
    ['of memory one that asks for something is admitted', asker('p', { cpu: '1m' }), ['MemoryPressure'], true],
    [
      'of memory one that puts up with it is admitted',
      asker('p', {}, tolerant('NoSchedule')),
      ['MemoryPressure'],
      true,
    ],
    [
      'of memory one that puts up with another effect',
      asker('p', {}, tolerant('NoExecute')),
      ['MemoryPressure'],
      false,
    ],
    ['of memory and disk nothing helps', asker('p', { cpu: '1m' }), ['MemoryPressure', 'DiskPressure'], false],
    ['of the disk nothing helps', asker('p', { cpu: '1m' }), ['DiskPressure'], false],
    ['critical pods are admitted', asker('p', {}, { priority: 2_000_000_000 }), ['DiskPressure'], true],
    ['those of just less are not', asker('p', {}, { priority: 1_999_999_999 }), ['DiskPressure'], false],
    ['static pods are admitted', staticAsker('p'), ['DiskPressure', 'PIDPressure'], true],
  ])('%s', (_case, pod, pressure, admitted) => expect(judge(pod, { pressure }).admitted).toBe(admitted));

  test('all conditions are told', () => {
    expect(judge(asker('p'), { pressure: ['MemoryPressure', 'PIDPressure'] })).toMatchObject({
      message: 'The node had condition: [MemoryPressure PIDPressure].',
    });
  });
});

describe('what is not in the way', () => {
  test.each<[string, DesiredPod, Partial<NodeView>]>([
    ['taints that only keep the scheduler away', asker('p'), { taints: [{ key: 'a', effect: 'NoSchedule' }] }],
    ['NoExecute taints, for a static pod', staticAsker('p'), { taints: noExecute }],
    ['its own node', asker('p', {}, { nodeName: 'n1' }), {}],
    ['its own system', asker('p', {}, { os: { name: 'linux' } }, { labels: { 'kubernetes.io/os': 'linux' } }), {}],
    ['groups merged', asker('p', {}, { securityContext: { supplementalGroupsPolicy: 'Merge' } }), {}],
    ['an extended resource that is not the node’s', asker('p', { 'a.com/claim': '1' }), {}],
  ])('%s', (_case, pod, more) => {
    expect(judge(pod, { supplementalGroupsPolicy: false, ...more })).toEqual({ admitted: true });
  });

  test('what the pod itself holds', () => {
    const pod = asker('p', { cpu: '2' });
    expect(judge(pod, {}, [pod])).toEqual({ admitted: true });
  });
});

describe('a critical pod', () => {
  const critical = (uid: string, cpu: string, spec: Partial<PodSpec> = {}) =>
    asker(uid, { cpu }, { priority: 2_000_000_000, ...spec });
  const full = [guaranteed('o', { cpu: '2', memory: '1Mi' })];

  test('takes the place of others that are not', () => {
    expect(judge(critical('p', '1'), {}, full)).toEqual({ admitted: true, preempt: ['o'] });
    expect(judge(staticAsker('p', { cpu: '1' }), {}, full)).toEqual({ admitted: true, preempt: ['o'] });
    expect(judge(asker('p', { cpu: '1' }, { priority: 1e9 }), {}, full)).toMatchObject({ reason: 'OutOfcpu' });
  });

  test('takes a place where all are taken', () => {
    const allocatable = { pods: '1', cpu: '9' };
    expect(judge(critical('p', '1'), { allocatable }, full)).toEqual({ admitted: true, preempt: ['o'] });
  });

  test('preempts nobody where it fits', () => {
    expect(judge(critical('p', '1'), {}, [])).toEqual({ admitted: true });
  });

  test('preempts nobody where something else is in the way, and is told that', () => {
    expect(judge(critical('p', '1', { nodeName: 'n2' }), {}, full)).toMatchObject({ reason: 'NodeName' });
    expect(judge(critical('p', '1'), { shuttingDown: true }, full)).toMatchObject({ reason: 'NodeShutdown' });
  });

  test('is refused where no others may be preempted', () => {
    expect(judge(critical('p', '1'), {}, [critical('o', '1500m')])).toEqual(
      refused(
        'UnexpectedAdmissionError',
        'Unexpected error while attempting to recover from admission failure: ' +
          'no pods that may be preempted hold what is missing: cpu 500',
      ),
    );
  });

  test('is one by the annotation of a mirror pod too', () => {
    const mirror = asker('m', { cpu: '2' }, {}, { annotations: { 'kubernetes.io/config.mirror': 'h' } });
    expect(judge(critical('p', '1'), {}, [mirror])).toMatchObject({ admitted: false });
    const ofApi = asker(
      'm',
      { cpu: '2' },
      {},
      { annotations: { ...STATIC.annotations, 'kubernetes.io/config.source': 'api' } },
    );
    expect(judge(critical('p', '1'), {}, [ofApi])).toMatchObject({ preempt: ['m'] });
  });
});
