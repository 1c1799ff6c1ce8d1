import { describe, expect, test } from '@jest/globals';
import { strategicMerge } from '../../support/apiserver/strategic-merge.ts';

const conditions = (...pairs: string[]) =>
  pairs.map((pair) => ({ type: pair.split('=')[0], status: pair.split('=')[1] }));

describe('a strategic merge patch', () => {
  test.each([
    [
      'sets, keeps and deletes fields of objects',
      { a: 1, b: { c: 1, d: 2 } },
      { b: { c: null, e: 3 } },
      { a: 1, b: { d: 2, e: 3 } },
    ],
    [
      'joins conditions by type and appends new ones',
      { conditions: conditions('Ready=True', 'PodScheduled=True') },
      { conditions: conditions('Ready=False', 'Own=True') },
      { conditions: conditions('Ready=False', 'PodScheduled=True', 'Own=True') },
    ],
    [
      'deletes an element that says $patch: delete',
      { conditions: conditions('Ready=True', 'Own=True') },
      { conditions: [{ type: 'Own', $patch: 'delete' }] },
      { conditions: conditions('Ready=True') },
    ],
    [
      'replaces a joined list that has $patch: replace in it',
      { podIPs: [{ ip: '1.1.1.1' }, { ip: '::1' }] },
      { podIPs: [{ ip: '2.2.2.2' }, { $patch: 'replace' }] },
      { podIPs: [{ ip: '2.2.2.2' }] },
    ],
    [
      'orders a joined list as $setElementOrder says',
      { conditions: conditions('A=1', 'B=1', 'C=1') },
      { '$setElementOrder/conditions': [{ type: 'C' }, { type: 'A' }], conditions: conditions('A=2') },
      { conditions: conditions('B=1', 'C=1', 'A=2') },
    ],
    [
      'replaces lists that are not joined whole',
      { containerStatuses: [{ name: 'a' }, { name: 'b' }] },
      { containerStatuses: [{ name: 'c' }] },
      { containerStatuses: [{ name: 'c' }] },
    ],
  ])('%s', (_what, original, patch, expected) => {
    expect(strategicMerge(original, patch, 'V1PodStatus')).toEqual(expected);
  });

  test('keeps only what $retainKeys names of an object', () => {
    const original = { volumes: [{ name: 'v', emptyDir: {} }] };
    const patch = { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] };
    expect(strategicMerge(original, patch, 'V1PodSpec')).toEqual({
      volumes: [{ name: 'v', hostPath: { path: '/x' } }],
    });
  });

  test('joins sets of scalars and takes away what $deleteFromPrimitiveList names', () => {
    const original = { finalizers: ['a', 'b'] };
    expect(strategicMerge(original, { finalizers: ['b', 'c'] }, 'V1ObjectMeta')).toEqual({
      finalizers: ['a', 'b', 'c'],
    });
    expect(strategicMerge(original, { '$deleteFromPrimitiveList/finalizers': ['a'] }, 'V1ObjectMeta')).toEqual({
      finalizers: ['b'],
    });
  });

  test('an element without its merge key is refused', () => {
    expect(() => strategicMerge({}, { conditions: [{ status: 'True' }] }, 'V1PodStatus')).toThrow(
      'does not contain declared merge key: type',
    );
  });
});
