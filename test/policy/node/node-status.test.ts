import { describe, expect, test } from '@jest/globals';
import { nodeAddresses } from '../../../machines/node/policy/addresses.ts';
import { nodeAllocatable, nodeCapacity } from '../../../machines/node/policy/allocatable.ts';
import { conditionOf, nodeConditions } from '../../../machines/node/policy/node-conditions.ts';
import { nodeEvents } from '../../../machines/node/policy/node-events.ts';
import { nodeStatusPatch } from '../../../machines/node/policy/node-status-patch.ts';
import { nodeStatus } from '../../../machines/node/policy/node-status.ts';
import { nextReportAt, planNodeStatus } from '../../../machines/node/policy/plan-node-status.ts';
import { T0 } from '../../support/fixtures.ts';
import { apiNode, condition, hostFacts, nodeFacts, nodeSettings, situation } from '../../support/node-fixtures.ts';

describe('capacity and allocatable', () => {
  test('are the host’s, in the API’s own writing', () => {
    const capacity = nodeCapacity(hostFacts(), nodeSettings());
    expect(capacity).toEqual({
      cpu: '4',
      memory: '8Gi',
      pods: '110',
      'hugepages-2Mi': '0',
      'ephemeral-storage': '100000Mi',
    });
    expect(nodeAllocatable(capacity, nodeSettings())).toEqual(capacity);
  });

  test('podsPerCore lowers the number of pods, and never raises it', () => {
    expect(nodeCapacity(hostFacts(), nodeSettings({ podsPerCore: 10 }))['pods']).toBe('40');
    expect(nodeCapacity(hostFacts(), nodeSettings({ podsPerCore: 100 }))['pods']).toBe('110');
  });

  test('what is reserved and what hard eviction keeps free is not allocatable; nothing goes below zero', () => {
    const reservations = nodeSettings({
      kubeReserved: { cpu: '100m', memory: '100Mi' },
      systemReserved: { cpu: '1', 'ephemeral-storage': '1Gi' },
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%', 'imagefs.available': '15%' },
    });
    const capacity = { cpu: '4', memory: '1Gi', pods: '110', 'ephemeral-storage': '100Gi' };
    expect(nodeAllocatable(capacity, reservations)).toEqual({
      cpu: '2900m',
      memory: '824Mi',
      pods: '110',
      // 10 % in single precision, as the kubelet reckons.
      'ephemeral-storage': '95563022176',
    });
    expect(nodeAllocatable({ memory: '50Mi', cpu: '1' }, reservations)).toEqual({ memory: '0', cpu: '0' });
  });

  test('huge pages are taken from the memory that pods may ask for', () => {
    const capacity = nodeCapacity(hostFacts({ hugepagesBytes: { 'hugepages-1Gi': 2 ** 31 } }), nodeSettings());
    expect(nodeAllocatable(capacity, nodeSettings())).toMatchObject({ memory: '6Gi', 'hugepages-1Gi': '2Gi' });
  });

  test('extended resources stay, and are zero once the process that knew them is gone', () => {
    const existing = { 'example.com/gpu': '3', 'hugepages-4Mi': '0', cpu: '1' };
    expect(nodeCapacity(hostFacts(), nodeSettings(), existing)).toMatchObject({ 'example.com/gpu': '3', cpu: '4' });
    expect(nodeCapacity(hostFacts(), nodeSettings(), existing)).not.toHaveProperty('hugepages-4Mi');
    expect(nodeCapacity(hostFacts(), nodeSettings(), existing, true)).toMatchObject({ 'example.com/gpu': '0' });
  });

  test('without local storage isolation there is no ephemeral-storage', () => {
    const settings = nodeSettings({ localStorageCapacityIsolation: false });
    expect(nodeCapacity(hostFacts(), settings)).not.toHaveProperty('ephemeral-storage');
  });
});

describe('addresses', () => {
  const ips = ['192.0.2.1', '2001:db8::1'];
  const hostname = { type: 'Hostname', address: 'n1' };
  const internal = ips.map((address) => ({ type: 'InternalIP', address }));
  const external = (nodeIPs: string[]) => nodeSettings({ cloudProvider: 'external', nodeIPs });

  test('are the node’s, then the hostname', () => {
    expect(nodeAddresses(ips, nodeSettings())).toEqual([...internal, hostname]);
  });

  test('B162 new addresses replace those that the Node had', () => {
    const old = [{ type: 'InternalIP', address: '192.0.2.99' }, hostname];
    expect(nodeAddresses(ips, nodeSettings(), old)).toEqual([...internal, hostname]);
  });

  test('of an external provider stay as it set them', () => {
    const old = [{ type: 'ExternalIP', address: '203.0.113.1' }];
    expect(nodeAddresses(ips, external(ips), old)).toEqual(old);
  });

  test('before the external provider has spoken only given addresses are told', () => {
    expect(nodeAddresses(ips, external([]))).toEqual([hostname]);
    expect(nodeAddresses(ips, external(['::']))).toEqual([hostname]);
    expect(nodeAddresses(ips, external(ips))).toEqual([...internal, hostname]);
  });
});

describe('conditions', () => {
  const capacity = nodeCapacity(hostFacts(), nodeSettings());
  const of = (over: Partial<Parameters<typeof nodeConditions>[0]> = {}) =>
    nodeConditions({
      existing: [],
      situation: situation(),
      awayMs: 0,
      capacity,
      localStorageCapacityIsolation: true,
      now: T0,
      ...over,
    });
  const ready = (over: Parameters<typeof of>[0]) => conditionOf(of(over), 'Ready');
  const wasReady = [condition('Ready', 'True', { reason: 'KubeletReady', message: 'kubelet is posting ready status' })];

  test('of a sound node', () => {
    expect(of().map(({ type, status, reason, message }) => [type, status, reason, message])).toEqual([
      ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
      ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
      ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
      ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
    ]);
  });

  test('of a node under pressure', () => {
    const pressed = of({ situation: situation({ pressure: { memory: true, disk: true, pid: true } }) });
    expect(pressed.slice(0, 3).map(({ status, reason }) => [status, reason])).toEqual([
      ['True', 'KubeletHasInsufficientMemory'],
      ['True', 'KubeletHasDiskPressure'],
      ['True', 'KubeletHasInsufficientPID'],
    ]);
  });

  test('the time of a transition moves only when the status flips', () => {
    expect(ready({ existing: wasReady })).toMatchObject({
      lastTransitionTime: '2025-12-31T00:00:00Z',
      lastHeartbeatTime: '2026-01-01T00:00:00Z',
    });
    expect(ready({ existing: [condition('Ready', 'Unknown')] })).toMatchObject({
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
  });

  test('B158 a node that was ready stays so while the runtime has not been asked or does not answer yet', () => {
    for (const health of ['unknown', 'unhealthy'] as const) {
      const away = situation({ health, message: 'connection refused', awaySince: 0 });
      expect(ready({ existing: wasReady, situation: away, awayMs: 29_999 })).toMatchObject({
        status: 'True',
        reason: 'KubeletReady',
      });
      expect(ready({ existing: wasReady, situation: away, awayMs: 30_000 })).toMatchObject({
        status: 'False',
        reason: 'KubeletNotReady',
        message: 'container runtime is down',
      });
    }
  });

  test('B158 a node that was not ready, for what reason ever, is said nothing new of meanwhile', () => {
    const existing = [condition('Ready', 'False', { reason: 'KubeletNotReady', message: 'node is shutting down' })];
    expect(ready({ existing, situation: situation({ health: 'unknown' }) })).toMatchObject({
      status: 'False',
      message: 'node is shutting down',
    });
  });

  test('a new node, and one that was given up, is not ready before the runtime was asked', () => {
    const unknown = situation({ health: 'unknown', awaySince: 0 });
    for (const existing of [[], [condition('Ready', 'Unknown', { reason: 'NodeStatusUnknown' })]]) {
      expect(ready({ existing, situation: unknown })).toMatchObject({
        status: 'False',
        message: 'container runtime status check may not have completed yet',
      });
    }
    expect(ready({ situation: situation({ health: 'unhealthy' }) })?.message).toBe('container runtime is down');
  });

  test('a runtime that says itself that it is not ready, and a missing pod network, are no matter of a grace', () => {
    const own = 'RuntimeReady=false reason:Starting message:not yet';
    expect(ready({ existing: wasReady, situation: situation({ health: 'unhealthy', message: own }) })?.message).toBe(
      `container runtime not ready: ${own}`,
    );
    const network = 'NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized';
    expect(
      ready({ existing: wasReady, situation: situation({ health: 'networkNotReady', message: network }) })?.message,
    ).toBe(`container runtime network not ready: ${network}`);
  });

  test('several reasons are listed', () => {
    const { memory: _memory, ...lacking } = capacity;
    expect(ready({ capacity: lacking, situation: situation({ shuttingDown: true }) })?.message).toBe(
      '[node is shutting down, missing node capacity for resources: memory]',
    );
  });
});

describe('the status', () => {
  const build = (over: Partial<Parameters<typeof nodeStatus>[0]> = {}) =>
    nodeStatus({
      facts: nodeFacts(),
      settings: nodeSettings(),
      situation: situation(),
      awayMs: 0,
      existing: undefined,
      resetExtended: false,
      now: T0,
      ...over,
    });

  test('says what the node is', () => {
    expect(build().nodeInfo).toEqual({
      machineID: 'machine-1',
      systemUUID: 'system-1',
      bootID: 'boot-1',
      kernelVersion: '6.12.0',
      osImage: 'Some Linux 1',
      operatingSystem: 'linux',
      architecture: 'amd64',
      containerRuntimeVersion: 'containerd://v2.1.0',
      kubeletVersion: 'v1.36.2',
      kubeProxyVersion: '',
    });
    expect(build({ facts: nodeFacts({}, { swapBytes: 1024 }) }).nodeInfo?.swap).toEqual({ capacity: 1024 });
    expect(build()).toMatchObject({
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: true } }],
      features: { supplementalGroupsPolicy: true },
    });
  });

  test('what only the runtime knows stays while it is away, but for its version', () => {
    const away = build({ facts: nodeFacts({ runtime: undefined }), existing: build() });
    expect(away.nodeInfo?.containerRuntimeVersion).toBe('containerd://Unknown');
    expect(away.images).toEqual(build().images);
    expect(away.runtimeHandlers).toEqual(build().runtimeHandlers);
  });

  test('the largest images are shown, by at most five names', () => {
    const image = (sizeBytes: number, ...names: string[]) => ({ names, sizeBytes });
    const images = [image(1, 'small'), image(3, 'a', 'b', 'c', 'd', 'e', 'f'), image(9), image(2, 'y'), image(2, 'x')];
    const runtime = { name: 'r', version: '1', handlers: [], images };
    expect(build({ facts: nodeFacts({ runtime }), settings: nodeSettings({ maxImages: 2 }) }).images).toEqual([
      { names: ['a', 'b', 'c', 'd', 'e'], sizeBytes: 3 },
      { names: ['x'], sizeBytes: 2 },
    ]);
    expect(build({ facts: nodeFacts({ runtime }), settings: nodeSettings({ maxImages: -1 }) }).images).toHaveLength(4);
  });

  test('others’ conditions are left alone', () => {
    const network = condition('NetworkUnavailable', 'False');
    expect(build({ existing: { conditions: [network] } }).conditions?.[0]).toEqual(network);
  });

  test('a patch has only what differs: maps by key, lists whole, conditions by type, addresses replaced', () => {
    const before = {
      ...build(),
      capacity: { ...build().capacity, 'hugepages-4Mi': '0', cpu: '2' },
      addresses: [{ type: 'InternalIP', address: '192.0.2.9' }],
      images: [],
    };
    expect(nodeStatusPatch(before, build({ now: T0 + 60_000, existing: build() }))).toEqual({
      capacity: { 'hugepages-4Mi': null, cpu: '4' },
      addresses: [
        { type: 'InternalIP', address: '192.0.2.1' },
        { type: 'Hostname', address: 'n1' },
        { $patch: 'replace' },
      ],
      images: [{ names: ['registry.example/app:1'], sizeBytes: 10 }],
    });
  });

  test('heartbeats alone are no change', () => {
    expect(nodeStatusPatch(build(), build({ now: T0 + 60_000, existing: build() }))).toBeUndefined();
  });
});

describe('when it is written', () => {
  const settled = (): ReturnType<typeof apiNode> => {
    const first = plan({ node: apiNode() });
    return apiNode({ status: first.status });
  };
  const plan = (over: Partial<Parameters<typeof planNodeStatus>[0]>) =>
    planNodeStatus({
      node: apiNode(),
      facts: nodeFacts(),
      settings: nodeSettings(),
      situation: situation(),
      elapsed: 0,
      now: T0,
      reportAt: 1000,
      resetExtended: false,
      refused: undefined,
      ...over,
    });

  test('nothing is written while nothing changes, until the report is due', () => {
    expect(plan({ node: settled(), elapsed: 999, now: T0 + 999 }).patch).toBeUndefined();
    const report = plan({ node: settled(), elapsed: 1000, now: T0 + 1000 });
    expect(report.changes).toBe(false);
    expect(report.patch?.metadata).toEqual({ uid: 'node-1' });
    expect(Object.keys(report.patch?.status ?? {})).toEqual(['conditions']);
    expect(report.patch?.status?.conditions).toHaveLength(4);
  });

  test('a change is written with every heartbeat', () => {
    const { patch, changes } = plan({ node: settled(), settings: nodeSettings({ port: 1 }), now: T0 + 5000 });
    expect(changes).toBe(true);
    expect(patch?.status?.daemonEndpoints).toEqual({ kubeletEndpoint: { Port: 1 } });
    expect(patch?.status?.conditions).toMatchObject(
      Array.from({ length: 4 }, () => ({ lastHeartbeatTime: '2026-01-01T00:00:05Z' })),
    );
  });

  test('what the API server did not take is not written again and again', () => {
    const node = apiNode({ status: { ...settled().status, features: undefined } });
    const refused = { features: { supplementalGroupsPolicy: true } };
    expect(plan({ node }).changes).toBe(true);
    expect(plan({ node, refused }).patch).toBeUndefined();
  });

  test('reports after a change are spread by half a period', () => {
    expect(nextReportAt(0, 1000, false, 0.9)).toBe(1000);
    expect([0, 0.5, 1].map((random) => nextReportAt(0, 1000, true, random))).toEqual([500, 1000, 1500]);
  });
});

describe('events of the node', () => {
  const told = (...args: Parameters<typeof nodeEvents>) => nodeEvents(...args).map(({ reason }) => reason);
  const conditions = (readiness: string, memory: string) => ({
    conditions: [condition('MemoryPressure', memory), condition('Ready', readiness)],
  });

  test('tell of conditions that flipped', () => {
    expect(told('n1', conditions('False', 'False'), conditions('True', 'True'))).toEqual([
      'NodeHasInsufficientMemory',
      'NodeReady',
    ]);
    expect(told('n1', conditions('True', 'True'), conditions('True', 'True'))).toEqual([]);
    expect(nodeEvents('n1', conditions('True', 'False'), conditions('False', 'False'))).toEqual([
      { type: 'Normal', reason: 'NodeNotReady', message: 'Node n1 status is now: NodeNotReady' },
    ]);
  });

  test('of a new node tell that it has enough, and not that it was not ready', () => {
    expect(told('n1', undefined, conditions('False', 'False'))).toEqual(['NodeHasSufficientMemory']);
  });

  test('tell of a new boot, where an earlier one is known', () => {
    const booted = (bootID: string) => ({ nodeInfo: { bootID } }) as never;
    expect(nodeEvents('n1', booted('a'), booted('b'))).toEqual([
      { type: 'Warning', reason: 'Rebooted', message: 'Node n1 has been rebooted, boot id: b' },
    ]);
    expect(nodeEvents('n1', booted(''), booted('b'))).toEqual([]);
    expect(nodeEvents('n1', booted('b'), booted('b'))).toEqual([]);
  });
});
