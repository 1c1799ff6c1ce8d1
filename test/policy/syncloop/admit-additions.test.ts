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
    expect(first).toEqual({ take: [], refuse: [], look: [], preempt: ['small'], later: [] });
    const gone = { small: entry(asking('small', '1500m'), true) };
    expect(uids(admitAdditions([critical], { ...facts, entries: gone }, T0).take)).toEqual(['critical']);
  });

  test('while those that were told to go still do, no other has to', () => {
    const entries = {
      small: { ...entry(asking('small', '500m')), preempted: true as const },
      other: entry(asking('other', '1')),
    };
    const critical = addition(asking('critical', '1500m', { priority: 2_000_000_000 }));
    expect(admitAdditions([critical], { ...facts, entries }, T0)).toMatchObject({ take: [], preempt: [] });
  });

  test('one that came together with the critical pod that needs its place is refused, and holds up nothing', () => {
    const additions = [addition(asking('a', '1500m')), addition(asking('b', '1', { priority: 2_000_000_000 }))];
    const { take, refuse, preempt } = admitAdditions(additions, facts, T0);
    expect([uids(take), preempt]).toEqual([['b'], []]);
    expect(refuse).toMatchObject([
      {
        uid: 'a',
        status: { phase: 'Failed', reason: 'Preempting', message: 'Preempted in order to admit critical pod' },
        event: { reason: 'Preempting' },
      },
    ]);
  });

  test('one that an earlier agent ran is taken over before it has to go for a critical pod', () => {
    const ran = observed({ uid: 'ran', containers: [instance()] });
    const additions = [addition(asking('ran', '1500m')), addition(asking('b', '1', { priority: 2_000_000_000 }))];
    const { take, refuse, preempt, later } = admitAdditions(additions, { ...facts, observed: { ran } }, T0);
    expect([uids(take), refuse, preempt, later]).toEqual([['ran'], [], [], ['b']]);
  });
});

describe('an API pod that only the labels of the Node refuse', () => {
  const picky = addition(asking('picky', '1'));
  picky.pod.spec.nodeSelector = { zone: 'b' };

  test('waits until the Node was read afresh, where there is one to be read', () => {
    expect(admitAdditions([picky], { ...facts, looks: {} }, T0)).toMatchObject({ refuse: [], look: ['picky'] });
    expect(admitAdditions([picky], { ...facts, looks: { picky: 'asked' } }, T0).look).toEqual(['picky']);
    expect(admitAdditions([picky], { ...facts, looks: { picky: 'answered' } }, T0)).toMatchObject({
      look: [],
      refuse: [{ event: { reason: 'NodeAffinity' } }],
    });
    expect(admitAdditions([picky], facts, T0).refuse).toHaveLength(1);
  });

  test('is refused at once where something else is in the way too, or where it is static and comes again anyhow', () => {
    const big = addition({ ...picky.pod, spec: { ...asking('big', '100').spec, nodeSelector: { zone: 'b' } } });
    const fixed = { ...picky, source: 'file' as const };
    expect(admitAdditions([big], { ...facts, looks: {} }, T0).refuse).toHaveLength(1);
    expect(admitAdditions([fixed], { ...facts, looks: {} }, T0).refuse).toHaveLength(1);
  });
});
