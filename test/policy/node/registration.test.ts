import { describe, expect, test } from '@jest/globals';
import { heartbeatRetryDelay, heldLease, renewalDelay } from '../../../machines/node/policy/lease-renewal.ts';
import { nodeObject } from '../../../machines/node/policy/node-object.ts';
import { reconcileNode } from '../../../machines/node/policy/reconcile-node.ts';
import { sameNode } from '../../../machines/node/policy/same-node.ts';
import { T0 } from '../../support/fixtures.ts';
import { apiNode, condition, hostFacts, nodeSettings } from '../../support/node-fixtures.ts';

const wanted = (over: Parameters<typeof nodeSettings>[0] = {}) => nodeObject('n1', hostFacts(), nodeSettings(over));

describe('a Node that is created', () => {
  test('has the default labels, over which those that are given win', () => {
    expect(wanted({ labels: { 'kubernetes.io/arch': 'other', team: 'a' } }).metadata?.labels).toEqual({
      'kubernetes.io/hostname': 'n1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'other',
      'beta.kubernetes.io/os': 'linux',
      'beta.kubernetes.io/arch': 'amd64',
      team: 'a',
    });
  });

  test('has its taints and its provider’s id; with an external provider it waits to be initialized', () => {
    const taint = { key: 'k', value: 'v', effect: 'NoExecute' };
    expect(wanted({ taints: [taint], providerID: 'cloud://1' }).spec).toEqual({
      taints: [taint],
      providerID: 'cloud://1',
    });
    const external = wanted({ cloudProvider: 'external', nodeIPs: ['192.0.2.1', '2001:db8::1'] });
    expect(external.spec?.taints?.map(({ key, effect }) => [key, effect])).toEqual([
      ['node.cloudprovider.kubernetes.io/uninitialized', 'NoSchedule'],
    ]);
    expect(external.metadata?.annotations?.['alpha.kubernetes.io/provided-node-ip']).toBe('192.0.2.1,2001:db8::1');
  });
});

describe('a Node that was found', () => {
  const found = (over: object = {}) => apiNode({ metadata: { ...wanted().metadata, uid: 'node-1', ...over } });

  test('is taken as it is where it has all', () => {
    expect(reconcileNode(found(), wanted())).toBeUndefined();
  });

  test('gets default labels and those of --node-labels, and keeps all others and its taints', () => {
    const labels = { 'topology.kubernetes.io/zone': 'z', team: 'b' };
    const patch = reconcileNode(found({ labels: { team: 'a', foreign: 'x' } }), wanted({ labels, taints: [] }));
    expect(patch).toEqual({
      metadata: {
        uid: 'node-1',
        annotations: { 'statelet/node-labels': 'team,topology.kubernetes.io/zone' },
        labels: {
          'kubernetes.io/hostname': 'n1',
          'topology.kubernetes.io/zone': 'z',
          team: 'b',
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          'beta.kubernetes.io/os': 'linux',
          'beta.kubernetes.io/arch': 'amd64',
        },
      },
    });
  });

  test('B152 labels that an earlier start gave are changed or taken away as this one gives them; others’ stay', () => {
    const before = wanted({ labels: { a: '1', c: 'x', 'topology.kubernetes.io/zone': 'z' } });
    const { labels, annotations } = before.metadata ?? {};
    const had = found({ labels: { ...labels, foreign: 'x' }, annotations });
    expect(reconcileNode(had, wanted({ labels: { a: '2', b: '3' } }))?.metadata).toEqual({
      uid: 'node-1',
      labels: { a: '2', b: '3', c: null },
      annotations: { 'statelet/node-labels': 'a,b' },
    });
    expect(reconcileNode(had, wanted())?.metadata).toMatchObject({
      labels: { a: null, c: null },
      annotations: { 'statelet/node-labels': null },
    });
  });

  test('loses a label that is given without a value', () => {
    const had = found({ labels: { ...wanted().metadata?.labels, 'topology.kubernetes.io/zone': 'z' } });
    const without = wanted({ labels: { 'topology.kubernetes.io/zone': '' } });
    expect(reconcileNode(had, without)?.metadata.labels).toEqual({ 'topology.kubernetes.io/zone': null });
    const named = { ...wanted().metadata?.annotations, 'statelet/node-labels': 'topology.kubernetes.io/zone' };
    expect(reconcileNode(found({ annotations: named }), without)).toBeUndefined();
  });

  test('has the annotations of this agent, and none of those that it would not give', () => {
    const key = 'volumes.kubernetes.io/controller-managed-attach-detach';
    expect(reconcileNode(found(), wanted({ enableControllerAttachDetach: false }))?.metadata.annotations).toEqual({
      [key]: null,
    });
    expect(reconcileNode(found({ annotations: { other: 'x' } }), wanted())?.metadata.annotations).toEqual({
      [key]: 'true',
    });
  });
});

test('heartbeats and images are no news of a Node; labels, taints and capacity are', () => {
  const node = apiNode();
  expect(sameNode(node, apiNode({ status: { conditions: [condition('Ready', 'True')], images: [] } }))).toBe(true);
  for (const other of [
    apiNode({ metadata: { labels: { a: 'b' } } }),
    apiNode({ spec: { unschedulable: true } }),
    apiNode({ status: { allocatable: { cpu: '1' } } }),
  ])
    expect(sameNode(node, other)).toBe(false);
});

describe('the lease', () => {
  const holder = { nodeName: 'n1', nodeUid: 'node-1', durationSeconds: 40 };

  test('is the node’s, owned by the Node', () => {
    expect(heldLease(holder, undefined, T0 + 5)).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'n1',
        namespace: 'kube-node-lease',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-1' }],
      },
      spec: { holderIdentity: 'n1', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.005000Z' },
    });
  });

  test('B155 one without an owner, or of an earlier Node, gets its owner', () => {
    for (const ownerReferences of [undefined, [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-0' }]]) {
      const old = { metadata: { name: 'n1', resourceVersion: '7', ownerReferences }, spec: { holderIdentity: 'n1' } };
      const { metadata } = heldLease(holder, old, T0);
      expect(metadata?.ownerReferences?.map(({ uid }) => uid)).toEqual(['node-1']);
      expect(metadata?.resourceVersion).toBe('7');
    }
  });

  test('is renewed at a quarter of its duration', () => {
    expect([0, 0.5].map((random) => renewalDelay(40, random))).toEqual([10_000, 10_200]);
  });

  test('is tried again after 100 ms, doubling to 7 s', () => {
    expect([1, 2, 7, 8, 1000].map((failures) => heartbeatRetryDelay(failures, 0))).toEqual([
      100, 200, 6400, 7000, 7000,
    ]);
  });
});
