import { describe, expect, test } from '@jest/globals';
import { volumeMachine } from '../../machines/pod/volume.machine.ts';
import type { VolumeEvent, VolumeInput } from '../../machines/pod/volume.types.ts';
import { deferred, drive } from '../support/drive.ts';
import { pod } from '../support/fixtures.ts';
import { expectAllTransitionsWalked, fail, neverAbandoned, ok, oneAtATime, walk } from '../support/paths.ts';

const downward = { name: 'info', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } };
const input =
  (over: Partial<VolumeInput> = {}) =>
  (world: Pick<VolumeInput, 'env' | 'parent'>) => ({ ...world, pod: pod(), volume: downward, ...over });
const target = deferred(volumeMachine);
const start = (over: Partial<VolumeInput> = {}) => drive(target, { input: input(over) });
const labelled = (app: string): VolumeEvent => ({
  type: 'volume.desired',
  pod: pod({ metadata: { labels: { app } } }),
});
const done = ok({});

describe('the paths of a volume', () => {
  const report = walk(volumeMachine, {
    inputs: { 'a volume': input(), 'without a watch': input({ refreshPeriodMs: 60_000 }) },
    events: (run): VolumeEvent[] => [
      { type: 'volume.stale' },
      { type: 'volume.hold' },
      labelled('web'),
      { type: 'volume.desired', pod: run.snapshot.context.pod },
    ],
    outcomes: { mountVolume: [done, ok({ refreshAfterMs: 480_000 }, 'a token'), fail('FailedMount')] },
    key: ({ context }) => [
      context.mounted,
      context.stale,
      context.held,
      Math.min(context.failures, 2),
      context.pod.metadata.labels,
      context.refreshAfterMs,
    ],
    invariants: {
      'one effect at a time': oneAtATime(['mountVolume']),
      'no effect is abandoned': neverAbandoned(['mountVolume']),
      'nothing is begun once it is held': (run) =>
        run.snapshot.context.held && run.calls.some((call) => call.state === 'pending' && call.step === run.steps)
          ? 'an effect began after the hold'
          : undefined,
    },
  });

  test('keep the invariants', () => expect(report.problems).toEqual([]));
  test('walk every transition', () => expectAllTransitionsWalked(report));
});

describe('a volume', () => {
  const told = (run: ReturnType<typeof start>) =>
    run.parent
      .ofType<{ type: 'volume.changed'; mounted: boolean; busy: boolean }>('volume.changed')
      .map(({ mounted, busy }) => `${mounted ? 'mounted' : 'not mounted'}${busy ? ', busy' : ''}`);

  test('tells its pod when it is mounted, and is left alone then', () => {
    const run = start();
    run.settle('mountVolume', done);
    expect(told(run)).toEqual(['not mounted, busy', 'mounted']);
    run.advance(365 * 86_400_000);
    expect(run.calls).toHaveLength(1);
  });

  test('a failure is told with the words of the host, and tried again after 0.5 s, 1 s, 2 s … 122 s', () => {
    const run = start();
    const waits: number[] = [];
    for (let i = 0; i < 10; i++) {
      run.settle('mountVolume', fail('FailedMount', 'MountVolume.SetUp failed for volume "info" : no'));
      waits.push(run.untilTimer()!);
      run.advance(run.untilTimer()!);
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 122_000, 122_000]);
    expect(run.parent.events()[0]).toBe('Warning FailedMount MountVolume.SetUp failed for volume "info" : no');
  });

  test('B105 a change of what it shows is written at once, without any period', () => {
    const run = start();
    run.settle('mountVolume', done);
    run.send({ type: 'volume.stale' });
    expect(run.snapshot.value).toBe('refreshing');
  });

  test('a change that comes while it is written is written after it', () => {
    const run = start();
    run.send({ type: 'volume.stale' });
    run.settle('mountVolume', done);
    expect(run.snapshot.value).toBe('refreshing');
    run.settle('mountVolume', done);
    expect(run.snapshot.value).toBe('mounted');
  });

  test('an object that is there at last is mounted without waiting for the back-off', () => {
    const run = start();
    run.settle('mountVolume', fail('FailedMount'));
    run.send({ type: 'volume.stale' });
    expect(run.snapshot.value).toBe('mounting');
  });

  test('labels that it shows make it new, labels that it does not show do not', () => {
    const run = start();
    run.settle('mountVolume', done);
    run.send(labelled('web'));
    expect(run.snapshot.value).toBe('refreshing');
    const other = start({ volume: { name: 'v', configMap: { name: 'c' } } });
    other.settle('mountVolume', done);
    other.send(labelled('web'));
    expect(other.snapshot.value).toBe('mounted');
  });

  test('B166 a token is renewed when it is due, and what was mounted stays while that fails', () => {
    const run = start();
    run.settle('mountVolume', ok({ refreshAfterMs: 480_000 }));
    run.advance(480_000);
    run.settle('mountVolume', fail('InternalError'));
    expect(told(run).at(-1)).toBe('mounted');
    run.advance(500);
    expect(run.snapshot.value).toBe('refreshing');
  });

  test('B113 nothing is mounted and nothing told of for a pod that ends', () => {
    const run = start();
    run.send({ type: 'volume.hold' });
    run.settle('mountVolume', fail('FailedMount'));
    run.advance(3_600_000);
    expect(run.snapshot.value).toBe('held');
    expect(run.calls).toHaveLength(1);
    expect(run.parent.events()).toEqual([]);
  });
});
