import { expect, test } from '@jest/globals';
import { askedFor } from '../../../bin/explain.ts';
import { queryOf, targetOf } from '../../../services/explain/target.ts';
import { clause, closeNames, listed, sentence, span } from '../../../services/explain/words.ts';

test.each([
  [-5, '0 s'],
  [340, '0.3 s'],
  [37_400, '37 s'],
  [119_600, '2 min'],
  [125_000, '2 min 5 s'],
  [7_200_000, '2 h'],
  [10_900_000, '3 h 1 min'],
  [400_000_000, '4 days'],
])('%i ms are %s', (ms, text) => expect(span(ms)).toBe(text));

test('names are listed as people do', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(listed)).toEqual(['', 'a', 'a and b', 'a, b and c']);
});

test('a sentence begins with a capital letter, but for a name, and ends once', () => {
  expect(['the end', 'default/web runs', 'no!', 'web-1 runs'].map(sentence)).toEqual([
    'The end.',
    'default/web runs.',
    'no!',
    'web-1 runs.',
  ]);
});

test("a chart's sentence stands within another, with its subject", () => {
  expect(['The runtime pulls the image.', 'Makes the cgroup.', 'API servers say so.'].map(clause)).toEqual([
    'the runtime pulls the image',
    'it makes the cgroup',
    'API servers say so',
  ]);
});

test('close names are those of a slip of the hand, the closest first', () => {
  expect(closeNames('default/wbe', ['default/web', 'other/wbe', 'default/database'])).toEqual([
    'other/wbe',
    'default/web',
  ]);
  expect(closeNames('default/dns', ['kube-system/coredns-1', 'default/web'])).toEqual(['kube-system/coredns-1']);
});

test.each([
  [['pod', 'web'], 'pod=default%2Fweb'],
  [['pod', 'ns/web'], 'pod=ns%2Fweb'],
  [['container', 'web/app'], 'container=default%2Fweb%2Fapp'],
  [['container', 'ns/web/app'], 'container=ns%2Fweb%2Fapp'],
  [['node'], 'node'],
])('%j asks for %s', (argv, query) => {
  const asked = askedFor(argv);
  if (!asked.ok) throw new Error(asked.message);
  expect(queryOf(asked.target)).toBe(query);
  expect(targetOf(new URLSearchParams(query))).toEqual(asked.target);
});

test.each([
  [[]],
  [['pod']],
  [['pod', 'a/b/c']],
  [['pod', '/a']],
  [['pod', 'a', 'b']],
  [['container', 'a']],
  [['node', 'a']],
  [['x', 'a']],
])('%j is refused with what is accepted', (argv) =>
  expect(askedFor(argv)).toMatchObject({ ok: false, message: expect.stringContaining('accepted are node, pod') }),
);
