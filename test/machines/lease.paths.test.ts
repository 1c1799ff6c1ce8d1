import { describe, expect, test } from '@jest/globals';
import type { AgentEnv, ParentRef } from '../../machines/agent.types.ts';
import type { Lease } from '../../machines/kubernetes.types.ts';
import { leaseMachine } from '../../machines/node/lease.machine.ts';
import { deferred, drive } from '../support/drive.ts';
import { expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';

const input = (world: { env: AgentEnv; parent: ParentRef }) => ({
  ...world,
  nodeName: 'n1',
  nodeUid: 'node-1',
  durationSeconds: 40,
});
const start = () => drive(deferred(leaseMachine), { input });
const old: Lease = { metadata: { name: 'n1', resourceVersion: '7' }, spec: { holderIdentity: 'n1' } };
const written = (run: ReturnType<typeof start>) =>
  run.calls.flatMap(({ input }) => (input as { lease?: Lease }).lease ?? []);
const away = fail('UNAVAILABLE');
const QUARTER = 10_200;

describe('lease', () => {
  test('every transition is walked, one call at a time', () => {
    const report = walk(leaseMachine, {
      inputs: { start: input },
      events: () => [],
      outcomes: {
        getLease: [ok(old), fail('NotFound'), away],
        createLease: [ok(old), fail('AlreadyExists'), away],
        updateLease: [ok(old), fail('NotFound'), fail('Conflict'), away],
      },
      key: ({ context }) => [context.lease !== undefined, Math.min(context.failures, 6)],
      invariants: { 'one call': oneAtATime(['getLease', 'createLease', 'updateLease']) },
    });
    expectAllTransitionsWalked(report);
  });

  test('a node without a lease gets one, and renews it', () => {
    const run = start();
    run.settle('getLease', fail('NotFound'));
    run.settle('createLease', ok(old));
    expect(run.untilTimer()).toBe(QUARTER);
    run.advance(QUARTER);
    expect(written(run).map(({ spec }) => spec?.renewTime)).toEqual([
      '2026-01-01T00:00:00.000000Z',
      '2026-01-01T00:00:10.200000Z',
    ]);
    expect(written(run)[1]?.metadata?.resourceVersion).toBe('7');
  });

  test('B161 an old lease is taken over at once, and one that is removed is created again', () => {
    const run = start();
    run.settle('getLease', ok(old));
    expect(written(run)[0]).toMatchObject({ metadata: { resourceVersion: '7' }, spec: { leaseDurationSeconds: 40 } });
    run.settle('updateLease', fail('NotFound'));
    run.settle('createLease', ok(old));
    expect(run.untilTimer()).toBe(QUARTER);
  });

  test('B161 a lease that was created meanwhile, or written by another hand, is read again at once', () => {
    const run = start();
    run.settle('getLease', fail('NotFound'));
    run.settle('createLease', fail('AlreadyExists'));
    run.settle('getLease', ok(old));
    run.settle('updateLease', fail('Conflict'));
    run.settle('getLease', ok({ ...old, metadata: { name: 'n1', resourceVersion: '8' } }));
    expect(written(run).at(-1)?.metadata?.resourceVersion).toBe('8');
  });

  test('conflicts without an end are waited for after the fifth', () => {
    const run = start();
    for (let conflict = 1; conflict <= 6; conflict += 1) {
      run.settle('getLease', ok(old));
      run.settle('updateLease', fail('Conflict'));
    }
    expect(run.pending()).toEqual([]);
    expect(run.untilTimer()).toBeGreaterThan(0);
  });

  test('B155 the owner of a lease is the Node of this machine', () => {
    const run = start();
    run.settle('getLease', ok(old));
    expect(written(run)[0]?.metadata?.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-1' },
    ]);
  });

  test('an outage is told of once, and the lease is written within 10 s of its end', () => {
    const run = start();
    for (let outage = 0; outage < 20; outage += 1) {
      run.settle('getLease', away);
      expect(run.untilTimer()).toBeLessThan(10_000);
      run.advance(run.untilTimer() ?? 0);
    }
    expect(run.parent.events()).toEqual([
      'Warning NodeLeaseNotRenewed lease of node n1 cannot be renewed, which is tried again until it can: UNAVAILABLE happened',
    ]);
    run.settle('getLease', ok(old));
    run.settle('updateLease', ok(old));
    expect(run.snapshot.context.failures).toBe(0);
  });
});
