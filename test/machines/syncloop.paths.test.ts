import { describe, expect, test } from '@jest/globals';
import type { AnyActorRef } from 'xstate';
import { syncloopMachine } from '../../machines/syncloop/syncloop.machine.ts';
import type { SyncloopEvent, SyncloopInput } from '../../machines/syncloop/syncloop.types.ts';
import type { PodReport } from '../../machines/pod/pod.types.ts';
import { deferred, drive, type Call, type DriveOptions, type Driven } from '../support/drive.ts';
import { container, instance, nodeView, observed, pod, sandbox, T0 } from '../support/fixtures.ts';
import { apiNode, nodeSettings } from '../support/node-fixtures.ts';
import { hearing, toldTo, type Told } from '../support/hearing.ts';
import { emit, expectAllTransitionsWalked, fail, ok, walk } from '../support/paths.ts';

type Run = Driven<typeof syncloopMachine>;
const clusterOf = (run: Run): AnyActorRef | undefined => run.snapshot.children['cluster'];
const told = (run: Run): Told[] => toldTo(clusterOf(run)) ?? [];

const machine = syncloopMachine.provide({ actors: { cluster: hearing } as never });
const input =
  (settings: Partial<SyncloopInput['settings']>): DriveOptions<typeof syncloopMachine>['input'] =>
  (world) => ({
    ...world,
    nodeName: 'n1',
    ended: {},
    stops: {},
    verdicts: {},
    sources: [{ source: 'file', location: '/manifests', periodMs: 20_000 }],
    node: nodeView(),
    settings: {
      pod: {
        backoffInitialMs: 10_000,
        backoffMaxMs: 300_000,
        retryMs: 1000,
        podRetryMs: 10_000,
        hostIPs: [],
        runtimeName: '',
      },
      pleg: { listPeriodMs: 1000, auditPeriodMs: 300_000 },
      healthPeriodMs: 5000,
      housekeepingPeriodMs: 2000,
      pauseInitialMs: 100,
      pauseMaxMs: 5000,
      ...settings,
    },
  });
const connected = input({ cluster: { node: nodeSettings(), drainMs: 5000 } });
const start = (): Run => drive(deferred(machine, ['cluster']), { input: connected });

const annotations = { 'kubernetes.io/config.source': 'file' };
const web = pod({ metadata: { annotations } });
const greedy = pod({
  uid: 'uid-2',
  name: 'greedy',
  metadata: { annotations },
  spec: { containers: [container({ resources: { requests: { cpu: '100' } } })] },
});
const set = (...pods: (typeof web)[]) => ({ type: 'source.set' as const, source: 'file' as const, pods, problems: [] });
const listing = (...uids: string[]) => ({
  type: 'runtime.listed' as const,
  at: T0,
  uids,
  pods: uids.map((uid) => ({ uid, name: 'web', namespace: 'default' })),
});
const seen = {
  type: 'runtime.observed' as const,
  pod: observed({ sandboxes: [sandbox()], containers: [instance()] }),
};
const exited = { type: 'runtime.exited' as const, uid: 'uid-1', container: instance({ state: 'exited' }) };
const health = (is: 'healthy' | 'unhealthy') => ({ type: 'health.changed' as const, health: is, message: '' });
const drain = { type: 'agent.drain' as const };
const event = { type: 'event.happened', event: { type: 'Normal', reason: 'Pulled', message: '' } } as const;
const clusterFailed = { type: 'xstate.error.actor.cluster', actorId: 'cluster', error: new Error('a bug') } as const;
const uidOf = (call: Call) => (call.input as { uid: string }).uid;
const status = { phase: 'Running' } as const;
/** Watchers and sources fail just while there are no pods: the walk stays short. */
const failsEarly = (run: Run) => (Object.keys(run.snapshot.context.entries).length === 0 ? [fail('Bug')] : []);
const podCalls = (run: Run) => run.calls.filter(({ src }) => src === 'pod');
const begunNow = (run: Run) => run.calls.filter(({ step }) => step === run.steps);

function events(run: Run): (SyncloopEvent | typeof clusterFailed)[] {
  const { context } = run.snapshot;
  const all: (SyncloopEvent | typeof clusterFailed)[] = [drain];
  if (run.steps === 0) all.push({ type: 'recorder.problem', message: 'full' });
  if (clusterOf(run)) all.push({ type: 'node.known', node: apiNode() }, clusterFailed);
  if (told(run).some(({ type }) => type === 'cluster.drain')) all.push({ type: 'cluster.drained' });
  if (!context.pleg) return all;
  all.push(set(web, greedy), set(), listing(), listing('uid-1'), seen, exited);
  if (context.listedAt !== undefined) all.push(health(context.health === 'unhealthy' ? 'healthy' : 'unhealthy'));
  return all;
}

/** The newest of every pod that the API server's side was told. */
const clusterKnows = (run: Run) => {
  const pods = new Map<string, unknown>();
  for (const { type, uid = '', ...wanted } of told(run)) {
    if (type === 'pod.wanted') pods.set(uid, wanted);
    if (type === 'pod.forgotten') pods.delete(uid);
  }
  return pods;
};
const says = (report: PodReport) => emit(report);

describe('syncloop', () => {
  test('every transition is walked; pods begin just while it is running, and the API server’s side knows them all', () => {
    const report = walk(machine, {
      inputs: { 'with an API server': connected, alone: input({}) },
      real: ['cluster'],
      events,
      outcomes: {
        openRuntime: (_call, run) => [
          ok({ runtimeName: 'containerd' }),
          ...(run.steps < 2 ? [fail('UNAVAILABLE')] : []),
        ],
        settleEffects: [ok(), fail('Bug')],
        pleg: (_call, run) => failsEarly(run as Run),
        runtimeHealth: [],
        housekeeping: [],
        logRotation: [],
        podSource: (_call, run) => failsEarly(run as Run),
        pod: (call) => [
          says({ type: 'pod.status', uid: uidOf(call), status }),
          says({ type: 'pod.released', uid: uidOf(call) }),
          says({ type: 'pod.inspect', uid: uidOf(call) }),
          says(event),
          ok(),
          fail('Bug'),
        ],
      },
      key: ({ context, children }) => [
        Object.entries(context.looks),
        Object.keys(context.mourned),
        context.health,
        context.delivered,
        context.desired.file?.length,
        Object.keys(context.observed),
        context.listed.length,
        context.listedAt !== undefined,
        Object.values(context.entries).map((e) => [e.uid, e.ending, e.released, e.refused, e.again !== undefined]),
        Object.keys(context.pods),
        context.cluster !== undefined,
        Object.keys(children).sort(),
      ],
      invariants: {
        'no pod before the first listing': (run) =>
          podCalls(run).length > 0 && run.snapshot.context.listedAt === undefined ? 'a pod too early' : undefined,
        'no pod begins but while it is running': (run) =>
          begunNow(run).some(({ src }) => src === 'pod') && !run.snapshot.matches('running') ? 'a pod' : undefined,
        'one actor a pod': (run) => {
          const uids = run.pending('pod').map(uidOf);
          return new Set(uids).size < uids.length ? `two of ${uids.join(', ')}` : undefined;
        },
        'nothing begins once it drains': (run) => {
          const [settling] = run.calls.filter(({ src }) => src === 'settleEffects');
          const late = run.calls.find((c) => settling && c.src !== 'settleEffects' && c.step >= settling.step);
          if (late) return late.src;
          const unasked = clusterOf(run) && !told(run).some(({ type }) => type === 'cluster.drain');
          return settling && unasked ? 'a cluster that was not told to drain' : undefined;
        },
        'the API server’s side knows what became of every pod': (run) => {
          if (!clusterOf(run) || !run.snapshot.matches('running')) return undefined;
          // One whose actor failed stays known as it was until it was looked at again.
          const { entries, mourned } = run.snapshot.context;
          const own = Object.values({ ...mourned, ...entries }).filter((e) => e.pod);
          const known = clusterKnows(run);
          const wrong = own.find(({ uid, pod, source, status, released, ending }) => {
            return JSON.stringify(known.get(uid)) !== JSON.stringify({ pod, source, status, released, ending });
          });
          return wrong && `of ${wrong.uid} it knows ${JSON.stringify(known.get(wrong.uid))}`;
        },
      },
      maxDepth: 6,
    });
    expectAllTransitionsWalked(report);
  });

  /** A running agent with one pod, which the API server's side knows. */
  function running(...pods: (typeof web)[]): Run {
    const run = start();
    run.settle('openRuntime', ok({ runtimeName: 'containerd' }));
    run.send(set(...pods));
    run.send(listing());
    return run;
  }

  test('a change of a pod is told to the API server’s side once', () => {
    const run = running(web);
    run.settle('pod', says({ type: 'pod.status', uid: 'uid-1', status }));
    run.send(set(web));
    run.send(listing());
    expect(told(run).map(({ type }) => type)).toEqual(['pod.wanted', 'sources.ready', 'pod.wanted']);
  });

  test('a pod whose actor failed stays known as it was, and begins again with the status it had', () => {
    const run = running(web);
    run.settle('pod', says({ type: 'pod.status', uid: 'uid-1', status }));
    run.settle('pod', fail('Bug'));
    run.send(set(web));
    run.advance(1000);
    run.send({ ...seen, pod: { ...seen.pod, at: T0 + 1 } });
    expect(told(run).filter(({ type }) => type.startsWith('pod.'))).toMatchObject([
      { type: 'pod.wanted' },
      { type: 'pod.wanted', status },
      { type: 'pod.wanted', status },
    ]);
    expect(run.pending('pod')[0]?.input).toMatchObject({ pod: { status } });
    expect(run.snapshot.context.mourned).toEqual({});
  });

  test('a pod whose actor failed and that no source wants any more is forgotten', () => {
    const run = running(web);
    run.settle('pod', fail('Bug'));
    run.send(set());
    expect(told(run).at(-1)).toEqual({ type: 'pod.forgotten', uid: 'uid-1' });
  });

  test('what the loop itself tells is recorded in the API too: a runtime that is away, a child that failed', () => {
    const run = start();
    run.settle('openRuntime', fail('UNAVAILABLE'));
    run.advance(run.untilTimer() ?? 0);
    run.settle('openRuntime', ok({ runtimeName: 'containerd' }));
    run.send(set(web));
    run.send(listing());
    run.settle('pod', fail('Bug'));
    const recorded = told(run).flatMap((each) => ('event' in each ? [each.event] : []));
    expect(recorded).toMatchObject([
      { reason: 'RuntimeNotReady' },
      { reason: 'FailedSync', pod: { uid: 'uid-1', name: 'web', namespace: 'default' } },
    ]);
  });

  const picky = pod({ uid: 'uid-3', name: 'picky', spec: { nodeSelector: { zone: 'b' } } });
  const bound = { type: 'source.set' as const, source: 'api' as const, pods: [picky], problems: [] };
  const labelled = apiNode({ metadata: { name: 'n1', uid: 'node-1', labels: { zone: 'b' } } });
  test('an API pod that the labels known so far refuse is judged by the Node read afresh', () => {
    const run = running();
    run.send(bound);
    run.send(bound);
    expect(told(run).filter(({ type }) => type === 'node.look')).toHaveLength(1);
    run.send({ type: 'node.known', node: apiNode() });
    expect([podCalls(run), run.snapshot.context.refusals]).toEqual([[], {}]);
    run.send({ type: 'node.known', node: labelled, looked: true });
    expect(podCalls(run)).toHaveLength(1);
  });

  test('an API pod that the Node read afresh refuses too is refused', () => {
    const run = running();
    run.send(bound);
    run.send({ type: 'node.known', node: apiNode(), looked: true });
    expect(told(run).find(({ type }) => type === 'pod.wanted')).toMatchObject({
      status: { phase: 'Failed', reason: 'NodeAffinity' },
    });
    expect(run.snapshot.context.looks).toEqual({});
  });

  test('B162 pods get the addresses that the Node has', () => {
    const run = running(web);
    const addresses = [
      { type: 'InternalIP', address: '192.0.2.7' },
      { type: 'ExternalIP', address: '198.51.100.1' },
      { type: 'Hostname', address: 'n1' },
    ];
    run.send({ type: 'node.known', node: apiNode({ status: { addresses } }) });
    run.send(set(web, pod({ uid: 'uid-5', name: 'later' })));
    expect(podCalls(run).at(-1)?.input).toMatchObject({ settings: { hostIPs: ['192.0.2.7'] } });
    run.send({ type: 'node.known', node: apiNode() });
    expect(run.snapshot.context.hostIPs).toEqual(['192.0.2.7']);
  });

  test('a pod that has to go for a critical one is told so once, with an event', () => {
    const small = pod({ spec: { containers: [container({ resources: { requests: { cpu: '1500m' } } })] } });
    const critical = pod({
      uid: 'uid-4',
      name: 'critical',
      spec: { priority: 2_000_000_000, containers: [container({ resources: { requests: { cpu: '1' } } })] },
    });
    const run = running(small);
    run.send(set(small, critical));
    run.send(set(small, critical));
    const recorded = told(run).flatMap((each) => ('event' in each ? [each.event] : []));
    expect(recorded).toEqual([
      {
        type: 'Warning',
        reason: 'Preempting',
        message: 'Preempted in order to admit critical pod',
        pod: { uid: 'uid-1', name: 'web', namespace: 'default' },
      },
    ]);
  });

  test('an API server’s side that failed comes again, and is told all that the one before knew', () => {
    const run = running(web);
    run.send(health('healthy'));
    const before = told(run);
    run.send(clusterFailed);
    run.settle('pod', says({ type: 'pod.status', uid: 'uid-1', status }));
    expect(clusterOf(run)).toBeUndefined();
    run.advance(1000);
    expect(before.map(({ type }) => type)).toEqual(['pod.wanted', 'sources.ready', 'health.changed']);
    expect(told(run)).toMatchObject([{ type: 'pod.wanted', status }, { type: 'sources.ready' }, health('healthy')]);
  });

  test('what failed shortly before a drain is not started again; without its API server’s side it ends', () => {
    const run = running();
    run.settle('pleg', fail('Bug'));
    run.send(clusterFailed);
    run.send(drain);
    run.advance(1000);
    expect(run.pending().map(({ src }) => src)).toEqual(['settleEffects']);
    expect(clusterOf(run)).toBeUndefined();
    run.settle('settleEffects', ok());
    expect(run.snapshot.value).toBe('stopped');
  });

  test('an API server’s side that fails while its last events are awaited does not hold up the end', () => {
    const run = running();
    run.send(drain);
    run.settle('settleEffects', ok());
    expect(run.snapshot.value).toBe('waitingForEvents');
    run.send(clusterFailed);
    expect(run.snapshot.value).toBe('stopped');
  });

  test('a refused static pod whose time to be judged again comes while paused is judged once it goes on', () => {
    const run = running(greedy);
    run.send(health('unhealthy'));
    run.advance(60_000);
    expect(run.snapshot.context.refusals).toEqual({ 'uid-2': 1 });
    run.send(health('healthy'));
    run.advance(1000);
    expect(run.snapshot.context.refusals).toEqual({ 'uid-2': 2 });
  });
});
