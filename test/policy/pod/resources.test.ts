import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../machines/kubernetes.types.ts';
import { oomScoreAdj, qosClass } from '../../../machines/pod/policy/qos.ts';
import {
  effectiveLimit,
  effectiveRequest,
  linuxResources,
  podResources,
} from '../../../machines/pod/policy/resources.ts';
import { container, pod } from './fixtures.ts';

type Amounts = Record<string, string>;
const asking = (name: string, limits?: Amounts, requests?: Amounts, more: Partial<Container> = {}) =>
  container(name, { resources: { limits, requests }, ...more });
const full = { cpu: '100m', memory: '64Mi' };
const cfs = { cpuCFSQuota: true, cpuCFSQuotaPeriodUs: 100_000 };

describe('QoS class', () => {
  test.each<[string, Container[], Container[], string]>([
    ['nothing asked', [container('a')], [], 'BestEffort'],
    ['zero asked', [asking('a', undefined, { cpu: '0' })], [], 'BestEffort'],
    ['all limited, requests default to limits', [asking('a', full)], [], 'Guaranteed'],
    [
      'all limited, equal requests in other words',
      [asking('a', full, { cpu: '0.1', memory: '65536Ki' })],
      [],
      'Guaranteed',
    ],
    ['only memory limited', [asking('a', { memory: '1Gi' })], [], 'Burstable'],
    ['lower request', [asking('a', full, { cpu: '50m' })], [], 'Burstable'],
    ['one container without', [asking('a', full), container('b')], [], 'Burstable'],
    ['init container without', [asking('a', full)], [container('i')], 'Burstable'],
    ['only the init container asks', [container('a')], [asking('i', undefined, { cpu: '1m' })], 'Burstable'],
  ])('%s: %#', (_case, containers, initContainers, qos) => expect(qosClass({ containers, initContainers })).toBe(qos));
});

describe('oom_score_adj', () => {
  const node = 1000 * 2 ** 20;
  const memory = (name: string, request: string, more: Partial<Container> = {}) =>
    asking(name, undefined, { memory: request }, more);
  test.each<[string, ReturnType<typeof pod>, Container, number]>([
    ['best effort', pod(), container('main'), 1000],
    ['guaranteed', pod({ containers: [asking('main', full)] }), asking('main', full), -997],
    ['a quarter of the node', pod({ containers: [memory('main', '250Mi')] }), memory('main', '250Mi'), 750],
    ['all of the node', pod({ containers: [memory('main', '2000Mi')] }), memory('main', '2000Mi'), 3],
    ['next to nothing', pod({ containers: [memory('main', '1Ki')] }), memory('main', '1Ki'), 999],
    [
      'a static node-critical pod',
      pod({ priorityClassName: 'system-node-critical' }, { annotations: { 'kubernetes.io/config.source': 'file' } }),
      container('main'),
      -997,
    ],
    [
      'a node-critical class without the priority',
      pod({ priorityClassName: 'system-node-critical' }),
      container('main'),
      1000,
    ],
  ])('%s', (_case, owner, own, adjust) => expect(oomScoreAdj(owner, own, node)).toBe(adjust));

  test('a sidecar that asks for less is not killed ahead of the regular containers', () => {
    const sidecar = memory('proxy', '10Mi', { restartPolicy: 'Always' });
    const owner = pod({ initContainers: [sidecar], containers: [memory('a', '400Mi'), memory('b', '300Mi')] });
    expect(oomScoreAdj(owner, sidecar, node)).toBe(700);
  });
});

describe('a container’s cgroup values', () => {
  test.each<[string, Amounts | undefined, Amounts | undefined, bigint, bigint, bigint]>([
    ['nothing', undefined, undefined, 2n, 0n, 0n],
    ['a limit counts as request', { cpu: '500m', memory: '30Mi' }, undefined, 512n, 50_000n, 31_457_280n],
    ['the smallest quota', { cpu: '1m' }, undefined, 2n, 1_000n, 0n],
    ['an explicit request', { cpu: '2' }, { cpu: '100m' }, 102n, 200_000n, 0n],
    ['the most shares', undefined, { cpu: '1000' }, 262_144n, 0n, 0n],
  ])('%s', (_case, limits, requests, cpuShares, cpuQuota, memoryLimitInBytes) => {
    expect(linuxResources(asking('a', limits, requests), { ...cfs, oomScoreAdj: 999 })).toEqual({
      cpuPeriod: 100_000n,
      cpuShares,
      cpuQuota,
      memoryLimitInBytes,
      oomScoreAdj: 999n,
    });
  });

  test('B175 the quota is the limit times the period, whatever the period', () => {
    const settings = { cpuCFSQuota: true, cpuCFSQuotaPeriodUs: 10_000, oomScoreAdj: 0 };
    expect(linuxResources(asking('a', { cpu: '500m' }), settings)).toMatchObject({
      cpuQuota: 5000n,
      cpuPeriod: 10_000n,
    });
    expect(podResources({ containers: [asking('a', { cpu: '500m' })] }, settings)).toMatchObject({
      cpuQuota: 5000n,
      cpuPeriod: 10_000n,
    });
  });

  test('B153 cpuCFSQuota false lifts the limit of the container and of its pod', () => {
    const settings = { cpuCFSQuota: false, cpuCFSQuotaPeriodUs: 100_000, oomScoreAdj: 0 };
    expect(linuxResources(asking('a', { cpu: '100m' }), settings).cpuQuota).toBe(-1n);
    expect(podResources({ containers: [asking('a', { cpu: '100m' })] }, settings).cpuQuota).toBe(-1n);
  });
});

describe('a pod’s cgroup values', () => {
  test.each([
    ['51m', 6_000n],
    ['5m', 1_000n],
    ['4096m', 410_000n],
    ['50m', 5_000n],
  ])('B176 one container limited to %s: the pod’s quota is %s, never below it', (cpu, quota) => {
    const spec = { containers: [asking('a', { cpu })] };
    expect(podResources(spec, cfs).cpuQuota).toBe(quota);
    const own = linuxResources(spec.containers[0]!, { ...cfs, oomScoreAdj: 0 }).cpuQuota;
    expect(quota).toBeGreaterThanOrEqual(own);
  });

  test('the kernel minimum of each of two containers is kept', () => {
    expect(podResources({ containers: [asking('a', { cpu: '1m' }), asking('b', { cpu: '1m' })] }, cfs).cpuQuota).toBe(
      2_000n,
    );
  });

  test('limits are set only where every container has one', () => {
    const spec = { containers: [asking('a', full), asking('b', { memory: '64Mi' })] };
    expect(podResources(spec, cfs)).toEqual({ cpuShares: 102n, memoryLimitInBytes: 134_217_728n });
    expect(podResources({ ...spec, initContainers: [container('i')] }, cfs)).toEqual({ cpuShares: 102n });
  });

  test('best effort has the fewest shares and no limit', () => {
    expect(podResources({ containers: [container('a')] }, cfs)).toEqual({ cpuShares: 2n });
  });

  test.each<[string, [string, boolean][], string[], bigint]>([
    ['regular containers add up', [], ['100m', '200m'], 300n],
    ['an init container that asks for more decides', [['500m', false]], ['100m', '200m'], 500n],
    ['sidecars run beside the regular ones', [['50m', true]], ['100m'], 150n],
    [
      'an init container runs beside the sidecars before it',
      [
        ['50m', true],
        ['500m', false],
      ],
      ['100m'],
      550n,
    ],
    [
      'and not beside those after it',
      [
        ['500m', false],
        ['50m', true],
      ],
      ['100m'],
      500n,
    ],
  ])('%s', (_case, init, regular, expected) => {
    const amounts = (cpu: string) => ({ cpu });
    const spec = {
      initContainers: init.map(([cpu, sidecar], i) =>
        asking(`i${i}`, amounts(cpu), undefined, sidecar ? { restartPolicy: 'Always' } : {}),
      ),
      containers: regular.map((cpu, i) => asking(`c${i}`, amounts(cpu))),
    };
    expect(effectiveRequest(spec, 'cpu')).toBe(expected);
    expect(effectiveLimit(spec, 'cpu')).toBe(expected);
  });
});
