import { describe, expect, test } from '@jest/globals';
import { deferred, drive, type DriveOptions, type Driven } from '../support/drive.ts';
import { podMachine } from '../../machines/pod/pod.machine.ts';
import type { PodStatus } from '../../machines/kubernetes.types.ts';
import type { PodEvent, PodInput } from '../../machines/pod/pod.types.ts';
import type { ObservedContainer, ObservedPod } from '../../machines/runtime.types.ts';
import { container, instance, observed, pod, sandbox, T0 } from '../support/fixtures.ts';
import { emit, expectAllTransitionsWalked, fail, neverAbandoned, ok, walk } from '../support/paths.ts';

type Run = Driven<typeof podMachine>;
type Make = DriveOptions<typeof podMachine>['input'];

const settings = {
  backoffInitialMs: 10_000,
  backoffMaxMs: 300_000,
  retryMs: 1_000,
  podRetryMs: 10_000,
  hostIPs: ['192.0.2.1'],
  runtimeName: 'test',
};

const input =
  (over: Partial<PodInput> = {}): Make =>
  ({ env, parent }) => ({
    env,
    parent,
    pod: pod(),
    uid: 'uid-1',
    name: 'web',
    namespace: 'default',
    observed: observed(),
    networkReady: true,
    settings,
    ...over,
  });

const noHash = { hash: '' };
const running = observed({ sandboxes: [sandbox()], containers: [instance(noHash)] });
const never = pod({ spec: { restartPolicy: 'Never', activeDeadlineSeconds: 600 } });

const withVolume = pod({
  spec: {
    volumes: [{ name: 'data', configMap: { name: 'settings' } }],
    containers: [container({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
  },
});

/** The runtime's answer to a look that begins now. */
const look = (run: Run, over: Partial<ObservedPod> = {}): ObservedPod => {
  const at = run.env.now() + 1;
  const { sandboxes, containers } = { ...run.snapshot.context.observed, ...over };
  return {
    ...observed({ at }),
    sandboxes: sandboxes.map((s) => ({ ...s, at })),
    containers: containers.map((c) => ({ ...c, at })),
  };
};

const exited = (c: ObservedContainer, at: number): ObservedContainer => ({
  ...c,
  state: 'exited',
  finishedAt: at,
  exitCode: 0,
  at,
});

const changed = (instanceOrGone: Partial<Extract<PodEvent, { type: 'container.changed' }>>, label: string) =>
  emit({ type: 'container.changed', name: 'app', busy: false, ...instanceOrGone } as never, label);

const hasVolume = (run: Run) => run.snapshot.context.pod.spec.volumes !== undefined;

function events(run: Run): PodEvent[] {
  const { context } = run.snapshot;
  const at = run.env.now() + 1;
  // What happens to any pod is walked with the others; here it is the volume that counts.
  if (hasVolume(run)) return [{ type: 'pod.removed' }];
  const shorter = pod({ spec: { ...context.pod.spec, terminationGracePeriodSeconds: 10 } });
  const list: PodEvent[] = [
    ...(run.steps < 6 ? [{ type: 'pod.desired' as const, pod: shorter }] : []),
    { type: 'pod.removed' },
    { type: 'pod.terminate', request: { gracePeriodSeconds: 2 } },
    { type: 'network.ready', ready: !context.networkReady },
  ];
  // What leads nowhere is walked once.
  if (run.steps === 0)
    list.push(
      { type: 'node.addressed', hostIPs: ['192.0.2.2'] },
      { type: 'event.happened', event: { type: 'Normal', reason: 'Pulled', message: '' } },
    );
  if (context.predecessorUid) list.push({ type: 'predecessor.gone' });
  if (context.observed.sandboxes.some((s) => s.state === 'ready'))
    list.push({ type: 'pod.observed', observed: look(run, { sandboxes: [sandbox({ state: 'notReady', ips: [] })] }) });
  const alive = context.observed.containers.filter((c) => c.state === 'running');
  if (alive.length)
    list.push({ type: 'pod.observed', observed: look(run, { containers: alive.map((c) => exited(c, at)) }) });
  if (alive[0]) list.push({ type: 'container.exited', container: exited(alive[0], at) });
  return list;
}

const calls = (run: Run, src: string) => run.calls.filter((c) => c.src === src);
const proof = (run: Run) => {
  const released = calls(run, 'releasePod')[0];
  if (!released) return undefined;
  const looks = calls(run, 'observePod').filter(
    (c) => c.state === 'ok' && (c.endedAt ?? Infinity) <= released.startedAt,
  );
  const { containers } = run.snapshot.context.observed;
  if (containers.some((c) => c.state === 'running' && c.at <= released.startedAt))
    return 'released while a container was seen running';
  return looks.length > 0 ? undefined : 'released without a fresh look';
};

const report = walk(podMachine, {
  inputs: {
    'a new pod': input(),
    'a pod with a volume': input({ pod: withVolume }),
    'adoption of a running pod': input({ observed: running }),
    'an orphan': input({ pod: undefined, observed: running }),
    'waits for its predecessor': input({ predecessorUid: 'uid-0' }),
    'no network yet': input({ networkReady: false }),
    'ended while the agent was down': input({
      pod: never,
      observed: observed({ sandboxes: [sandbox()], containers: [instance({ ...noHash, state: 'exited' })] }),
    }),
    'its sandbox died while the agent was down': input({
      observed: observed({ sandboxes: [sandbox({ state: 'notReady', ips: [] })] }),
    }),
    'runs once, with a deadline': input({ pod: never }),
    'its deadline passed while the agent was down': input({
      pod: pod({ spec: { activeDeadlineSeconds: 5 } }),
      observed: observed({ sandboxes: [sandbox({ createdAt: T0 - 10_000 })] }),
    }),
  },
  events,
  outcomes: {
    ensureCgroup: [ok(), fail('EIO')],
    makeDirectories: [ok({ highestLogAttempt: {} }), fail('EIO')],
    followObjects: (_call, run) =>
      hasVolume(run)
        ? [
            emit({ type: 'object.changed', reference: { kind: 'ConfigMap', name: 'settings' } } as never),
            fail('Bug', 'no'),
          ]
        : [],
    volume: (_call, run) => [
      ...(run.snapshot.context.mounted.length
        ? []
        : [emit({ type: 'volume.changed', name: 'data', mounted: true, busy: false } as never, 'mounted')]),
      fail('Bug'),
    ],
    runSandbox: (call, run) => {
      const { attempt } = call.input as { attempt: number };
      return [
        ok(sandbox({ id: `s${attempt + 1}`, attempt, at: run.env.now() })),
        fail('NameReserved'),
        fail('DEADLINE_EXCEEDED'),
      ];
    },
    stopSandbox: [ok(), fail('DEADLINE_EXCEEDED')],
    observePod: (_call, run) => [
      ok(look(run), 'as known'),
      ok(look(run, { sandboxes: [], containers: [] }), 'nothing'),
      ...(run.snapshot.matches('terminating')
        ? [ok(look(run, { containers: [instance({ ...noHash, id: 'late' })] }), 'started late')]
        : []),
      fail('UNAVAILABLE'),
    ],
    releasePod: [ok(), fail('EBUSY')],
    recordEnd: [ok(), fail('ENOSPC')],
    removePod: [ok(), fail('EBUSY')],
    container: (_call, run) => {
      if (hasVolume(run)) return [changed({}, 'idle'), fail('Bug')];
      const { plan, observed: seen } = run.snapshot.context;
      const at = run.env.now() + 1;
      const sandboxId = plan.sandbox.do === 'keep' ? plan.sandbox.id : 's1';
      const attempt = seen.containers.length;
      const [newest] = seen.containers;
      const own = plan.containers['app'];
      if (own?.do === 'run' && newest?.state !== 'running')
        return [
          changed({ busy: true }, 'busy'),
          changed({ instance: instance({ ...noHash, attempt, id: `app-${attempt}`, sandboxId, at }) }, 'runs'),
          changed({ waiting: { reason: 'ErrImagePull', message: 'no' } }, 'waits'),
          ...(run.snapshot.context.pod.spec.restartPolicy === 'Never'
            ? [changed({ instance: { ...exited(instance(noHash), at), startedAt: undefined } }, 'could not start')]
            : []),
        ];
      if (newest?.state === 'running')
        return [
          changed({ instance: exited(newest, at) }, 'ended'),
          changed({ gone: { id: newest.id, at } }, 'gone'),
          ...(run.steps < 2
            ? [emit({ type: 'container.probed', name: 'app', verdicts: { id: newest.id } } as never)]
            : []),
        ];
      return [changed({}, 'idle')];
    },
  },
  key: ({ context }) => [
    context.observed.containers.map((c) => c.state).slice(0, 2),
    context.observed.sandboxes.map((s) => s.state).slice(0, 2),
    context.termination !== undefined,
    context.removed,
    context.networkReady,
    context.busy.length,
    context.prepared,
    context.recorded,
    context.pod.spec.volumes !== undefined,
    context.mounted.length,
    Object.keys(context.volumes).length,
    context.mourned.length,
    context.plan.finished,
    context.failures > 0,
    Object.keys(context.waiting).length,
    context.pod.spec.restartPolicy,
  ],
  invariants: {
    'nothing is released without proof': proof,
    'effects that change something are not cut': neverAbandoned([
      'runSandbox',
      'stopSandbox',
      'releasePod',
      'removePod',
    ]),
    'no container has a sandbox before there is a cgroup': (run) => {
      const { told } = run.snapshot.context;
      const inputs = calls(run, 'container').map((c) => c.input as { sandbox?: object });
      const isMade = calls(run, 'ensureCgroup').some((c) => c.state === 'ok');
      const has = [...Object.values(told), ...inputs].some((each) => each.sandbox);
      return run.snapshot.matches('syncing') && has && !isMade ? 'a container may start without a cgroup' : undefined;
    },
    'no sandbox is asked for after the end was': (run) => {
      const { termination, env } = run.snapshot.context;
      // Ends are counted in the process's own time, calls by the wall clock.
      const ended = termination && termination.startedAt + env.now() - env.elapsed();
      const late = calls(run, 'runSandbox').find((c) => ended !== undefined && c.startedAt > ended);
      return late && 'runSandbox after termination';
    },
  },
  maxDepth: 12,
});

describe('every path of a pod', () => {
  test('keeps the invariants', () => {
    expect(report.problems).toEqual([]);
  });

  test('together they walk every transition', () => {
    expectAllTransitionsWalked(report);
  });
});

test('a deadline that lies further off than a timer of the platform reaches is waited for in full', () => {
  const run = drive(deferred(podMachine), {
    input: input({ pod: pod({ spec: { activeDeadlineSeconds: 60 * 86_400 } }), observed: running }),
  });
  run.advance(60 * 86_400_000 - 1);
  expect(run.snapshot.context.termination).toBeUndefined();
  run.advance(3);
  expect(run.snapshot.context.termination?.failed?.reason).toBe('DeadlineExceeded');
  expect(run.parent.events()).toContain(
    'Normal DeadlineExceeded Pod was active on the node longer than the specified deadline',
  );
});

test.each([
  ['ensureCgroup', 'makeDirectories', ok({ highestLogAttempt: {} })],
  ['makeDirectories', 'ensureCgroup', ok()],
] as const)('after %s failed, nothing is begun or cleared away while %s is under way', (failing, other, answer) => {
  const run = drive(deferred(podMachine), { input: input({ pod: pod() }) });
  run.settle(failing, fail('EIO'));
  run.send({ type: 'pod.removed' });
  run.advance(60_000);
  expect(run.snapshot.matches('syncing')).toBe(true);
  run.settle(other, answer);
  expect(run.snapshot.matches('terminating')).toBe(true);
});

test('what is left in its cgroup is killed only where a first try to give it back has failed', () => {
  const run = drive(deferred(podMachine), { input: input({ pod: undefined }) });
  run.settle('observePod', ok(look(run, {})));
  run.settle('recordEnd', ok());
  run.settle('releasePod', fail('EBUSY'));
  run.advance(10_000);
  expect(calls(run, 'releasePod').map(({ input }) => (input as { leftovers: string }).leftovers)).toEqual([
    'keep',
    'kill',
  ]);
});

test('a container or volume actor that throws is told of and made anew after a second, however often the pod plans meanwhile', () => {
  const run = drive(deferred(podMachine), { input: input({ pod: withVolume, observed: running }) });
  run.settle('ensureCgroup', ok());
  run.settle('makeDirectories', ok({ highestLogAttempt: {} }));
  run.send({ type: 'volume.changed', name: 'data', mounted: true, busy: false });
  run.settle('container', fail('Bug'));
  run.settle('volume', fail('Bug'));
  const made = () => ['container', 'volume'].map((src) => calls(run, src).length);
  run.send({ type: 'node.addressed', hostIPs: ['192.0.2.9'] });
  run.advance(999);
  expect(made()).toEqual([1, 1]);
  run.advance(1);
  expect(made()).toEqual([2, 2]);
  expect(run.parent.events()).toEqual([
    'Warning FailedSync container.app failed and is started again: Bug happened',
    'Warning FailedSync volume.data failed and is started again: Bug happened',
  ]);
});

test('B083 Ready follows the conditions that others set for the readiness gates; ContainersReady does not', () => {
  const gated = pod({ spec: { readinessGates: [{ conditionType: 'example.com/gate' }] } });
  const run = drive(deferred(podMachine), { input: input({ pod: gated, observed: running }) });
  const said = (status: string) => ({
    type: 'pod.desired' as const,
    pod: { ...gated, status: { conditions: [{ type: 'example.com/gate', status }] } },
  });
  run.settle('ensureCgroup', ok());
  for (const status of ['False', 'True', 'False']) run.send(said(status));
  const statuses = run.parent.ofType<{ type: string; status: PodStatus }>('pod.status').map(({ status }) => status);
  const shown = (type: string) =>
    statuses
      .map(({ conditions }) => conditions?.find((each) => each.type === type))
      .map((c) => [c?.status, c?.message]);
  expect(shown('Ready')).toEqual([
    ['False', 'corresponding condition of pod readiness gate "example.com/gate" does not exist.'],
    ['False', 'the status of pod readiness gate "example.com/gate" is not "True", but False'],
    ['True', undefined],
    ['False', 'the status of pod readiness gate "example.com/gate" is not "True", but False'],
  ]);
  expect(shown('ContainersReady')).toEqual(statuses.map(() => ['True', undefined]));
  expect(statuses[0]?.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe('ReadinessGatesNotReady');
  expect(shown('example.com/gate').slice(1)).toEqual([
    ['False', undefined],
    ['True', undefined],
    ['False', undefined],
  ]);
});
