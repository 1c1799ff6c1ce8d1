import { describe, expect, test } from '@jest/globals';
import type { ListedPod, ObservedPod, RuntimeEvent } from '../../machines/runtime.types.ts';
import { plegMachine } from '../../machines/syncloop/pleg.machine.ts';
import type { InspectionInput, InspectionReport } from '../../machines/syncloop/pleg.types.ts';
import type { WatchRuntimeEvent } from '../../machines/syncloop/syncloop.types.ts';
import { deferred, drive, type Call, type Driven, type DriveOptions } from '../support/drive.ts';
import { instance, observed, sandbox, T0 } from '../support/fixtures.ts';
import { emit, expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';

type Run = Driven<typeof plegMachine>;

const input: DriveOptions<typeof plegMachine>['input'] = (world) => ({
  ...world,
  settings: { listPeriodMs: 1000, auditPeriodMs: 300_000 },
});
const start = () => drive(deferred(plegMachine), { input });

/** A pod with one sandbox and one container, whose ids begin with the pod's. */
const listedPod = (uid: string, state: ListedPod['containers'][0]['state'] = 'running'): ListedPod => ({
  uid,
  name: uid,
  namespace: 'default',
  sandboxes: [{ id: `${uid}-sandbox`, state: 'ready' }],
  containers: [{ id: `${uid}-app`, state }],
});
const fullPod = (uid: string, at: number, state: ListedPod['containers'][0]['state'] = 'running'): ObservedPod =>
  observed({
    uid,
    name: uid,
    sandboxes: [sandbox({ id: `${uid}-sandbox` })],
    containers: [instance({ id: `${uid}-app`, state })],
    at,
  });
const says = (report: InspectionReport | WatchRuntimeEvent) => emit(report);
const listing = (run: Run, ...pods: ListedPod[]) => ok({ at: run.env.now(), pods }, `listed ${pods.length}`);
const event = (run: Run, kind: RuntimeEvent['kind'], containerId: string, podUid?: string) => ({
  type: 'runtime.event' as const,
  event: { kind, containerId, podUid, at: run.env.now() },
});
const openStream = { type: 'stream.opened' as const, kind: 'cri' as const };
const uidOf = (call: Call) => (call.input as InspectionInput).pod.uid;
const inspected = (run: Run) => run.calls.filter((c) => c.src === 'inspection').map(uidOf);
const inspectionOf = (run: Run, uid: string) => run.pending('inspection').find((c) => uidOf(c) === uid)!;
const told = (run: Run) => run.parent.sent.map((m) => m.type);

/** An inspection tells what it saw and ends. */
function finish(run: Run, uid: string, state: ListedPod['containers'][0]['state'] = 'running', at = run.env.now()) {
  const call = inspectionOf(run, uid);
  run.settle(call, says({ type: 'inspection.observed', pod: fullPod(uid, at, state) }));
  run.settle(call, ok());
}

/** A node with these pods, listed and looked at, and an open stream. */
function settled(...uids: string[]): Run {
  const run = start();
  run.send(openStream);
  run.settle('listRuntime', listing(run, ...uids.map((uid) => listedPod(uid))));
  for (const uid of uids) finish(run, uid);
  run.advance(1);
  run.settle('listRuntime', listing(run, ...uids.map((uid) => listedPod(uid))));
  run.parent.sent.length = 0;
  run.advance(1);
  return run;
}

describe('pleg', () => {
  test('every transition is walked; one listing at a time, and never two inspections of one pod', () => {
    const report = walk(plegMachine, {
      inputs: { start: input },
      events: (run) => [
        { type: 'list.now' as const },
        { type: 'pod.inspect' as const, uid: 'a' },
        event(run, 'stopped', 'unknown'),
        {
          type: 'runtime.echo' as const,
          echo: {
            pod: { uid: 'a', name: 'a', namespace: 'default' },
            containers: [{ id: 'a-app', state: 'running' as const }],
            at: run.env.now(),
          },
        },
        { type: 'runtime.exited' as const, uid: 'a', container: instance({ state: 'exited', exitCode: 1 }) },
      ],
      outcomes: {
        watchRuntime: [says(openStream), says({ type: 'stream.lost', message: 'gone' }), ok(), fail('UnfilledSlot')],
        listRuntime: (_call, run) => [listing(run as Run), listing(run as Run, listedPod('a')), fail('UNAVAILABLE')],
        inspection: (call, run) => [
          says({ type: 'inspection.observed', pod: fullPod(uidOf(call), run.env.now()) }),
          says({ type: 'inspection.failed', uid: uidOf(call), message: 'hung', failures: 1 }),
          says({ type: 'inspection.slow', uid: uidOf(call), message: 'slow', failures: 1 }),
          ok(),
          fail('Bug'),
        ],
      },
      key: ({ context }) => [
        context.stream.open,
        Object.values(context.known).map(({ pod }) => pod.containers.length),
        Object.keys(context.inspections),
        Object.values(context.unlocated).map(({ tries }) => Math.min(tries, 1)),
        context.listAgain,
        context.auditing,
        context.failures > 0,
        context.unseen,
      ],
      invariants: {
        'one listing': oneAtATime(['listRuntime']),
        'one inspection a pod': oneAtATime(['inspection']),
        'no listing is told before its pods were looked at': (run) => {
          const first = run.parent.sent.find((m) => m.type === 'runtime.listed') as { uids: string[] } | undefined;
          const known = run.snapshot.context.unseen;
          return first && known?.length !== 0 ? 'told too early' : undefined;
        },
      },
      maxDepth: 7,
    });
    expectAllTransitionsWalked(report);
  });

  test('an end told in full is passed on at once; what own calls did is known without a look', () => {
    const run = settled('a');
    const container = instance({ state: 'exited', exitCode: 1 });
    run.send({ type: 'runtime.exited', uid: 'a', container });
    expect(run.parent.sent).toEqual([{ type: 'runtime.exited', uid: 'a', container }]);
    const pod = { uid: 'b', name: 'b', namespace: 'default' };
    run.send({
      type: 'runtime.echo',
      echo: { pod, containers: [{ id: 'b-app', state: 'running' }], at: run.env.now() },
    });
    run.send(event(run, 'started', 'b-app'));
    expect(run.pending().map(({ src }) => src)).toEqual(['watchRuntime']);
    run.send({ ...event(run, 'stopped', 'b-app') });
    expect(run.pending().map(({ src }) => src)).toEqual(['watchRuntime', 'inspection']);
  });

  test('the first listing is told once all of its pods were looked at, or could not be', () => {
    const run = start();
    run.settle('listRuntime', listing(run, listedPod('a'), listedPod('b'), listedPod('c')));
    expect(inspected(run)).toEqual(['a', 'b', 'c']);
    finish(run, 'a');
    finish(run, 'c');
    expect(told(run)).toEqual(['runtime.observed', 'runtime.observed']);
    run.settle(
      inspectionOf(run, 'b'),
      says({ type: 'inspection.failed', uid: 'b', message: 'no answer', failures: 1 }),
    );
    expect(run.parent.sent.at(-1)).toEqual({
      type: 'runtime.listed',
      at: T0,
      uids: ['a', 'b', 'c'],
      pods: ['a', 'b', 'c'].map((uid) => ({ uid, name: uid, namespace: 'default' })),
    });
    expect(run.parent.events()).toEqual(['Warning FailedSync error determining status: no answer']);
  });

  test('an empty runtime is told as listed at once', () => {
    const run = start();
    run.settle('listRuntime', listing(run));
    expect(run.parent.sent).toEqual([{ type: 'runtime.listed', at: T0, uids: [], pods: [] }]);
  });

  test('a listing that finds the pods of the one before does not have them looked at again', () => {
    const run = start();
    run.settle('listRuntime', listing(run, listedPod('a'), listedPod('b')));
    run.advance(1000);
    run.settle('listRuntime', listing(run, listedPod('a'), listedPod('b')));
    expect(inspected(run)).toEqual(['a', 'b']);
  });

  test('B159 a container that hangs holds up neither the listing nor the other pods', () => {
    const run = start();
    run.settle('listRuntime', listing(run, listedPod('hung'), listedPod('a')));
    finish(run, 'a');
    run.settle(
      inspectionOf(run, 'hung'),
      says({ type: 'inspection.slow', uid: 'hung', message: 'no answer for 5 s', failures: 1 }),
    );
    expect(told(run)).toContain('runtime.listed');
    for (let second = 1; second <= 30; second++) {
      run.advance(1000);
      run.settle('listRuntime', listing(run, listedPod('hung'), listedPod('a', second % 2 ? 'exited' : 'running')));
      finish(run, 'a', second % 2 ? 'exited' : 'running');
    }
    expect(inspected(run).filter((uid) => uid === 'hung')).toHaveLength(1);
    expect(run.parent.ofType('runtime.observed')).toHaveLength(31);
    expect(run.parent.ofType('runtime.listed')).toHaveLength(31);
    expect(run.parent.events()).toEqual(['Warning FailedSync error determining status: no answer for 5 s']);
  });

  test('B179 an event has its pod looked at at once, with no listing', () => {
    const run = settled('a', 'b');
    run.send(event(run, 'stopped', 'b-app'));
    expect(run.pending('inspection').map(uidOf)).toEqual(['b']);
    expect(run.pending('inspection')[0]?.input).toMatchObject({
      events: [{ kind: 'stopped', containerId: 'b-app' }],
    });
    finish(run, 'b', 'exited');
    expect(run.parent.sent).toMatchObject([{ type: 'runtime.observed', pod: { uid: 'b' } }]);
    expect(run.pending('listRuntime')).toEqual([]);
    expect(run.snapshot.context.counters).toMatchObject({ events: 1, missedEvents: 0 });
  });

  test('B181 a look that the agent asks for after its own call begins at once', () => {
    const run = settled('a');
    run.send({ type: 'pod.inspect', uid: 'a' });
    expect(run.pending('inspection').map(uidOf)).toEqual(['a']);
  });

  test('an event that a later look has shown already leads to nothing', () => {
    const run = settled('a');
    const exit = event(run, 'stopped', 'a-app');
    run.advance(1);
    run.send({ type: 'pod.inspect', uid: 'a' });
    finish(run, 'a', 'exited');
    run.send(exit);
    expect(run.pending()).toMatchObject([{ src: 'watchRuntime' }]);
  });

  test('a burst of events of one pod goes to its one inspection', () => {
    const run = settled('a');
    const before = inspected(run).length;
    for (let i = 0; i < 5000; i++) run.send(event(run, 'stopped', 'a-app'));
    expect(inspected(run)).toHaveLength(before + 1);
    expect(run.pending('listRuntime')).toEqual([]);
  });

  test('a burst of events of unknown containers needs one listing, which finds where they are', () => {
    const run = settled('a');
    for (let i = 0; i < 5000; i++) run.send(event(run, 'stopped', `new-${i}`));
    run.send(event(run, 'stopped', 'b-app'));
    expect(Object.keys(run.snapshot.context.unlocated)).toHaveLength(1000);
    expect(run.untilTimer()).toBe(50);
    run.advance(50);
    run.settle('listRuntime', listing(run, listedPod('a'), listedPod('b', 'exited')));
    expect(run.pending('inspection').map(uidOf)).toEqual(['b']);
    expect(run.snapshot.context.counters.missedEvents).toBe(0);
  });

  test('what no listing shows is looked for five times, ever more seldom; news is not held up by it', () => {
    const run = settled('a');
    run.send(event(run, 'stopped', 'foreign'));
    for (const wait of [50, 100, 200]) {
      expect(run.untilTimer()).toBe(wait);
      run.advance(wait);
      run.settle('listRuntime', listing(run, listedPod('a')));
    }
    expect(run.untilTimer()).toBe(400);
    run.send(event(run, 'stopped', 'news'));
    expect(run.untilTimer()).toBe(50);
    for (let i = 0; i < 5; i++) {
      run.advance(run.untilTimer() ?? 0);
      run.settle('listRuntime', listing(run, listedPod('a')));
    }
    expect(run.snapshot.value).toBe('waitingToAudit');
    expect(run.snapshot.context.unlocated).toEqual({});
  });

  test('the start of something unknown, mostly the agent’s own doing, is gathered for longer; an end is not', () => {
    const run = settled('a');
    for (let i = 0; i < 100; i++) run.send(event(run, 'started', `new-${i}`));
    expect(run.untilTimer()).toBe(400);
    run.advance(10);
    run.send(event(run, 'stopped', 'b-app'));
    expect(run.untilTimer()).toBe(50);
  });

  test('a pod that pleg does not know yet is looked at after a listing that shows it', () => {
    const run = settled();
    run.send({ type: 'pod.inspect', uid: 'new' });
    run.advance(50);
    run.settle('listRuntime', listing(run, listedPod('new')));
    expect(run.pending('inspection').map(uidOf)).toEqual(['new']);
  });

  test('what was deleted and never known is nobody’s concern', () => {
    const run = settled('a');
    run.send(event(run, 'deleted', 'never-known'));
    expect(run.snapshot.value).toBe('waitingToAudit');
  });

  test('with a stream the listing is an auditor: what it finds, the stream has missed', () => {
    const run = settled('a', 'b');
    expect(run.untilTimer()).toBe(299_999);
    run.advance(300_000);
    run.settle('listRuntime', listing(run, listedPod('a'), listedPod('b', 'exited'), listedPod('c')));
    // Nothing of a changed that a listing could show; its last full look is as old as an audit period.
    expect(run.pending('inspection').map(uidOf)).toEqual(['b', 'c', 'a']);
    expect(run.snapshot.context.counters.missedEvents).toBe(2);
  });

  test('a change whose event is being attended to is not counted as missed', () => {
    const run = settled('a');
    run.send(event(run, 'stopped', 'a-app'));
    run.advance(300_000);
    run.settle('listRuntime', listing(run, listedPod('a', 'exited')));
    expect(run.snapshot.context.counters.missedEvents).toBe(0);
  });

  test('a stream that opens closes the gap with a listing; one that is lost leads to polling', () => {
    const run = start();
    run.settle('listRuntime', listing(run));
    expect(run.untilTimer()).toBe(1000);
    run.send(openStream);
    expect(run.pending('listRuntime')).toHaveLength(1);
    run.settle('listRuntime', listing(run, listedPod('a')));
    expect(run.untilTimer()).toBe(300_000);
    expect(run.snapshot.context.counters.missedEvents).toBe(0);
    run.send({ type: 'stream.lost', message: 'EOF' });
    expect(run.untilTimer()).toBe(1000);
    expect(run.snapshot.context.stream).toEqual({ open: false, message: 'EOF' });
  });

  test('a stream that opens during a listing has another one made', () => {
    const run = start();
    run.send(openStream);
    run.settle('listRuntime', listing(run));
    expect(run.pending('listRuntime')).toHaveLength(1);
  });

  test('a pod that is gone is looked at once, then forgotten', () => {
    const run = settled('a');
    run.send({ type: 'list.now' });
    run.settle('listRuntime', listing(run));
    run.send({ type: 'list.now' });
    run.settle('listRuntime', listing(run));
    expect(run.pending('inspection').map(uidOf)).toEqual(['a']);
    const gone = observed({ uid: 'a', name: 'a', at: run.env.now() });
    run.settle('inspection', says({ type: 'inspection.observed', pod: gone }));
    expect(run.snapshot.context.known).toEqual({});
    expect(run.parent.ofType<{ type: string; uids: string[] }>('runtime.listed').at(-1)?.uids).toEqual([]);
  });

  test('a request that comes as an inspection ends is not lost', () => {
    const run = settled('a');
    run.send({ type: 'pod.inspect', uid: 'a' });
    const first = inspectionOf(run, 'a');
    // The request reaches pleg in the same step in which the inspection ends.
    run.snapshot.context.inspections['a']?.subscribe({
      complete: () => run.send({ type: 'pod.inspect', uid: 'a' }),
    });
    run.settle(first, ok());
    expect(run.pending('inspection').map(uidOf)).toEqual(['a']);
    expect(run.pending('inspection')[0]).not.toBe(first);
    expect(Object.keys(run.snapshot.context.inspections)).toEqual(['a']);
  });

  test('an observation older than one that was passed on is dropped', () => {
    const run = settled('a');
    run.send({ type: 'pod.inspect', uid: 'a' });
    finish(run, 'a', 'exited');
    run.send({ type: 'pod.inspect', uid: 'a' });
    finish(run, 'a', 'running', T0);
    expect(run.parent.ofType('runtime.observed')).toHaveLength(1);
  });

  test('an observation is passed on although a listing has begun and ended meanwhile', () => {
    const run = settled('a');
    run.send({ type: 'pod.inspect', uid: 'a' });
    const began = run.env.now();
    run.advance(10);
    run.send({ type: 'list.now' });
    run.settle('listRuntime', listing(run, listedPod('a')));
    finish(run, 'a', 'running', began);
    expect(run.parent.ofType('runtime.observed')).toHaveLength(1);
  });

  test('a wall clock that is set back does not make pleg deaf', () => {
    const run = settled('a');
    run.setWallClock(T0 - 3_600_000);
    run.send({ type: 'list.now' });
    run.settle('listRuntime', listing(run, listedPod('a', 'exited')));
    finish(run, 'a', 'exited');
    expect(run.parent.ofType('runtime.observed')).toHaveLength(1);
  });

  test('a listing that fails is told, and tried again ever more seldom; a request makes it at once', () => {
    const run = start();
    for (const wait of [250, 500, 1000, 2000, 4000, 8000, 10_000]) {
      run.settle('listRuntime', fail('UNAVAILABLE', 'connection refused'));
      expect(run.untilTimer()).toBe(wait);
      run.advance(wait);
    }
    expect(run.parent.sent[0]).toEqual({ type: 'runtime.listFailed', message: 'connection refused' });
    run.settle('listRuntime', fail('UNAVAILABLE'));
    run.send({ type: 'list.now' });
    expect(run.pending('listRuntime')).toHaveLength(1);
  });

  test('an inspection that throws harms only itself: its pod is looked at anew after the next listing', () => {
    const run = settled('a', 'b');
    run.send({ type: 'pod.inspect', uid: 'a' });
    run.settle(inspectionOf(run, 'a'), fail('Bug', 'undefined is not a function'));
    expect(run.parent.events()).toHaveLength(1);
    run.send({ type: 'list.now' });
    run.settle('listRuntime', listing(run, listedPod('a'), listedPod('b')));
    expect(run.pending('inspection').map(uidOf)).toEqual(['a']);
  });
});
