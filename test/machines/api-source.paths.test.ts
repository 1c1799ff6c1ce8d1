import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../machines/kubernetes.types.ts';
import { apiSourceMachine } from '../../machines/syncloop/api-source.machine.ts';
import type {
  ApiPods,
  PodWatchEvent,
  WatchPodsEvent,
  WatchPodsInput,
} from '../../machines/syncloop/api-source.types.ts';
import type { SourceSet } from '../../machines/syncloop/syncloop.types.ts';
import { deferred, drive, type Driven, type DriveOptions } from '../support/drive.ts';
import { agentError, pod, T0 } from '../support/fixtures.ts';
import { emit, expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';

type Run = Driven<typeof apiSourceMachine>;

const input: DriveOptions<typeof apiSourceMachine>['input'] = (world) => ({ ...world, nodeName: 'node-1' });
const machine = deferred(apiSourceMachine);
const GATHER = 500;

/** A pod of the API as it stands on the wire. */
const object = (
  uid: string,
  resourceVersion: string,
  over: Parameters<typeof pod>[0] & { status?: Pod['status'] } = {},
): Pod => {
  const { status, ...rest } = over;
  const made = pod({ uid, name: uid, ...rest });
  return { ...made, metadata: { ...made.metadata, resourceVersion }, ...(status && { status }) };
};
const list = (resourceVersion: string, ...items: Pod[]) => ok({ resourceVersion, items }, `list ${items.length}`);
const batch = (...events: [PodWatchEvent['type'], Pod][]): WatchPodsEvent => ({
  type: 'watch.batch',
  events: events.map(([type, item]) => ({ type, object: item })),
});
const ended = (message?: string): WatchPodsEvent => ({ type: 'watch.ended', ...(message && { message }) });
const bookmark = (resourceVersion: string) => batch(['BOOKMARK', { metadata: { resourceVersion } }]);

const sets = (run: Run) => run.parent.ofType<SourceSet>('source.set');
const uids = (set?: SourceSet) => set?.pods.map(({ metadata }) => metadata.uid);
const news = (run: Run) => run.parent.ofType<ApiPods>('api.pods');
const watchFrom = (run: Run) => (run.pending('watchPods')[0]?.input as WatchPodsInput | undefined)?.resourceVersion;
const keeps = (run: Run) =>
  run.calls
    .filter(({ src }) => src === 'keepPods')
    .map((call) => call.input as { keep: Pod[]; forget: string[] })
    .map(({ keep, forget }) => ({ keep: keep.map(({ metadata }) => metadata?.uid), forget }));

/** Up to its first listing, with what an earlier agent kept. */
function begin(...kept: Pod[]): Run {
  const run = drive(machine, { input });
  run.settle('recallPods', ok(kept));
  return run;
}
/** Following a watch since resourceVersion 10, with every pod kept. */
function following(...pods: Pod[]): Run {
  const run = begin();
  run.settle('listPods', list('10', ...pods));
  run.advance(GATHER);
  if (run.pending('keepPods').length) run.settle('keepPods', ok());
  return run;
}
/** What is to be kept is gathered for a moment, and then kept with this result. */
function keep(run: Run, result: ReturnType<typeof ok> | ReturnType<typeof fail> = ok()): void {
  if (!run.pending('keepPods').length) run.advance(GATHER);
  run.settle('keepPods', result);
}

describe('apiSource', () => {
  test('every transition is walked; one listing or watch at a time, and never the same set twice in a row', () => {
    const outcomes = [
      bookmark('12'),
      batch(['ADDED', object('b', '13')]),
      ended(),
      ended('refused'),
      { type: 'watch.expired' } as const,
    ];
    const report = walk(apiSourceMachine, {
      inputs: { start: input },
      events: () => [],
      outcomes: {
        recallPods: [ok([]), ok([object('a', '9')]), fail('EIO')],
        listPods: [list('10', object('a', '10')), list('11'), fail('UNAVAILABLE')],
        watchPods: [...outcomes.map((event) => emit(event)), ok(), fail('UnfilledSlot')],
        keepPods: [ok(), fail('ENOSPC')],
      },
      key: ({ context }) => [
        context.set.size,
        context.resourceVersion === undefined,
        context.offline,
        Math.min(context.listFailures, 1),
        Math.min(context.watchFailures, 3),
        context.heardAny,
        context.kept.length,
        context.unrecalled,
      ],
      invariants: {
        'one reading': oneAtATime(['listPods', 'watchPods']),
        'one hand on the copies': oneAtATime(['recallPods', 'keepPods']),
        'no set is sent twice in a row': (run) => {
          const sent = sets(run).map((set) => JSON.stringify(set));
          return sent.some((set, i) => set === sent[i - 1]) ? 'the same set was sent again' : undefined;
        },
        'only what a listing gave counts as delivered': (run) => {
          const listed = run.calls.some(({ src, state }) => src === 'listPods' && state === 'ok');
          return !listed && sets(run).some(({ recalled }) => !recalled) ? 'delivered unheard' : undefined;
        },
        'nothing that was recalled comes after a listing': (run) => {
          const flags = sets(run).map(({ recalled }) => recalled === true);
          return flags.lastIndexOf(true) > flags.indexOf(false) && flags.includes(false) ? 'recalled late' : undefined;
        },
      },
      maxDepth: 8,
    });
    expectAllTransitionsWalked(report);
  });

  test('the first set is delivered even when it is empty, with the objects for the writer of statuses', () => {
    const run = following();
    expect(run.parent.sent).toEqual([
      { type: 'source.set', source: 'api', pods: [], problems: [] },
      { type: 'api.pods', resourceVersion: '10', pods: [] },
    ]);
    expect(run.pending('watchPods').map((call) => call.input)).toEqual([{ nodeName: 'node-1', resourceVersion: '10' }]);
  });

  test('a watch tells of pods that come, change and go; those that did not change stay the same objects', () => {
    const run = following(object('a', '5'));
    run.send(batch(['ADDED', object('b', '11')]));
    run.send(batch(['MODIFIED', object('b', '12', { spec: { activeDeadlineSeconds: 5 } })]));
    run.send(batch(['DELETED', object('b', '13')]));
    expect(sets(run).map(uids)).toEqual([['a'], ['a', 'b'], ['a', 'b'], ['a']]);
    expect(sets(run)[2]?.pods[1]?.spec.activeDeadlineSeconds).toBe(5);
    expect(new Set(sets(run).map(({ pods }) => pods[0])).size).toBe(1);
  });

  test('an own write of a status comes back as news for its writer, not as a change of the pod', () => {
    const run = following(object('a', '5'));
    run.send(batch(['MODIFIED', object('a', '11', { status: { phase: 'Running' } })]));
    expect(sets(run)).toHaveLength(1);
    expect(news(run).at(-1)).toMatchObject({
      resourceVersion: '11',
      pods: [{ uid: 'a', resourceVersion: '11', status: { phase: 'Running' } }],
    });
  });

  test('B083 a condition that others set is a change of the pod: a readiness gate waits for it', () => {
    const run = following(object('a', '5'));
    const status = { conditions: [{ type: 'example.com/gate', status: 'True' }] };
    run.send(batch(['MODIFIED', object('a', '11', { status })]));
    expect(sets(run).at(-1)?.pods[0]?.status).toEqual(status);
    run.send(batch(['MODIFIED', object('a', '12', { status: { ...status, phase: 'Running' } })]));
    expect(sets(run)).toHaveLength(2);
  });

  test('a pod that is deleted is delivered with its deletion; a shorter grace is another change', () => {
    const run = following(object('a', '5'));
    for (const [rv, deletionGracePeriodSeconds] of [
      ['11', 30],
      ['12', 5],
    ] as const)
      run.send(
        batch([
          'MODIFIED',
          object('a', rv, { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds } }),
        ]),
      );
    expect(sets(run).map(({ pods }) => pods[0]?.metadata.deletionGracePeriodSeconds)).toEqual([undefined, 30, 5]);
  });

  test('a pod that is deleted and made again under its name is another pod', () => {
    const run = following(object('a', '5', { name: 'web' }));
    run.send(batch(['DELETED', object('a', '11', { name: 'web' })], ['ADDED', object('b', '12', { name: 'web' })]));
    expect(sets(run).map(uids)).toEqual([['a'], ['b']]);
  });

  test('mirror pods are no pods to run', () => {
    const mirror = object('m', '6', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'hash-1' } } });
    const run = following(mirror);
    expect(uids(sets(run)[0])).toEqual([]);
    expect(news(run)[0]?.pods).toEqual([
      { uid: 'm', name: 'm', namespace: 'default', resourceVersion: '6', mirrorHash: 'hash-1' },
    ]);
  });

  test('what mirror pods say is told when the API is first heard, and never again; no end, no deletion', () => {
    const mirror = (uid: string, version: string, phase: string, more: object = {}) =>
      object(uid, version, {
        metadata: { annotations: { 'kubernetes.io/config.mirror': `hash-${uid}` }, ...more },
        status: { phase },
      });
    const gone = mirror('d', '8', 'Running', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    const run = following(mirror('m', '6', 'Running'), mirror('f', '7', 'Failed'), gone);
    expect(sets(run)[0]?.mirrors).toEqual({ 'hash-m': { phase: 'Running' } });
    run.send(batch(['MODIFIED', mirror('m', '11', 'Pending')], ['ADDED', object('a', '12')]));
    expect(sets(run).at(-1)).not.toHaveProperty('mirrors');
  });

  test('a watch that ends after it was good is begun again at once, where it ended', () => {
    const run = following();
    run.send(bookmark('20'));
    run.send(ended());
    expect(watchFrom(run)).toBe('20');
    run.advance(1000);
    run.send(ended());
    expect(run.pending('watchPods')).toHaveLength(1);
    run.send(ended());
    expect(run.pending('watchPods')).toEqual([]);
    expect(run.untilTimer()).toBe(600);
  });

  test('a watch that fails is tried ever more seldom, and after three failures by a listing; what is known stands', () => {
    const run = following(object('a', '5'));
    const waits: (number | undefined)[] = [];
    for (let tries = 0; tries < 8; tries++) {
      run.send(ended('connection refused'));
      waits.push(run.untilTimer());
      run.advance(run.untilTimer()!);
      if (run.pending('listPods').length) run.settle('listPods', list('10', object('a', '5')));
    }
    expect(waits).toEqual([600, 1200, 2400, 4800, 9600, 19_200, 22_500, 22_500]);
    expect(run.calls.filter(({ src }) => src === 'listPods')).toHaveLength(7);
    expect(sets(run)).toHaveLength(1);
    run.send(bookmark('11'));
    run.send(ended('cut'));
    expect(run.untilTimer()).toBe(600);
  });

  test('a server that has forgotten what happened is asked for all', () => {
    const run = following(object('a', '5'), object('b', '6'));
    run.send({ type: 'watch.expired' });
    run.settle('listPods', list('90', object('b', '6'), object('c', '80')));
    keep(run);
    expect(uids(sets(run).at(-1))).toEqual(['b', 'c']);
    expect(sets(run).at(-1)?.pods[0]).toBe(sets(run)[0]?.pods[1]);
    expect(watchFrom(run)).toBe('90');
    run.send({ type: 'watch.expired' });
    expect(run.pending('listPods')).toEqual([]);
    expect(run.untilTimer()).toBe(1200);
  });

  test('B074 an API server that is away at boot: the kept pods count, but not as delivered, until it answers', () => {
    const earlier = following(object('a', '5'), object('b', '6'));
    const kept = JSON.parse(JSON.stringify(sets(earlier)[0]?.pods)) as Pod[];
    const run = begin(...kept);
    run.settle('listPods', fail('UNAVAILABLE', 'connection refused'));
    expect(sets(run)).toMatchObject([
      { recalled: true, problems: [{ origin: 'api', message: 'cannot list pods: connection refused' }] },
    ]);
    expect(sets(run)[0]?.pods).toEqual(kept);
    expect(news(run)).toEqual([]);
    run.advance(600);
    run.settle('listPods', list('50', object('b', '6')));
    expect(sets(run)[1]).toEqual({ type: 'source.set', source: 'api', pods: [kept[1]], problems: [] });
    expect(sets(run)[1]?.pods[0]).toBe(sets(run)[0]?.pods[1]);
    run.advance(GATHER);
    expect(keeps(run)).toEqual([{ keep: [], forget: ['a'] }]);
  });

  test('an API server that does not answer at boot is waited for, but not for long', () => {
    const run = begin(object('a', '5'));
    expect(run.parent.sent).toEqual([]);
    run.advance(3000);
    expect(sets(run)).toMatchObject([{ recalled: true, pods: [{ metadata: { uid: 'a' } }] }]);
    run.settle('listPods', list('50', object('a', '5')));
    expect(sets(run).map(({ recalled }) => recalled)).toEqual([true, undefined]);
  });

  test('an outage is told once, is shown while it lasts, and changes no pod', () => {
    const run = following(object('a', '5'));
    run.send({ type: 'watch.expired' });
    for (let tries = 0; tries < 3; tries++) {
      run.settle('listPods', fail('UNAVAILABLE', 'connection refused'));
      run.advance(run.untilTimer()!);
    }
    expect(run.parent.events()).toEqual(['Warning FailedSync cannot list pods: connection refused']);
    expect(sets(run).map((set) => [uids(set), set.problems.length])).toEqual([
      [['a'], 0],
      [['a'], 1],
    ]);
    run.settle('listPods', list('60', object('a', '5')));
    expect(sets(run).at(-1)?.problems).toEqual([]);
  });

  test('a listing that the API asks to put off is put off for as long', () => {
    const run = begin();
    const busy = fail('TooManyRequests');
    run.settle('listPods', {
      ...busy,
      error: Object.assign(agentError('TooManyRequests'), { retryAfterMs: 45_000 }),
    } as typeof busy);
    expect(run.untilTimer()).toBe(45_000);
  });

  test('pods are kept as they are delivered, once; a status is no reason', () => {
    const run = following(object('a', '5'));
    run.send(batch(['MODIFIED', object('a', '11', { status: { phase: 'Running' } })]));
    expect(run.untilTimer()).toBeUndefined();
    run.send(batch(['ADDED', object('b', '12')]));
    run.send(batch(['ADDED', object('c', '13')]));
    run.advance(GATHER);
    run.send(batch(['ADDED', object('d', '14')], ['DELETED', object('a', '15')]));
    run.settle('keepPods', ok());
    keep(run);
    expect(keeps(run)).toEqual([
      { keep: ['a'], forget: [] },
      { keep: ['b', 'c'], forget: [] },
      { keep: ['d'], forget: ['a'] },
    ]);
    expect(run.pending('keepPods')).toEqual([]);
  });

  test('a pod that goes after it could not be kept is forgotten all the same: some of it may have been written', () => {
    const run = begin();
    run.settle('listPods', list('10', object('a', '5'), object('b', '6')));
    keep(run, fail('EIO'));
    run.send(batch(['DELETED', object('a', '11')]));
    run.advance(30_000);
    keep(run);
    expect(keeps(run)).toEqual([
      { keep: ['a', 'b'], forget: [] },
      { keep: ['b'], forget: ['a'] },
    ]);
    expect(run.pending('keepPods')).toEqual([]);
  });

  test('copies that could not be looked up at first are looked up again, and those of pods that are gone forgotten', () => {
    const run = drive(machine, { input });
    run.settle('recallPods', fail('EIO', 'input/output error'));
    expect(run.pending('recallPods')).toEqual([]);
    run.settle('listPods', list('10', object('a', '5')));
    keep(run);
    run.settle('recallPods', fail('EIO'));
    run.advance(30_000);
    run.settle('recallPods', ok([object('a', '3'), object('gone', '4')]));
    keep(run);
    expect(keeps(run)).toEqual([
      { keep: ['a'], forget: [] },
      { keep: [], forget: ['gone'] },
    ]);
    expect(run.parent.events()).toEqual([
      'Warning FailedSync the pods of an earlier agent are not known: input/output error',
    ]);
    expect(run.pending('recallPods')).toEqual([]);
  });

  test('pods that cannot be kept are told once and tried again; nothing waits for that', () => {
    const run = begin();
    run.settle('listPods', list('10', object('a', '5')));
    for (let tries = 0; tries < 2; tries++) {
      keep(run, fail('ENOSPC', 'no space left on device'));
      run.advance(30_000);
    }
    run.advance(GATHER);
    expect(run.parent.events()).toEqual([
      'Warning FailedSync the pods of the API could not be kept: no space left on device',
    ]);
    expect(run.pending('keepPods')).toHaveLength(1);
    expect(uids(sets(run)[0])).toEqual(['a']);
  });

  test('a pod that asks for what the agent cannot do is told once and refused; the others run', () => {
    const run = following(object('a', '5', { spec: { subdomain: 'x' } }), object('b', '6'));
    expect(uids(sets(run)[0])).toEqual(['b']);
    expect(sets(run)[0]?.problems).toMatchObject([{ origin: 'api default/a' }]);
    expect(news(run)[0]?.pods[0]?.refused?.message).toContain('spec.subdomain');
    run.send(batch(['MODIFIED', object('a', '11', { spec: { subdomain: 'x' }, status: { phase: 'Pending' } })]));
    expect(news(run).at(-1)?.pods[0]).toMatchObject({
      resourceVersion: '11',
      refused: { pod: { metadata: { uid: 'a' } } },
    });
    expect(run.parent.events()).toHaveLength(1);
    expect(run.parent.sent[0]).toMatchObject({ event: { reason: 'FailedValidation', pod: { uid: 'a' } } });
  });
});

test('pods carry when the agent saw them first', () => {
  const run = following(object('a', '5'));
  run.advance(5000);
  run.send(batch(['MODIFIED', object('a', '11', { spec: { activeDeadlineSeconds: 9 } })]));
  expect(sets(run)[1]?.pods[0]?.metadata.annotations).toEqual({
    'kubernetes.io/config.source': 'api',
    'kubernetes.io/config.seen': new Date(T0).toISOString(),
  });
});
