import { describe, expect, test } from '@jest/globals';
import type { PodCondition, PodStatus } from '../../../machines/kubernetes.types.ts';
import { statusPatch } from '../../../services/kube/status-patch.ts';
import { strategicMerge } from '../../support/apiserver/strategic-merge.ts';

const condition = (type: string, status = 'True', more: Partial<PodCondition> = {}): PodCondition => ({
  type,
  status,
  ...more,
});
const running = (name: string) => ({
  name,
  image: 'i',
  imageID: '',
  ready: true,
  restartCount: 0,
  state: { running: {} },
});

const STATUSES: PodStatus[] = [
  {},
  { phase: 'Pending', conditions: [condition('PodScheduled')] },
  {
    phase: 'Running',
    hostIP: '10.0.0.1',
    hostIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
    podIP: '10.1.0.1',
    podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd01::1' }],
    conditions: [
      condition('PodScheduled'),
      condition('Ready', 'False', { reason: 'ContainersNotReady', message: 'm' }),
    ],
    containerStatuses: [running('a'), running('b')],
    observedGeneration: 1,
  },
  {
    phase: 'Running',
    hostIPs: [{ ip: 'fd00::1' }, { ip: '10.0.0.1' }],
    podIPs: [{ ip: '10.1.0.2' }],
    conditions: [condition('foreign/gate'), condition('Ready'), condition('PodScheduled')],
    containerStatuses: [{ ...running('a'), ready: false, state: { terminated: { exitCode: 1 } } }],
    resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'x' }],
    observedGeneration: 2,
  },
  { phase: 'Failed', reason: 'Evicted', message: 'low on memory', conditions: [condition('Ready', 'False')] },
];

describe('a status patch', () => {
  const pairs = STATUSES.flatMap((before, i) => STATUSES.map((after, j) => [i, j, before, after] as const));

  test.each(pairs)('makes status %i into status %i where the API server merges it', (_i, _j, before, after) => {
    expect(strategicMerge({ ...before }, statusPatch(before, after), 'V1PodStatus')).toEqual(after);
  });

  test('has only what differs', () => {
    const before: PodStatus = { phase: 'Running', conditions: [condition('A'), condition('B')], startTime: 't' };
    const after: PodStatus = {
      phase: 'Running',
      conditions: [condition('A'), condition('B', 'False')],
      startTime: 't',
    };
    expect(statusPatch(before, after)).toEqual({
      conditions: [{ type: 'B', status: 'False' }],
      '$setElementOrder/conditions': [{ type: 'A' }, { type: 'B' }],
    });
    expect(statusPatch(after, { ...after })).toEqual({});
  });

  test('leaves a condition alone that somebody else wrote meanwhile', () => {
    const before: PodStatus = { conditions: [condition('Ready', 'False')] };
    const meanwhile = { conditions: [condition('Ready', 'False'), condition('foreign/gate')] };
    const merged = strategicMerge(meanwhile, statusPatch(before, { conditions: [condition('Ready')] }), 'V1PodStatus');
    expect((merged as PodStatus).conditions?.map(({ type, status }) => `${type}=${status}`).sort()).toEqual([
      'Ready=True',
      'foreign/gate=True',
    ]);
  });
});
