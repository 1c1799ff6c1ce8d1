import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../machines/kubernetes.types.ts';
import type { ContainerPlan } from '../../../machines/pod/container.types.ts';
import { keptReplacements } from '../../../machines/pod/policy/kept-stop.ts';
import { planContainers } from '../../../machines/pod/policy/plan-containers.ts';
import {
  firstVerdicts,
  hasStarted,
  isReady,
  streakAfter,
  verdictOf,
  wantedProbes,
} from '../../../machines/pod/policy/probe-verdict.ts';
import type { Verdicts } from '../../../machines/pod/probe.types.ts';
import { container, instance, observed, pod, sandbox } from '../../support/fixtures.ts';

const probe = { exec: { command: ['true'] } };
const all = { startupProbe: probe, livenessProbe: probe, readinessProbe: probe };
const run = { do: 'run', reason: 'desired' } as ContainerPlan;
const stop: ContainerPlan = { do: 'stop', reason: 'podStopping', message: '', gracePeriodSeconds: 30 };
const alive = instance();
const { id } = alive;

test('a verdict comes with as many equal results in a row as its threshold', () => {
  const results = [true, false, false, true, false, false, false, true];
  let streak: ReturnType<typeof streakAfter> | undefined;
  const verdicts = results.map((healthy) => {
    streak = streakAfter(streak, healthy);
    return verdictOf(streak, { ...probe, successThreshold: 1, failureThreshold: 3 });
  });
  expect(verdicts).toEqual([true, undefined, undefined, true, undefined, undefined, false, true]);
  expect(verdictOf({ healthy: true, count: 1 }, { successThreshold: 2 })).toBeUndefined();
});

describe('whether a container has started and is ready', () => {
  test.each<[string, Partial<Container>, Partial<Verdicts> | undefined, boolean, boolean]>([
    ['without probes it is as soon as it runs', {}, undefined, true, true],
    ['nothing is known of its startup', { startupProbe: probe }, undefined, false, false],
    ['its startup probe has succeeded', { startupProbe: probe }, { startup: true }, true, true],
    ['its startup probe has failed', { startupProbe: probe }, { startup: false }, false, false],
    ['nothing is known of its readiness', { readinessProbe: probe }, undefined, true, false],
    ['it was found ready', { readinessProbe: probe }, { readiness: true }, true, true],
    ['it was found not ready', { readinessProbe: probe }, { readiness: false }, true, false],
    ['it was found ready and has not started', all, { readiness: true }, false, false],
    ['what is known is of another instance', all, { id: 'c0', startup: true, readiness: true }, false, false],
  ])('%s', (_, over, known, started, ready) => {
    const verdicts = known && { id, ...known };
    expect([hasStarted(container(over), alive, verdicts), isReady(container(over), alive, verdicts)]).toEqual([
      started,
      ready,
    ]);
  });

  test('one that does not run has neither started nor is ready', () => {
    const ended = instance({ state: 'exited' });
    const verdicts = { id, startup: true, readiness: true };
    expect([hasStarted(container(all), ended, verdicts), isReady(container(), ended, undefined)]).toEqual([
      false,
      false,
    ]);
  });
});

describe('the probes of a running instance', () => {
  const wanted = (
    verdicts?: Partial<Verdicts>,
    plan = run,
    over: Partial<Container> = all,
    kind = 'regular' as const,
  ) => wantedProbes({ container: container(over), kind, plan }, alive, verdicts && { id, ...verdicts });

  test('B050 liveness and readiness do not begin before the startup probe has succeeded', () => {
    expect(wanted()).toEqual(['startup']);
    expect(wanted({ startup: true })).toEqual(['readiness', 'liveness']);
  });

  test('B049 the next instance begins with its startup again', () => {
    expect(wanted({ id: 'c0', startup: true, readiness: true })).toEqual(['startup']);
  });

  test('are none once one has decided that it is to end, but for its readiness', () => {
    expect(wanted({ startup: false })).toEqual([]);
    expect(wanted({ startup: true, liveness: false })).toEqual(['readiness']);
  });

  test('B046 are its readiness alone once it is to end', () => {
    expect(wanted({ startup: true }, stop)).toEqual(['readiness']);
    expect(wanted({ startup: true }, { do: 'hold', reason: 'podStopping' })).toEqual(['readiness']);
    expect(wanted(undefined, stop)).toEqual([]);
  });

  test('are none of an init container that is no sidecar, and none that are not asked for', () => {
    expect(wanted({ startup: true }, run, {})).toEqual([]);
    expect(wantedProbes({ container: container(all), kind: 'init', plan: run }, alive, undefined)).toEqual([]);
  });
});

describe('a running container whose probe failed', () => {
  const planOf = (over: Partial<Container>, verdicts: Partial<Verdicts>, spec: object = {}) =>
    planContainers(pod({ spec: { containers: [container(over)], terminationGracePeriodSeconds: 30, ...spec } }), {
      observed: observed({ sandboxes: [sandbox()], containers: [instance({ hash: '' })] }),
      verdicts: { app: { id, ...verdicts } },
      now: 0,
    });

  test('is stopped and followed by another one, whatever it ends with', () => {
    const plan = planOf({ livenessProbe: probe }, { liveness: false }, { restartPolicy: 'OnFailure' });
    expect(plan.containers['app']).toEqual({
      do: 'stop',
      reason: 'livenessFailed',
      message: 'Container app failed liveness probe, will be restarted',
      gracePeriodSeconds: 30,
    });
    expect(plan.replaced).toEqual([id]);
  });

  test('is stopped for good where nothing is run again', () => {
    const plan = planOf({ startupProbe: probe }, { startup: false }, { restartPolicy: 'Never' });
    expect(plan.containers['app']).toMatchObject({ do: 'stop', message: 'Container app failed startup probe' });
    expect(plan.replaced).toEqual([]);
  });

  test('has the grace of the probe that failed, at least two seconds', () => {
    const grace = (seconds: number) =>
      planOf({ livenessProbe: { ...probe, terminationGracePeriodSeconds: seconds } }, { liveness: false }).containers[
        'app'
      ];
    expect([grace(5), grace(1)]).toMatchObject([{ gracePeriodSeconds: 5 }, { gracePeriodSeconds: 2 }]);
  });

  test('a sidecar is stopped in the same way, and holds up what comes after it until it has started', () => {
    const side = { name: 'side', image: 'i', restartPolicy: 'Always', ...all };
    const running = instance({ name: 'side', hash: '' });
    const now = (verdicts: Partial<Verdicts>) =>
      planContainers(pod({ spec: { initContainers: [side] } }), {
        observed: observed({ sandboxes: [sandbox()], containers: [running] }),
        verdicts: { side: { id: running.id, ...verdicts } },
        now: 0,
      }).containers;
    expect(now({})).toMatchObject({ side: { do: 'run' }, app: { do: 'hold', reason: 'initializing' } });
    expect(now({ startup: true })).toMatchObject({ side: { do: 'run' }, app: { do: 'run' } });
    expect(now({ startup: true, liveness: false })).toMatchObject({
      side: { do: 'stop', message: 'Init container side failed liveness probe' },
    });
  });

  test('is followed also by an agent that is started after it was stopped, unless nothing is run again', () => {
    const stops = { app: { id, killAt: 0, gracePeriodSeconds: 30, reason: 'livenessFailed' as const } };
    expect(keptReplacements(stops, pod({ spec: { restartPolicy: 'OnFailure' } }))).toEqual([id]);
    expect(keptReplacements(stops, pod({ spec: { restartPolicy: 'Never' } }))).toEqual([]);
  });
});

describe('what is known of probes at first', () => {
  const seen = observed({ containers: [alive] });
  const shown = {
    ...pod(),
    status: {
      phase: 'Running',
      containerStatuses: [
        { name: 'app', containerID: `rt://${id}`, started: true, ready: true, image: '', imageID: '', restartCount: 0 },
      ],
    },
  };

  test('is what an earlier agent kept of what the runtime still has', () => {
    const kept = { app: { id, readiness: false }, old: { id: 'gone', readiness: true } };
    expect(firstVerdicts(kept, undefined, seen, 'rt')).toEqual({ app: { id, readiness: false } });
  });

  test('is, where both are there, what was kept, and a start that only the API knows', () => {
    const both = (known: Partial<Verdicts>) => firstVerdicts({ app: { id, ...known } }, shown, seen, 'rt')['app'];
    expect(both({ readiness: true })).toEqual({ id, startup: true, readiness: true });
    expect(both({ readiness: false })).toEqual({ id, startup: true, readiness: false });
    expect(both({ liveness: false })).toEqual({ id, startup: true, liveness: false, readiness: true });
  });

  test('is else what the API shows of the very same container', () => {
    expect(firstVerdicts(undefined, shown, seen, 'rt')).toEqual({ app: { id, startup: true, readiness: true } });
    expect(firstVerdicts({ app: { id: 'gone' } }, shown, seen, 'rt')).toEqual({
      app: { id, startup: true, readiness: true },
    });
    expect(firstVerdicts(undefined, shown, seen, 'other')).toEqual({});
    expect(firstVerdicts(undefined, undefined, seen, 'rt')).toEqual({});
  });
});
