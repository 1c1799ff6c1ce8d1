import { describe, expect, test } from '@jest/globals';
import type { DesiredPod, PodSpec } from '../../../../machines/kubernetes.types.ts';
import type { NodeView } from '../../../../machines/pod/policy/admit/admission.types.ts';
import { podRequests } from '../../../../machines/pod/policy/admit/requests.ts';
import { holdingsOf, shortages } from '../../../../machines/pod/policy/admit/resources-fit.ts';
import { QuantityError } from '../../../../machines/pod/policy/quantity.ts';
import { container } from '../fixtures.ts';
import { asker, asking, node } from './fixtures.ts';

const sidecar = { restartPolicy: 'Always' };

describe('what a pod asks of its node', () => {
  test.each<[string, PodSpec, Record<string, bigint>]>([
    ['nothing', { containers: [container('a')] }, {}],
    ['nothing, said in numbers', { containers: [asking({ cpu: '0', memory: '0' })] }, {}],
    [
      'the sum of its containers, in thousandths and bytes',
      { containers: [asking({ cpu: '250m', memory: '1Ki' }), asking({ cpu: '1', memory: '1k' })] },
      { cpu: 1250n, memory: 2024n },
    ],
    ['a limit where no request is made', { containers: [asking({}, {}, { cpu: '300m' })] }, { cpu: 300n }],
    [
      'a limit of anything else where no request is made',
      { containers: [asking({}, {}, { 'hugepages-2Mi': '2Mi' })] },
      { 'hugepages-2Mi': 2n << 20n },
    ],
    ['its own request rather than its limit', { containers: [asking({ cpu: '1m' }, {}, { cpu: '1' })] }, { cpu: 1n }],
    [
      'the largest init container, resource by resource',
      {
        initContainers: [asking({ cpu: '1', memory: '1' }), asking({ memory: '5', 'ephemeral-storage': '9Mi' })],
        containers: [asking({ cpu: '100m', memory: '2' })],
      },
      { cpu: 1000n, memory: 5n, 'ephemeral-storage': 9_437_184n },
    ],
    [
      'sidecars beside the containers',
      {
        initContainers: [asking({ 'ephemeral-storage': '1Ki', 'example.com/gpu': '1' }, sidecar)],
        containers: [asking({ 'ephemeral-storage': '2Ki', 'example.com/gpu': '2' })],
      },
      { 'ephemeral-storage': 3072n, 'example.com/gpu': 3n },
    ],
    [
      'an init container beside the sidecars before it, not after it',
      {
        initContainers: [
          asking({ 'hugepages-2Mi': '2Mi' }, sidecar),
          asking({ 'hugepages-2Mi': '8Mi' }),
          asking({ 'hugepages-2Mi': '2Mi' }, sidecar),
        ],
        containers: [asking({ 'hugepages-2Mi': '4Mi' })],
      },
      { 'hugepages-2Mi': 10n << 20n },
    ],
    [
      'its overhead on top',
      { containers: [asking({ cpu: '1' })], overhead: { cpu: '50m', memory: '10' } },
      { cpu: 1050n, memory: 10n },
    ],
    [
      'what it asks for as a whole in place of its containers’ sum',
      {
        containers: [asking({ cpu: '1', memory: '7' })],
        resources: { requests: { cpu: '3' } },
        overhead: { cpu: '1m' },
      },
      { cpu: 3001n, memory: 7n },
    ],
    [
      'its limit as a whole where no container asks',
      { containers: [asking({ memory: '7' })], resources: { limits: { cpu: '2', memory: '9' } } },
      { cpu: 2000n, memory: 7n },
    ],
  ])('%s', (_case, spec, expected) => expect(Object.fromEntries(podRequests(spec))).toEqual(expected));

  test('a spec is reckoned once', () => {
    const { spec } = asker('a', { cpu: '1' });
    expect(podRequests(spec)).toBe(podRequests(spec));
  });

  test('a text that is no quantity is an error that names it', () => {
    expect(() => podRequests({ containers: [asking({ cpu: 'much' })] })).toThrow(QuantityError);
    expect(() => podRequests({ containers: [asking({ cpu: 'much' })] })).toThrow('"much"');
  });
});

describe('what the node has too little of', () => {
  const short = (pod: DesiredPod, on: NodeView, others: DesiredPod[]) => shortages(pod, on, holdingsOf(others));
  const names = (...args: Parameters<typeof short>) => short(...args).map(({ resource }) => resource);

  test('just what is left fits, and one more does not', () => {
    const others = [asker('o', { cpu: '1500m' })];
    expect(short(asker('p', { cpu: '500m' }), node(), others)).toEqual([]);
    expect(short(asker('p', { cpu: '501m' }), node(), others)).toEqual([
      { resource: 'cpu', requested: 501n, used: 1500n, capacity: 2000n },
    ]);
  });

  test('a pod that asks for nothing fits where all is overcommitted', () => {
    expect(short(asker('p'), node(), [asker('o', { cpu: '9', memory: '9Gi' })])).toEqual([]);
  });

  test('the number of pods is bounded, whatever they ask for', () => {
    const full = node({ allocatable: { pods: '2' } });
    expect(short(asker('p'), full, [asker('a')])).toEqual([]);
    expect(short(asker('p'), full, [asker('a'), asker('b')])).toEqual([
      { resource: 'pods', requested: 1n, used: 2n, capacity: 2n },
    ]);
  });

  test('the number of pods is told first, then cpu, memory, storage, and the others by name', () => {
    const all = { 'hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1Gi', 'ephemeral-storage': '1', memory: '1', cpu: '1' };
    const nothing = node({ allocatable: {} });
    expect(names(asker('p', all), nothing, [])).toEqual([
      'pods',
      'cpu',
      'memory',
      'ephemeral-storage',
      'hugepages-1Gi',
      'hugepages-2Mi',
    ]);
  });

  test.each<[string, Record<string, string>, Record<string, string>, string[]]>([
    ['an extended resource that the node offers is counted', { 'a.com/x': '3' }, { 'a.com/x': '2' }, ['a.com/x']],
    ['one that it has no more of is counted', { 'a.com/x': '1' }, { 'a.com/x': '0' }, ['a.com/x']],
    ['one that it does not know is another’s matter', { 'a.com/x': '1' }, {}, []],
    ['huge pages that it does not have are short', { 'hugepages-1Gi': '1Gi' }, {}, ['hugepages-1Gi']],
    ['a name of Kubernetes’ own is counted', { 'kubernetes.io/x': '1' }, {}, ['kubernetes.io/x']],
    ['a plain name that nobody knows is not', { gold: '1' }, {}, []],
    ['nor one that every object has', { constructor: '1' }, {}, []],
  ])('%s', (_case, asked, offered, expected) => {
    expect(names(asker('p', asked), node({ allocatable: { pods: '9', ...offered } }), [])).toEqual(expected);
  });

  test('the init containers of other pods are counted at their peak', () => {
    const other = asker('o', { cpu: '100m' }, { initContainers: [asking({ cpu: '2' })] });
    expect(names(asker('p', { cpu: '1m' }), node(), [other])).toEqual(['cpu']);
  });
});
