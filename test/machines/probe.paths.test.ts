import { describe, expect, test } from '@jest/globals';
import { probeMachine } from '../../machines/pod/probe.machine.ts';
import type { ProbeInput, ProbeJudged, ProbeType } from '../../machines/pod/probe.types.ts';
import { deferred, drive } from '../support/drive.ts';
import { container, pod } from '../support/fixtures.ts';
import { expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';

const spec = { exec: { command: ['true'] }, timeoutSeconds: 1, periodSeconds: 10, failureThreshold: 3 };
const input =
  (over: Partial<ProbeInput> = {}) =>
  (world: Pick<ProbeInput, 'env' | 'parent'>): ProbeInput => ({
    ...world,
    type: 'readiness',
    probe: { ...spec, ...over.probe },
    pod: pod(),
    container: container(),
    fieldPath: 'spec.containers{app}',
    id: 'c1',
    startedAt: world.env.elapsed(),
    adopted: false,
    hasStarted: false,
    ...over,
  });
const target = deferred(probeMachine);
const start = (over: Partial<ProbeInput> = {}) =>
  drive(target, { input: (world) => input(over)({ ...world, ...(over.env && { env: over.env }) }) });
type Run = ReturnType<typeof start>;

const healthy = ok({ result: 'success', message: '' }, 'healthy');
const sick = ok({ result: 'failure', message: 'HTTP probe failed with statuscode: 500' }, 'sick');
const odd = ok({ result: 'warning', message: 'redirected' }, 'warning');
const judged = (run: Run) => run.parent.ofType<ProbeJudged>('probe.judged').map(({ healthy: is }) => is);
/** Probes at its time, with these results; what is new is kept. */
function probes(run: Run, ...results: (typeof healthy)[]): void {
  for (const result of results) {
    if (run.pending('runProbe').length === 0) run.advance(run.untilTimer() ?? 0);
    run.settle('runProbe', result);
    if (run.pending('keepVerdict').length > 0) run.settle('keepVerdict', ok());
  }
}

describe('the paths of a probe', () => {
  const types: ProbeType[] = ['startup', 'liveness', 'readiness'];
  const report = walk(probeMachine, {
    inputs: {
      ...Object.fromEntries(types.map((type) => [type, input({ type, probe: { ...spec, failureThreshold: 2 } })])),
      'of an adopted container': input({ adopted: true, verdict: true }),
    },
    events: () => [],
    outcomes: { runProbe: [healthy, sick, odd, fail('UNAVAILABLE')], keepVerdict: [ok(), fail('EIO')] },
    key: ({ context }) => [context.type, context.verdict, context.streak, context.errors, context.unkept],
    invariants: {
      'one effect at a time': oneAtATime(['runProbe', 'keepVerdict']),
      'what is told is news': (run) => {
        const told = run.parent.ofType<ProbeJudged>('probe.judged').map((event) => `${event.healthy} ${event.kept}`);
        return told.some((is, i) => i > 0 && is === told[i - 1]) ? `told ${told.join(', ')}` : undefined;
      },
    },
    maxDepth: 9,
  });

  test('keep the invariants', () => expect(report.problems).toEqual([]));
  test('walk every transition', () => expectAllTransitionsWalked(report));
});

describe('a probe', () => {
  test('begins when the initial delay is over, which counts from the start of the container', () => {
    const run = start({ probe: { ...spec, initialDelaySeconds: 60 } });
    run.advance(59_999);
    expect(run.calls).toEqual([]);
    run.advance(1);
    expect(run.pending('runProbe')).toHaveLength(1);
  });

  test('comes once a period, counted from the beginning of the last one', () => {
    const run = start();
    run.advance(0);
    run.advance(4_000);
    run.settle('runProbe', healthy);
    run.settle('keepVerdict', ok());
    expect(run.untilTimer()).toBe(6_000);
  });

  test('tells what is new once its threshold is reached, and only then', () => {
    const run = start({ probe: { ...spec, successThreshold: 2 } });
    probes(run, healthy, sick, healthy);
    expect(judged(run)).toEqual([]);
    probes(run, healthy, healthy, sick, sick, healthy, sick, sick);
    expect(judged(run)).toEqual([true]);
    probes(run, sick, sick);
    expect(judged(run)).toEqual([true, false]);
  });

  test('is not ready before it was found to be, and alive before it was found not to be', () => {
    const ready = start();
    probes(ready, sick, sick, sick, sick);
    expect([judged(ready), ready.calls.filter((c) => c.src === 'keepVerdict')]).toEqual([[], []]);
    const alive = start({ type: 'liveness' });
    probes(alive, healthy, healthy);
    expect(judged(alive)).toEqual([]);
  });

  test('keeps a verdict before it tells it, and tells it also where it cannot be kept', () => {
    const run = start();
    run.advance(0);
    run.settle('runProbe', healthy);
    expect(judged(run)).toEqual([]);
    expect(run.pending('keepVerdict')[0]!.input).toEqual({
      podUid: pod().metadata.uid,
      name: 'app',
      verdicts: { id: 'c1', readiness: true },
    });
    run.settle('keepVerdict', fail('EIO'));
    expect(judged(run)).toEqual([true]);
    expect(run.untilTimer()).toBe(10_000);
  });

  test('what could not be kept is kept later, with the startup that was passed, and not told of as news', () => {
    const run = start({ hasStarted: true });
    run.advance(0);
    run.settle('runProbe', healthy);
    run.settle('keepVerdict', fail('ENOSPC'));
    run.advance(10_000);
    run.settle('runProbe', healthy);
    run.settle('keepVerdict', ok());
    expect(run.calls.filter((c) => c.src === 'keepVerdict').map((c) => c.input)).toMatchObject([
      { verdicts: { id: 'c1', startup: true, readiness: true } },
      { verdicts: { id: 'c1', startup: true, readiness: true } },
    ]);
    expect(run.parent.ofType<ProbeJudged>('probe.judged').map(({ healthy: is, kept }) => [is, kept])).toEqual([
      [true, false],
      [true, true],
    ]);
    run.advance(10_000);
    run.settle('runProbe', healthy);
    expect(run.pending('keepVerdict')).toEqual([]);
  });

  test('a startup that could not be kept is tried again each period, and it is over then', () => {
    const run = start({ type: 'startup' });
    run.advance(0);
    run.settle('runProbe', healthy);
    for (let tries = 0; tries < 3; tries += 1) {
      run.settle('keepVerdict', fail('ENOSPC'));
      expect(run.untilTimer()).toBe(10_000);
      run.advance(10_000);
    }
    run.settle('keepVerdict', ok());
    expect(run.snapshot.status).toBe('done');
    expect(run.calls.filter((c) => c.src === 'runProbe')).toHaveLength(1);
  });

  test.each([
    ['startup', [sick, healthy], true],
    ['startup', [sick, sick, sick], false],
    ['liveness', [healthy, sick, sick, sick], false],
  ] as const)('%s ends with a verdict that stands (%#)', (type, results, verdict) => {
    const run = start({ type });
    probes(run, ...results);
    expect(judged(run)).toEqual([verdict]);
    expect(run.snapshot.status).toBe('done');
  });

  test('that cannot be made is tried three times at once, and then counts for nothing', () => {
    const run = start({ probe: { ...spec, failureThreshold: 1 }, verdict: true });
    run.advance(0);
    for (let i = 0; i < 3; i++) run.settle('runProbe', fail('UNAVAILABLE', 'the runtime does not answer'));
    expect(run.pending('runProbe')).toEqual([]);
    expect(judged(run)).toEqual([]);
    expect(run.untilTimer()).toBe(10_000);
    expect(run.parent.events()).toEqual([
      'Warning Unhealthy Readiness probe errored and resulted in unknown state: the runtime does not answer',
    ]);
  });

  test('tells of failures and warnings with the container', () => {
    const run = start({ type: 'liveness' });
    probes(run, sick, odd, healthy);
    expect(run.parent.events()).toEqual([
      'Warning Unhealthy Liveness probe failed: HTTP probe failed with statuscode: 500',
      'Warning ProbeWarning Liveness probe warning: redirected',
    ]);
    expect(run.parent.ofType<{ type: 'event.happened'; event: object }>('event.happened')[0]!.event).toMatchObject({
      fieldPath: 'spec.containers{app}',
      pod: { uid: pod().metadata.uid },
    });
  });

  test('of a container that was there already begins within a period, and within a second where it is not known to be well', () => {
    const first = (over: Partial<ProbeInput>, at: number) =>
      drive(target, {
        input: (world) => ({ ...input(over)(world), env: { ...world.env, random: () => at } }),
      }).untilTimer();
    expect(first({ adopted: true, verdict: true }, 0.5)).toBe(5_000);
    expect(first({ adopted: true, type: 'liveness' }, 0.5)).toBe(5_000);
    expect(first({ adopted: true }, 0.5)).toBe(500);
    expect(first({ adopted: false }, 0.5)).toBe(0);
  });
});
