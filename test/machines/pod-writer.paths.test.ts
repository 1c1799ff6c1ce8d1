import { describe, expect, test } from '@jest/globals';
import { podWriterMachine } from '../../machines/syncloop/pod-writer.machine.ts';
import type { ApiPod } from '../../machines/syncloop/api-source.types.ts';
import type { Pod, PodStatus } from '../../machines/kubernetes.types.ts';
import type { PodWriterEvent, PodWriterInput, WantedPod } from '../../machines/syncloop/status-writer.types.ts';
import { apiPod, condition, mirrorPod, podStatus, wantedPod, wantedStatic } from '../support/api-pods.ts';
import { deferred, drive, type Driven } from '../support/drive.ts';
import { agentError } from '../support/fixtures.ts';
import { expectAllTransitionsWalked, fail, neverAbandoned, ok, oneAtATime, walk } from '../support/paths.ts';

type Run = Driven<typeof podWriterMachine>;
const WRITES = ['patchStatus', 'deletePod', 'createMirror', 'deleteMirror'];
const DELETED = '2026-01-01T00:00:00Z';
const running = podStatus('Running');
const ready = podStatus('Running', { conditions: [condition('Ready', 'True'), condition('ContainersReady', 'True')] });
const succeeded = podStatus('Succeeded');

const machine = deferred(podWriterMachine);
const inputOf = (over: Partial<PodWriterInput>) => (world: Pick<PodWriterInput, 'env' | 'parent'>) => ({
  ...world,
  namespace: 'default',
  name: 'web',
  heard: '10',
  nodeUid: 'node-uid',
  ...over,
});
const start = (over: Partial<PodWriterInput>): Run => drive(machine, { input: inputOf(over) });
const startStatic = (over: Partial<PodWriterInput> = {}) =>
  start({ namespace: 'kube-system', name: 'etcd', wanted: wantedStatic(), ...over });

const want = (wanted: WantedPod): PodWriterEvent => ({ type: 'status.wanted', wanted });
const hear = (heard: string, pod?: ApiPod): PodWriterEvent => ({ type: 'api.pod', heard, pod });
const answer = (resourceVersion: string, status: PodStatus) => ok({ resourceVersion, status }, `at ${resourceVersion}`);
/** The object that the API has of such a pod. */
const object = ({ uid, name, namespace, resourceVersion, status, mirrorHash, deletionTimestamp }: ApiPod): Pod => ({
  metadata: {
    uid,
    name,
    namespace,
    resourceVersion,
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(mirrorHash && { annotations: { 'kubernetes.io/config.mirror': mirrorHash } }),
  },
  status,
});
const inputs = (run: Run, src: string) => run.calls.filter((call) => call.src === src).map((call) => call.input);
const written = (run: Run) => (inputs(run, 'patchStatus') as { status: PodStatus }[]).map(({ status }) => status.phase);

/** For which the status of a pod that has not begun stands back, ms. */
const STAND_BACK = 500;

describe('podWriter', () => {
  test('every transition is walked; writes follow one another and are never abandoned', () => {
    const lasting = {
      ...fail('Forbidden'),
      kind: 'fail' as const,
      error: agentError('Forbidden', { transient: false }),
    };
    const pods = [
      apiPod({ deletionTimestamp: DELETED, status: running, resourceVersion: '11' }),
      mirrorPod({ resourceVersion: '11' }),
    ];
    const isMirrorOf = ({ snapshot }: Run) => snapshot.context.name === 'etcd';
    const report = walk(podWriterMachine, {
      inputs: {
        'a new API pod': inputOf({ wanted: wantedPod({ status: podStatus('Pending') }), api: apiPod() }),
        'an API pod': inputOf({ wanted: wantedPod({ status: running }), api: apiPod() }),
        'an API pod that ended': inputOf({
          wanted: wantedPod({ status: succeeded, released: true }),
          api: apiPod({ status: running, deletionTimestamp: DELETED }),
        }),
        'a static pod': inputOf({ name: 'etcd', namespace: 'kube-system', wanted: wantedStatic({ status: running }) }),
        'a static pod whose mirror pod was deleted': inputOf({
          name: 'etcd',
          namespace: 'kube-system',
          wanted: wantedStatic({ status: running }),
          nodeUid: 'node-1',
          heard: '10',
          api: mirrorPod({ status: running, deletionTimestamp: DELETED }),
        }),
        'a mirror pod alone': inputOf({ name: 'etcd', namespace: 'kube-system', api: mirrorPod() }),
      },
      events: (run): PodWriterEvent[] => [
        want(isMirrorOf(run) ? wantedStatic({ status: ready }) : wantedPod({ status: ready })),
        { type: 'status.unwanted' },
        hear('11', isMirrorOf(run) ? pods[1] : pods[0]),
        hear('12'),
        { type: 'node.changed', uid: undefined },
      ],
      outcomes: {
        patchStatus: (call) => [
          answer('12', (call.input as { status: PodStatus }).status),
          fail('NotFound'),
          fail('Unavailable'),
          lasting,
        ],
        getPod: [ok(undefined, 'none'), ok(object(apiPod())), ok(object(mirrorPod())), fail('Unavailable')],
        deletePod: [ok(), fail('Conflict'), fail('TooManyRequests')],
        createMirror: [ok(object(mirrorPod({ resourceVersion: '11' }))), fail('AlreadyExists'), fail('Unavailable')],
        deleteMirror: [ok(), fail('Conflict'), fail('Unavailable')],
      },
      key: ({ context }) => [
        context.next.do,
        context.wanted?.status?.conditions?.length,
        context.wanted === undefined,
        context.api?.uid,
        context.api?.status?.phase,
        context.deleted,
        context.told,
        Math.min(context.failures, 1),
      ],
      invariants: {
        'one write': oneAtATime(WRITES),
        'no write is abandoned': neverAbandoned(WRITES),
        'nothing is over while the API has a mirror pod that nobody has': ({ snapshot }) =>
          snapshot.value === 'over' && snapshot.context.api?.mirrorHash ? 'the mirror pod was left' : undefined,
      },
      maxDepth: 6,
    });
    expectAllTransitionsWalked(report);
  });

  test('the newest status wins: what changes during a write is written next, what was in between is not', () => {
    const run = start({ wanted: wantedPod({ status: podStatus('Pending') }), api: apiPod() });
    run.advance(STAND_BACK);
    run.send(want(wantedPod({ status: running })));
    run.send(want(wantedPod({ status: ready })));
    run.settle('patchStatus', answer('11', podStatus('Pending')));
    run.settle('patchStatus', answer('12', ready));
    expect(written(run)).toEqual(['Pending', 'Running']);
    expect(inputs(run, 'patchStatus')[1]).toMatchObject({ uid: 'uid-1', before: podStatus('Pending'), status: ready });
    expect(run.pending()).toEqual([]);
  });

  test('the status of a pod that has not begun stands back for a moment; any other does not', () => {
    const waits = start({ wanted: wantedPod({ status: podStatus('Pending') }), api: apiPod() });
    expect(written(waits)).toEqual([]);
    waits.advance(STAND_BACK - 1);
    expect(written(waits)).toEqual([]);
    waits.send(want(wantedPod({ status: running })));
    expect(written(waits)).toEqual(['Running']);
    for (const status of [running, podStatus('Failed')])
      expect(written(start({ wanted: wantedPod({ status }), api: apiPod() }))).toEqual([status.phase]);
  });

  test('a status that the API has already is not written; an echo of an own write is no change', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod({ status: running }) });
    run.send(want(wantedPod({ status: ready })));
    run.settle('patchStatus', answer('12', ready));
    run.send(hear('11', apiPod({ resourceVersion: '11', status: running })));
    run.send(hear('12', apiPod({ resourceVersion: '12', status: ready })));
    expect(run.calls).toHaveLength(1);
  });

  test('a condition that others set after the own write is kept, and no reason to write', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod() });
    run.settle('patchStatus', answer('11', running));
    const gate = condition('example.com/gate', 'True');
    run.send(
      hear('12', apiPod({ resourceVersion: '12', status: { ...running, conditions: [gate, ...running.conditions!] } })),
    );
    expect(run.calls).toHaveLength(1);
    run.send(want(wantedPod({ status: ready })));
    expect(inputs(run, 'patchStatus')[1]).toMatchObject({ status: { conditions: [gate, ...ready.conditions!] } });
  });

  test('B084 an outage of any length loses nothing: the terminal status is written when the API is back', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod() });
    run.settle('patchStatus', answer('11', running));
    const end: PodStatus = podStatus('Succeeded', {
      containerStatuses: [
        {
          name: 'app',
          image: 'a',
          imageID: 'b',
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode: 0, reason: 'Completed', finishedAt: '2026-01-01T00:00:09Z' } },
        },
      ],
    });
    run.send(want(wantedPod({ status: end })));
    const waits: (number | undefined)[] = [];
    for (let tries = 0; tries < 60; tries++) {
      run.settle('patchStatus', fail('UNAVAILABLE', 'connection refused'));
      waits.push(run.untilTimer());
      run.advance(run.untilTimer()!);
    }
    expect(waits.slice(0, 7)).toEqual([187.5, 375, 750, 1500, 3000, 6000, 7500]);
    expect(Math.max(...waits.map(Number))).toBe(7500);
    expect(run.parent.events()).toEqual([]);
    expect(inputs(run, 'patchStatus').at(-1)).toMatchObject({ status: end });
    run.settle('patchStatus', answer('12', end));
    expect(run.pending()).toEqual([]);
    expect(run.snapshot.context.failures).toBe(0);
  });

  test('B081 the time of a flip during an outage is that of the flip', () => {
    const flip = podStatus('Running', { conditions: [condition('Ready', 'False', '2026-01-01T00:05:00Z')] });
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod({ status: running }) });
    run.send(want(wantedPod({ status: flip })));
    run.settle('patchStatus', fail('UNAVAILABLE'));
    run.advance(600_000);
    expect(inputs(run, 'patchStatus').at(-1)).toMatchObject({ status: flip });
  });

  test('a write that the API asks to put off is put off for as long', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod() });
    const busy = {
      ...fail('TooManyRequests'),
      error: Object.assign(agentError('TooManyRequests'), { retryAfterMs: 60_000 }),
    };
    run.settle('patchStatus', busy as ReturnType<typeof fail>);
    expect(run.untilTimer()).toBe(60_000);
  });

  test('what waiting alone does not mend is told once, and tried on', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod() });
    const forbidden = {
      ...fail('Forbidden'),
      error: agentError('Forbidden', { transient: false, message: 'pods/status: forbidden' }),
    };
    for (let tries = 0; tries < 3; tries++) {
      run.settle('patchStatus', forbidden as ReturnType<typeof fail>);
      run.advance(10_000);
    }
    expect(run.parent.events()).toEqual(['Warning FailedSync pods/status: forbidden']);
    expect(run.pending('patchStatus')).toHaveLength(1);
  });

  test('what was refused is tried again at once when the API shows the pod anew', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod() });
    run.settle('patchStatus', fail('UNAVAILABLE'));
    run.send(hear('11'));
    expect(run.pending()).toEqual([]);
    run.send(hear('12', apiPod({ resourceVersion: '12' })));
    expect(run.pending('patchStatus')).toHaveLength(1);
  });

  test('the status of a pod whose name another pod has now is not written to that one', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod() });
    run.settle('patchStatus', fail('Conflict', 'the UID in the precondition is another'));
    run.settle('getPod', ok(object(apiPod({ uid: 'uid-2', resourceVersion: '30' }))));
    run.advance(60_000);
    expect(run.pending()).toEqual([]);
    expect(run.calls.map(({ src }) => src)).toEqual(['patchStatus', 'getPod']);
    run.send({ type: 'status.unwanted' });
    expect(run.snapshot.value).toBe('over');
  });

  test('a conflict over the pod itself is tried again with what the API has now', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod() });
    run.settle('patchStatus', fail('Conflict'));
    run.settle('getPod', ok(object(apiPod({ resourceVersion: '11', status: podStatus('Pending') }))));
    run.advance(10_000);
    expect(inputs(run, 'patchStatus')[1]).toMatchObject({ before: podStatus('Pending'), status: running });
  });

  test('the end is written first; the object goes when it is deleted and nothing is left, once', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod({ status: running }) });
    run.send(hear('11', apiPod({ resourceVersion: '11', status: running, deletionTimestamp: DELETED })));
    run.send(want(wantedPod({ status: succeeded, released: true })));
    run.settle('patchStatus', answer('12', succeeded));
    run.settle('deletePod', ok());
    expect(inputs(run, 'deletePod')).toEqual([{ namespace: 'default', name: 'web', uid: 'uid-1' }]);
    // A finalizer keeps it in sight.
    run.send(hear('13', apiPod({ resourceVersion: '13', status: succeeded, deletionTimestamp: DELETED })));
    expect(run.pending()).toEqual([]);
    run.send(hear('14'));
    run.send({ type: 'status.unwanted' });
    expect(run.snapshot.value).toBe('over');
  });

  test('an API that was restored from an older state is believed', () => {
    const run = start({
      wanted: wantedPod({ status: running }),
      api: apiPod({ resourceVersion: '500' }),
      heard: '500',
    });
    run.settle('patchStatus', answer('501', running));
    run.send(hear('20', apiPod({ resourceVersion: '19' })));
    expect(run.pending('patchStatus')).toHaveLength(1);
  });

  test('a pod that is forgotten in the middle of a write is over when that has settled', () => {
    const run = start({ wanted: wantedPod({ status: running }), api: apiPod() });
    run.send({ type: 'status.unwanted' });
    expect(run.pending('patchStatus')).toHaveLength(1);
    run.settle('patchStatus', answer('11', running));
    expect(run.snapshot.value).toBe('over');
  });
});

describe('podWriter of a static pod', () => {
  test('its mirror pod is made when the Node is there, and shows its status', () => {
    const run = startStatic({ nodeUid: undefined, wanted: wantedStatic({ status: running }) });
    expect(run.calls).toEqual([]);
    run.send({ type: 'node.changed', uid: 'node-uid' });
    expect(inputs(run, 'createMirror')).toEqual([{ pod: wantedStatic().pod, nodeUid: 'node-uid' }]);
    run.settle('createMirror', ok(object(mirrorPod({ resourceVersion: '20' }))));
    expect(inputs(run, 'patchStatus')).toMatchObject([{ name: 'etcd', uid: 'mirror-1', status: running }]);
  });

  test('a set that is older than the mirror pod does not make it absent', () => {
    const run = startStatic();
    run.settle('createMirror', ok(object(mirrorPod({ resourceVersion: '20' }))));
    run.send(hear('19'));
    expect(run.pending()).toEqual([]);
    run.send(hear('21'));
    expect(run.pending('createMirror')).toHaveLength(1);
  });

  test.each([
    [
      'with grace',
      [hear('21', mirrorPod({ resourceVersion: '21', deletionTimestamp: DELETED }))],
      ['deleteMirror', 'createMirror'],
    ],
    ['with force', [hear('21')], ['createMirror']],
  ])('B095 a mirror pod that was deleted %s is made again', (_how, events, calls) => {
    const run = startStatic({ api: mirrorPod() });
    for (const event of events) run.send(event);
    for (const src of calls) {
      run.settle(
        src,
        src === 'createMirror' ? ok(object(mirrorPod({ uid: 'mirror-2', resourceVersion: '30' }))) : ok(),
      );
      if (src === 'createMirror') continue;
      // kubectl, which looks each 100 ms, is to see that the old one is gone.
      run.advance(900);
      expect(run.pending()).toEqual([]);
      run.advance(100);
    }
    expect(run.calls.map(({ src }) => src)).toEqual(calls);
    expect(run.snapshot.context.api).toMatchObject({ uid: 'mirror-2', mirrorHash: 'static-1' });
  });

  test('one of another version is replaced; a set that still shows it is old', () => {
    const stale = mirrorPod({ mirrorHash: 'older' });
    const run = startStatic({ api: stale });
    run.settle('deleteMirror', ok());
    run.send(hear('12', stale));
    run.settle('createMirror', ok(object(mirrorPod({ uid: 'mirror-2', resourceVersion: '20' }))));
    expect(run.pending()).toEqual([]);
    expect(inputs(run, 'deleteMirror')).toEqual([{ namespace: 'kube-system', name: 'etcd', uid: 'mirror-1' }]);
  });

  test('one that is there already is found and kept', () => {
    const run = startStatic({ wanted: wantedStatic({ status: running }) });
    run.settle('createMirror', fail('AlreadyExists'));
    run.settle('getPod', ok(object(mirrorPod({ resourceVersion: '15' }))));
    run.advance(10_000);
    expect(run.pending().map(({ src }) => src)).toEqual(['patchStatus']);
  });

  test('another pod under its name is left alone, told once, and waited out', () => {
    const run = startStatic();
    for (let tries = 0; tries < 4; tries++) {
      run.settle('createMirror', fail('AlreadyExists'));
      run.settle('getPod', ok(object(apiPod({ uid: 'other', name: 'etcd', namespace: 'kube-system' }))));
      run.advance(10_000);
    }
    expect(run.parent.events()).toEqual(['Warning FailedSync cannot create the mirror pod: another pod has its name']);
    expect(run.pending('createMirror')).toHaveLength(1);
  });

  test('it is never deleted because the pod ended, but when its manifest is gone', () => {
    const run = startStatic({ api: mirrorPod({ status: running }) });
    run.send(want(wantedStatic({ status: succeeded, released: true, ending: true })));
    run.settle('patchStatus', answer('12', succeeded));
    expect(run.pending()).toEqual([]);
    run.send({ type: 'status.unwanted' });
    run.settle('deleteMirror', ok());
    expect(run.snapshot.value).toBe('over');
  });

  test('a manifest that comes back while its mirror pod is deleted gets a new one', () => {
    const run = startStatic({ api: mirrorPod() });
    run.send({ type: 'status.unwanted' });
    run.send(want(wantedStatic()));
    run.settle('deleteMirror', ok());
    expect(run.pending('createMirror')).toHaveLength(1);
  });
});
