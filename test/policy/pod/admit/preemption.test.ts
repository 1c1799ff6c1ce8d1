import { describe, expect, test } from '@jest/globals';
import type { DesiredPod } from '../../../../machines/kubernetes.types.ts';
import { planPreemption } from '../../../../machines/pod/policy/admit/preemption.ts';
import type { Shortage } from '../../../../machines/pod/policy/admit/resources-fit.ts';
import { asker, guaranteed, staticAsker } from './fixtures.ts';

const critical = asker('critical', {}, { priority: 2_000_001_000 });
const short = (resource: string, missing: bigint): Shortage => ({
  resource,
  requested: missing,
  used: 100_000n,
  capacity: 100_000n,
});
const plan = (active: DesiredPod[], ...missing: Shortage[]) => planPreemption(critical, active, missing);
const MEMORY = 1n << 20n;

describe('the pods that go for a critical one', () => {
  test.each<[string, DesiredPod[], Shortage[], string[]]>([
    ['none where nothing is missing', [asker('a', { cpu: '1' })], [], []],
    [
      'the one that is the nearest to what is missing, not the first',
      [asker('small', { cpu: '100m' }), asker('fits', { cpu: '500m' }), asker('big', { cpu: '4' })],
      [short('cpu', 500n)],
      ['fits'],
    ],
    [
      'one that is too large rather than two',
      [asker('a', { cpu: '300m' }), asker('b', { cpu: '300m' }), asker('big', { cpu: '4' })],
      [short('cpu', 500n)],
      ['big'],
    ],
    [
      'as many as it takes, the largest first',
      [asker('a', { cpu: '100m' }), asker('b', { cpu: '300m' }), asker('c', { cpu: '250m' })],
      [short('cpu', 500n)],
      ['b', 'c'],
    ],
    [
      'what is left over after one decides the next',
      [asker('a', { cpu: '300m' }), asker('b', { cpu: '200m' }), asker('c', { cpu: '290m' })],
      [short('cpu', 500n)],
      ['a', 'b'],
    ],
    [
      'guaranteed pods are spared where burstable ones do',
      [guaranteed('g', { cpu: '500m', memory: '1Mi' }), asker('b1', { cpu: '300m' }), asker('b2', { cpu: '200m' })],
      [short('cpu', 500n)],
      ['b1', 'b2'],
    ],
    [
      'guaranteed pods give only the rest',
      [
        guaranteed('g1', { cpu: '1', memory: '1Mi' }),
        guaranteed('g2', { cpu: '100m', memory: '1Mi' }),
        asker('b', { cpu: '400m' }),
      ],
      [short('cpu', 500n)],
      ['b', 'g2'],
    ],
    [
      'a burstable pod is spared after all where the guaranteed one frees enough',
      [guaranteed('g', { cpu: '1', memory: '1Mi' }), asker('b', { cpu: '400m' })],
      [short('cpu', 500n)],
      ['g'],
    ],
    [
      'a place is given by a best effort pod',
      [guaranteed('g', { cpu: '1', memory: '1Mi' }), asker('b', { cpu: '1' }), asker('e')],
      [short('pods', 1n)],
      ['e'],
    ],
    [
      'each need weighs the same, whatever its unit',
      [asker('cpu', { cpu: '1' }), asker('both', { cpu: '900m', memory: '900Ki' }), asker('memory', { memory: '1Mi' })],
      [short('cpu', 900n), short('memory', 900n * 1024n)],
      ['both'],
    ],
    [
      'one that serves both needs by half rather than one that leaves one of them almost whole',
      [
        asker('one', { cpu: '1', memory: '100' }),
        asker('half', { cpu: '500m', memory: '500' }),
        asker('rest', { cpu: '500m', memory: '500' }),
      ],
      [short('cpu', 1000n), short('memory', 1000n)],
      ['half', 'rest'],
    ],
    [
      'a best effort pod stays where a burstable one gives its place too',
      [asker('e'), asker('b', { cpu: '1' })],
      [short('pods', 1n), short('cpu', 500n)],
      ['b'],
    ],
    [
      'two needs may take two pods',
      [asker('cpu', { cpu: '1' }), asker('memory', { memory: '1Mi' })],
      [short('cpu', 900n), short('memory', MEMORY)],
      ['cpu', 'memory'],
    ],
    [
      'of two that serve equally well the one of less memory goes',
      [asker('a', { cpu: '1', memory: '2Mi' }), asker('b', { cpu: '1', memory: '1Mi' })],
      [short('cpu', 900n)],
      ['b'],
    ],
    ['then the one of less cpu', [asker('a', { cpu: '2' }), asker('b', { cpu: '1' })], [short('cpu', 900n)], ['b']],
    [
      'then the one of lower priority',
      [asker('a', { cpu: '1' }, { priority: 10 }), asker('b', { cpu: '1' }, { priority: 5 })],
      [short('cpu', 900n)],
      ['b'],
    ],
    [
      'critical pods stay, but for those of lower priority',
      [
        asker('lower', { cpu: '1' }, { priority: 2_000_000_000 }),
        asker('same', { cpu: '1' }, { priority: 2_000_001_000 }),
      ],
      [short('cpu', 900n)],
      ['lower'],
    ],
  ])('%s', (_case, active, missing, expected) => expect(plan(active, ...missing)).toEqual({ preempt: expected }));

  test('are the same whatever the order in which the pods are known', () => {
    const active = ['a', 'b', 'c', 'd'].map((uid) => asker(uid, { cpu: '1' }));
    expect(plan(active, short('cpu', 1500n))).toEqual(plan(active.toReversed(), short('cpu', 1500n)));
  });
});

describe('there is no plan', () => {
  test.each<[string, DesiredPod[], string]>([
    ['without pods', [], 'cpu 900, memory 1048576'],
    ['where they hold too little', [asker('a', { cpu: '800m', memory: '1Mi' })], 'cpu 100'],
    ['where only static pods hold it', [staticAsker('a', { cpu: '2', memory: '2Mi' })], 'cpu 900, memory 1048576'],
  ])('%s, which says what is missing', (_case, active, missing) => {
    expect(plan(active, short('cpu', 900n), short('memory', MEMORY))).toEqual({
      problem: `no pods that may be preempted hold what is missing: ${missing}`,
    });
  });
});
