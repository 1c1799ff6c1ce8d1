import { describe, expect, test } from '@jest/globals';
import type { PodSpec } from '../../../../machines/kubernetes.types.ts';
import { effectiveLabels, selectsNode } from '../../../../machines/pod/policy/admit/node-affinity.ts';
import { asker, node } from './fixtures.ts';

const LABELS = { zone: 'a', cores: '8', debt: '-3', empty: '' };
const selects = (spec: Partial<PodSpec>, labels: Record<string, string> = LABELS) =>
  selectsNode(asker('p', {}, spec).spec, 'n1', labels);

type Terms = NonNullable<
  NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'];
const required = (...nodeSelectorTerms: Terms): Partial<PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

describe('a node selector', () => {
  test.each<[string, Record<string, string>, boolean]>([
    ['none', {}, true],
    ['a label that the node has', { zone: 'a' }, true],
    ['another value', { zone: 'b' }, false],
    ['a label that it has not', { rack: 'a' }, false],
    ['an empty value is a value', { empty: '' }, true],
    ['an empty value is not a label’s absence', { rack: '' }, false],
    ['all must be there', { zone: 'a', cores: '9' }, false],
    ['a name that every object has', { constructor: '' }, false],
  ])('%s', (_case, nodeSelector, expected) => expect(selects({ nodeSelector })).toBe(expected));
});

describe('a requirement', () => {
  test.each<[string, string, string[] | undefined, boolean]>([
    ['zone', 'In', ['b', 'a'], true],
    ['zone', 'In', ['b'], false],
    ['rack', 'In', ['a'], false],
    ['empty', 'In', [''], true],
    ['zone', 'In', undefined, false],
    ['zone', 'NotIn', ['b'], true],
    ['zone', 'NotIn', ['a', 'b'], false],
    ['rack', 'NotIn', ['a'], true],
    ['rack', 'NotIn', [], false],
    ['zone', 'Exists', undefined, true],
    ['empty', 'Exists', [], true],
    ['rack', 'Exists', undefined, false],
    ['zone', 'Exists', ['a'], false],
    ['rack', 'DoesNotExist', undefined, true],
    ['zone', 'DoesNotExist', undefined, false],
    ['rack', 'DoesNotExist', ['a'], false],
    ['cores', 'Gt', ['7'], true],
    ['cores', 'Gt', ['8'], false],
    ['cores', 'Gt', ['10'], false],
    ['cores', 'Lt', ['10'], true],
    ['cores', 'Lt', ['8'], false],
    ['debt', 'Lt', ['0'], true],
    ['debt', 'Gt', ['-10'], true],
    ['cores', 'Gt', ['7', '6'], false],
    ['cores', 'Gt', ['few'], false],
    ['zone', 'Gt', ['1'], false],
    ['rack', 'Lt', ['1'], false],
    ['empty', 'Lt', ['1'], false],
    ['zone', 'Like', ['a'], false],
  ])('%s %s %p: %p', (key, operator, values, expected) => {
    expect(selects(required({ matchExpressions: [{ key, operator, values }] }))).toBe(expected);
  });

  test.each<[string, string, string[], boolean]>([
    ['metadata.name', 'In', ['n1'], true],
    ['metadata.name', 'In', ['n2'], false],
    ['metadata.name', 'NotIn', ['n1'], false],
    ['metadata.name', 'NotIn', ['n2'], true],
    ['metadata.name', 'In', ['n1', 'n2'], false],
    ['metadata.name', 'NotIn', [], false],
    ['metadata.name', 'Exists', [], false],
    ['metadata.uid', 'In', ['n1'], false],
  ])('of the field %s %s %p: %p', (key, operator, values, expected) => {
    expect(selects(required({ matchFields: [{ key, operator, values }] }))).toBe(expected);
  });
});

describe('required node affinity', () => {
  const yes = { key: 'zone', operator: 'In', values: ['a'] };
  const no = { key: 'zone', operator: 'In', values: ['b'] };
  const here = { key: 'metadata.name', operator: 'In', values: ['n1'] };
  test.each<[string, Terms, boolean]>([
    ['one of the terms is enough', [{ matchExpressions: [no] }, { matchExpressions: [yes] }], true],
    ['each requirement of a term is needed', [{ matchExpressions: [yes, no] }], false],
    ['labels and fields are needed both', [{ matchExpressions: [no], matchFields: [here] }], false],
    ['labels and fields that are met', [{ matchExpressions: [yes], matchFields: [here] }], true],
    ['an empty term selects nothing', [{}], false],
    ['no terms select nothing', [], false],
  ])('%s', (_case, terms, expected) => expect(selects(required(...terms))).toBe(expected));

  test('the node selector is needed beside it', () => {
    expect(selects({ ...required({ matchExpressions: [yes] }), nodeSelector: { zone: 'b' } })).toBe(false);
  });

  test('preferences bind nobody', () => {
    const preference = { matchExpressions: [no] };
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] };
    expect(selects({ affinity: { nodeAffinity } })).toBe(true);
  });
});

describe('the labels of the host’s own system', () => {
  test('hold though the Node object lacks them or says otherwise', () => {
    const arm = node({ labels: { 'kubernetes.io/os': 'windows' }, architecture: 'arm64' });
    const labels = effectiveLabels(arm);
    expect(selects({ nodeSelector: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64' } }, labels)).toBe(
      true,
    );
    expect(selects({ nodeSelector: { 'kubernetes.io/arch': 'amd64' } }, labels)).toBe(false);
  });
});
