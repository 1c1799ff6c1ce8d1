import { describe, expect, test } from '@jest/globals';
import type { PodStatus } from '../../../machines/kubernetes.types.ts';
import { admitAdditions } from '../../../machines/syncloop/policy/admit-additions.ts';
import type { PodEntry } from '../../../machines/syncloop/syncloop.types.ts';
import { instance, nodeView, observed, pod, T0 } from '../../support/fixtures.ts';

const asking = (uid: string, cpu: string, more: { priority?: number; status?: PodStatus } = {}) => ({
  ...pod({
    uid,
    name: uid,
    spec: {
      ...(more.priority !== undefined && { priority: more.priority }),
      containers: [{ name: 'app', image: 'busybox', resources: { requests: { cpu } } }],
    },
  }),
  ...(more.status && { status: more.status }),
});
const addition = (desired: ReturnType<typeof asking>, more: { again?: boolean; ending?: boolean } = {}) => ({
  uid: desired.metadata.uid,
  pod: desired,
  source: 'api' as const,
  again: false,
  ...more,
});
const entry = (desired: ReturnType<typeof asking>, released = false): PodEntry => ({
  uid: desired.metadata.uid,
  name: desired.metadata.name,
  namespace: 'default',
  source: 'api',
  pod: desired,
  ending: false,
  released,
});
const facts = { node: nodeView(), entries: {}, observed: {}, ended: {} };
const uids = (list: readonly { uid: string }[]) => list.map(({ uid }) => uid);

describe('pods that are new to the agent', () => {
  test('one that does not fit beside what runs is refused with the words of the kubelet, and its status says so', () => {
    const big = asking('big', '1500m');
    const { take, refuse } = admitAdditions(
      [addition(asking('new', '1'))],
      { ...facts, entries: { big: entry(big) } },
      T0,
    );
    expect(take).toEqual([]);
    expect(refuse).toMatchObject([
      {
        uid: 'new',
        status: { phase: 'Failed', reason: 'OutOfcpu', startTime: '2026-01-01T00:00:00Z' },
        event: { type: 'Warning', reason: 'OutOfcpu', pod: { name: 'new', namespace: 'default', uid: 'new' } },
      },
    ]);
    expect(refuse[0]?.status.message).toMatch(/^Pod was rejected: Node didn't have enough resource: cpu/);
  });

  test('what is released holds nothing any more', () => {
    const entries = { big: entry(asking('big', '1500m'), true) };
    expect(uids(admitAdditions([addition(asking('new', '1'))], { ...facts, entries }, T0).take)).toEqual(['new']);
  });

  test('what ran before is not judged again, nor what is over, comes again or is on its way out', () => {
    const entries = { big: entry(asking('big', '2')) };
    const ran = observed({ uid: 'ran', containers: [instance()] });
    const additions = [
      addition(asking('ran', '1')),
      addition(asking('over', '1', { status: { phase: 'Succeeded' } })),
      addition(asking('kept', '1')),
      addition(asking('again', '1'), { again: true }),
      addition(asking('ending', '1'), { ending: true }),
    ];
    const { take, refuse } = admitAdditions(
      additions,
      { ...facts, entries, observed: { ran }, ended: { kept: { phase: 'Failed' } } },
      T0,
    );
    expect(uids(take)).toEqual(['ran', 'over', 'kept', 'again', 'ending']);
    expect(refuse).toEqual([]);
  });

  test('a critical pod waits until those that have to go for it have gone', () => {
    const entries = { small: entry(asking('small', '1500m')) };
    const critical = addition(asking('critical', '1', { priority: 2_000_000_000 }));
    const first = admitAdditions([critical], { ...facts, entries }, T0);
    expect(first).toEqual({ take: [], refuse: [], preempt: ['small'] });
    const gone = { small: entry(asking('small', '1500m'), true) };
    expect(uids(admitAdditions([critical], { ...facts, entries: gone }, T0).take)).toEqual(['critical']);
  });
});
