import { describe, expect, test } from '@jest/globals';
import type { RawManifest, WatchManifestsEvent } from '../../machines/syncloop/pod-source.types.ts';
import { podSourceMachine } from '../../machines/syncloop/pod-source.machine.ts';
import type { SourceSet } from '../../machines/syncloop/syncloop.types.ts';
import { deferred, drive, type Driven, type DriveOptions } from '../support/drive.ts';
import { T0 } from '../support/fixtures.ts';
import { emit, expectAllTransitionsWalked, fail, ok, oneAtATime, walk } from '../support/paths.ts';

type Run = Driven<typeof podSourceMachine>;

const DIR = '/etc/kubernetes/manifests';
const input: DriveOptions<typeof podSourceMachine>['input'] = (world) => ({
  ...world,
  source: 'file',
  nodeName: 'node-1',
  location: DIR,
  periodMs: 20_000,
});
type Over = { source?: 'file' | 'http'; location?: string };
/** Up to its first reading, with what an earlier agent kept. */
function begin(over: Over = {}, kept: Record<string, string> = {}) {
  const run = drive(deferred(podSourceMachine), { input: (world) => ({ ...input(world), ...over }) });
  run.settle('recallManifests', ok(kept));
  return run;
}
/** The same, every last good text being kept as soon as that is asked for. */
function start(over: Over = {}, kept: Record<string, string> = {}): Run {
  const run = begin(over, kept);
  const settle: Run['settle'] = (which, outcome) => {
    run.settle(which, outcome);
    while (run.pending('keepManifests').length) run.settle('keepManifests', ok());
  };
  return Object.create(run, { settle: { value: settle } }) as Run;
}

const manifest = (name: string, image = 'busybox:1') =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: app\n    image: ${image}\n`;
const file = (name: string, text: string): RawManifest => ({ origin: `${DIR}/${name}.yaml`, text });
const unreadable = (name: string): RawManifest => ({ origin: `${DIR}/${name}.yaml`, error: 'permission denied' });
const read = (...raw: RawManifest[]) => ok(raw, raw.map((r) => r.text?.length ?? r.error).join());
const changed = { type: 'manifests.changed' as const };
const says = (event: WatchManifestsEvent) => emit(event);

const sets = (run: Run) => run.parent.ofType<SourceSet>('source.set');
const names = (set?: SourceSet) => set?.pods.map(({ metadata }) => metadata.name);
const images = (set?: SourceSet) => set?.pods.map(({ spec }) => spec.containers[0]?.image);

/** Word of a change, and what is read then. */
function save(run: Run, ...raw: RawManifest[]) {
  run.send(changed);
  run.settle('readManifests', read(...raw));
}

describe('podSource', () => {
  test('every transition is walked; one reading at a time, and never the same set twice in a row', () => {
    const report = walk(podSourceMachine, {
      inputs: { start: input },
      events: () => [changed],
      outcomes: {
        watchManifests: [says({ type: 'watch.failed', message: 'too many watches' }), ok(), fail('UnfilledSlot')],
        readManifests: [
          read(),
          read(file('a', manifest('a'))),
          read(file('a', '{')),
          read({ origin: DIR, error: 'does not exist', missing: true }),
          fail('EIO'),
        ],
        recallManifests: [ok({}), ok({ [`${DIR}/a.yaml`]: manifest('a') }), fail('EIO')],
        keepManifests: [ok(), fail('ENOSPC')],
      },
      key: ({ context }) => [
        Object.keys(context.kept).length,
        context.unkept,
        Object.values(context.set).map(({ pods, problems }) => [pods.length, problems.length]),
        context.lost.length,
        context.dirty,
        context.read,
        context.unavailable === undefined,
        context.unwatched === undefined,
        Math.min(context.failures, 1),
      ],
      invariants: {
        'one reading': oneAtATime(['readManifests']),
        'no set is sent twice in a row': (run) => {
          const sent = run.parent.ofType('source.set').map((set) => JSON.stringify(set));
          return sent.some((set, i) => set === sent[i - 1]) ? 'the same set was sent again' : undefined;
        },
        'nothing is delivered before the source was read': (run) =>
          run.parent.ofType('source.set').length > 0 && !run.snapshot.context.read ? 'delivered unread' : undefined,
      },
      maxDepth: 7,
    });
    expectAllTransitionsWalked(report);
  });

  test('the first set is delivered even when it is empty; the same set is not delivered again', () => {
    const run = start();
    run.settle('readManifests', read());
    expect(run.parent.sent).toEqual([{ type: 'source.set', source: 'file', pods: [], problems: [] }]);
    run.advance(20_000);
    run.settle('readManifests', read());
    expect(run.parent.sent).toHaveLength(1);
  });

  test('pods carry the node’s name and what makes them static', () => {
    const run = start();
    run.settle('readManifests', read(file('web', manifest('web'))));
    expect(sets(run)[0]?.pods[0]).toMatchObject({
      metadata: {
        name: 'web-node-1',
        namespace: 'default',
        annotations: {
          'kubernetes.io/config.source': 'file',
          'kubernetes.io/config.seen': new Date(T0).toISOString(),
        },
      },
      spec: { nodeName: 'node-1' },
    });
  });

  test('a source that could never be read delivers nothing, says so once, and is tried soon and ever more seldom', () => {
    const run = start({ source: 'http', location: 'https://user:secret@config.example/pods' });
    for (const wait of [1000, 2000, 4000, 8000, 16_000, 20_000]) {
      run.settle('readManifests', fail('ECONNREFUSED', 'connection refused'));
      expect(run.untilTimer()).toBe(wait);
      run.advance(wait);
    }
    expect(run.parent.sent.map((m) => m.type)).toEqual(['event.happened']);
    expect(run.parent.events()).toEqual(['Warning FailedValidation https://config.example/pods: connection refused']);
    run.settle('readManifests', read());
    expect(sets(run)).toEqual([{ type: 'source.set', source: 'http', pods: [], problems: [] }]);
  });

  test('a source that cannot be read any more keeps its pods', () => {
    const run = start();
    run.settle('readManifests', read(file('a', manifest('a'))));
    run.send(changed);
    run.settle('readManifests', fail('EIO', 'input/output error'));
    expect(names(sets(run).at(-1))).toEqual(['a-node-1']);
    expect(sets(run).at(-1)?.problems).toEqual([{ origin: DIR, message: `${DIR}: input/output error` }]);
  });

  test('a folder that does not exist is an empty set with a problem; its pods go when it goes', () => {
    const gone = { origin: DIR, error: 'does not exist', missing: true };
    const run = start();
    run.settle('readManifests', read(gone));
    expect(sets(run)).toEqual([
      {
        type: 'source.set',
        source: 'file',
        pods: [],
        problems: [{ origin: DIR, message: `${DIR}: does not exist` }],
      },
    ]);
    save(run, file('a', manifest('a')));
    save(run, gone);
    run.advance(100);
    run.settle('readManifests', read(gone));
    expect(sets(run).map(names)).toEqual([[], ['a-node-1'], []]);
  });

  test('a single file that does not exist any more gives up its pod; one that is unreadable keeps it', () => {
    const path = `${DIR}/a.yaml`;
    const run = start({ location: path });
    run.settle('readManifests', read(file('a', manifest('a'))));
    save(run, { origin: path, error: 'permission denied' });
    expect(names(sets(run).at(-1))).toEqual(['a-node-1']);
    const missing = { origin: path, error: 'does not exist', missing: true };
    save(run, missing);
    run.advance(100);
    run.settle('readManifests', read(missing));
    expect(names(sets(run).at(-1))).toEqual([]);
  });

  test('a manifest that is empty, half-written, invalid or unreadable keeps its pod and is told with its file', () => {
    const good = manifest('a');
    const bad: RawManifest[] = [
      file('a', ''),
      file('a', good.slice(0, good.indexOf('spec'))),
      file('a', good.replace('image:', 'imagee:')),
      unreadable('a'),
    ];
    for (const broken of bad) {
      const run = start();
      run.settle('readManifests', read(file('a', good), file('b', manifest('b'))));
      const running = sets(run)[0]?.pods;
      save(run, broken, file('b', manifest('b')));
      expect(sets(run).at(-1)?.pods).toEqual(running);
      expect(sets(run).at(-1)?.problems[0]?.message).toContain(`${DIR}/a.yaml`);
      save(run, file('a', good), file('b', manifest('b')));
      expect(sets(run).at(-1)).toEqual({ type: 'source.set', source: 'file', pods: running, problems: [] });
    }
  });

  test('a bad manifest is no reason not to run the others', () => {
    const run = start();
    run.settle('readManifests', read(file('a', 'kind: Pod'), file('b', manifest('b'))));
    expect(names(sets(run)[0])).toEqual(['b-node-1']);
    expect(sets(run)[0]?.problems).toMatchObject([{ origin: `${DIR}/a.yaml` }]);
  });

  test('a problem is told as an event once, and anew when it comes back', () => {
    const run = start();
    run.settle('readManifests', read(file('a', '')));
    for (let i = 0; i < 5; i++) {
      run.advance(20_000);
      run.settle('readManifests', read(file('a', '')));
    }
    expect(run.parent.events()).toHaveLength(1);
    expect(sets(run)).toHaveLength(1);
    save(run, file('a', manifest('a')));
    save(run, file('a', ''));
    expect(run.parent.events()).toHaveLength(2);
  });

  test('two manifests of one pod: the first runs, the other is told as a duplicate', () => {
    const run = start();
    run.settle('readManifests', read(file('a', manifest('web', 'busybox:1')), file('b', manifest('web', 'busybox:2'))));
    expect(images(sets(run)[0])).toEqual(['busybox:1']);
    expect(run.parent.events()[0]).toMatch(
      /^Warning FailedValidation Error validating pod .* due to duplicate pod name/,
    );
    run.advance(20_000);
    run.settle('readManifests', read(file('a', manifest('web', 'busybox:1')), file('b', manifest('web', 'busybox:2'))));
    expect(run.parent.events()).toHaveLength(1);
  });

  test('B097 each save leads to just one update: rename-over, truncate and write, symlink swap', () => {
    const run = start();
    run.settle('readManifests', read(file('a', manifest('a', 'busybox:0'))));
    let version = 0;
    for (let i = 0; i < 20; i++) {
      // Renamed over: the new text is there at once.
      version += 1;
      save(run, file('a', manifest('a', `busybox:${version}`)));
      // Truncated, then written: an empty file may be read in between.
      version += 1;
      save(run, file('a', ''));
      save(run, file('a', manifest('a', `busybox:${version}`)));
      // Swapped: the link may be missing in between.
      version += 1;
      save(run);
      run.send(changed);
      run.advance(100);
      run.settle('readManifests', read(file('a', manifest('a', `busybox:${version}`))));
      // Saved without a change.
      save(run, file('a', manifest('a', `busybox:${version}`)));
    }
    const history = sets(run).flatMap(images);
    expect(sets(run).every(({ pods }) => pods.length === 1)).toBe(true);
    const updates = history.filter((image, i) => image !== history[i - 1]);
    expect(updates).toEqual(Array.from({ length: 61 }, (_, i) => `busybox:${i}`));
  });

  test('a manifest that is removed takes its pod along, and brings it back when it is put back', () => {
    const run = start();
    run.settle('readManifests', read(file('a', manifest('a'))));
    save(run);
    expect(sets(run)).toHaveLength(1);
    run.advance(100);
    run.settle('readManifests', read());
    save(run, file('a', manifest('a')));
    expect(sets(run).map(names)).toEqual([['a-node-1'], [], ['a-node-1']]);
  });

  test('a change during a reading leads to another reading', () => {
    const run = start();
    run.send(changed);
    run.settle('readManifests', read());
    expect(run.pending('readManifests')).toHaveLength(1);
  });

  test('a folder that cannot be watched is told as a problem and read each period', () => {
    const run = start();
    run.settle('watchManifests', says({ type: 'watch.failed', message: 'too many watches' }));
    expect(sets(run)).toEqual([]);
    run.settle('readManifests', read());
    expect(sets(run)[0]?.problems).toEqual([{ origin: DIR, message: `${DIR}: cannot be watched: too many watches` }]);
    expect(run.untilTimer()).toBe(20_000);
    run.send(changed);
    run.settle('readManifests', read());
    expect(sets(run).at(-1)?.problems).toEqual([]);
  });

  describe('what an earlier agent kept', () => {
    const path = `${DIR}/a.yaml`;
    const kept = { [path]: manifest('a') };
    const uids = (set?: SourceSet) => set?.pods.map(({ metadata }) => metadata.uid);
    const uidOf = (text: string) => {
      const run = start();
      run.settle('readManifests', read(file('a', text)));
      return uids(sets(run)[0])?.[0];
    };

    test.each<[string, RawManifest]>([
      ['empty', file('a', '')],
      ['half-written', file('a', manifest('a').slice(0, 14))],
      ['unreadable', unreadable('a')],
    ])('holds the pods of a manifest that was made %s while no agent ran, and says so', (_what, broken) => {
      const run = start({}, kept);
      run.settle('readManifests', read(broken));
      expect(uids(sets(run)[0])).toEqual([uidOf(manifest('a'))]);
      expect(sets(run)[0]?.problems[0]?.message).toMatch(/a\.yaml: .* \(its last good version stays in force\)$/);
      expect(run.parent.events()).toHaveLength(1);
      save(run, file('a', manifest('a')));
      expect(sets(run).at(-1)).toMatchObject({ problems: [] });
      expect(uids(sets(run).at(-1))).toEqual(uids(sets(run)[0]));
    });

    test('holds until the manifest is mended into another pod, or removed', () => {
      const mended = start({}, kept);
      mended.settle('readManifests', read(file('a', '{')));
      save(mended, file('a', manifest('a', 'busybox:2')));
      expect(uids(sets(mended).at(-1))).toEqual([uidOf(manifest('a', 'busybox:2'))]);
      const removed = start({}, kept);
      removed.settle('readManifests', read(file('a', '{')));
      save(removed);
      removed.advance(100);
      removed.settle('readManifests', read());
      expect(names(sets(removed).at(-1))).toEqual([]);
    });

    test('holds the pods of a URL that does not answer when the agent starts', () => {
      const url = 'https://config.example/pods';
      const run = start({ source: 'http', location: url }, { [url]: manifest('a') });
      run.settle('readManifests', read({ origin: url, error: 'the server answered 503' }));
      expect(names(sets(run)[0])).toEqual(['a-node-1']);
    });

    test('gives way to a good manifest, and to its absence, which is looked at twice', () => {
      const changedMeanwhile = start({}, kept);
      changedMeanwhile.settle('readManifests', read(file('a', manifest('a', 'busybox:2'))));
      expect(images(sets(changedMeanwhile)[0])).toEqual(['busybox:2']);
      const run = begin({}, kept);
      run.settle('readManifests', read());
      expect(sets(run)).toEqual([]);
      run.advance(100);
      run.settle('readManifests', read());
      expect(sets(run).map(names)).toEqual([[]]);
      expect(run.pending('keepManifests')[0]?.input).toEqual({ source: 'file', keep: [], forget: [path] });
    });

    test('is kept up: what is new or changed is written, what is gone is forgotten, what is broken stays', () => {
      const run = begin();
      const keeping = () => run.pending('keepManifests')[0]?.input;
      run.settle('readManifests', read(file('a', manifest('a')), file('b', '{')));
      expect(keeping()).toEqual({ source: 'file', keep: [{ origin: path, text: manifest('a') }], forget: [] });
      run.settle('keepManifests', ok());
      save(run, file('a', '{'), file('b', '{'));
      expect(keeping()).toBeUndefined();
      save(run, file('a', manifest('a', 'busybox:2')));
      expect(keeping()).toMatchObject({ keep: [{ origin: path, text: manifest('a', 'busybox:2') }], forget: [] });
      run.settle('keepManifests', fail('ENOSPC', 'no space left on device'));
      expect(run.parent.events().at(-1)).toBe(
        'Warning FailedSync the last good manifests could not be kept: no space left on device',
      );
      run.advance(20_000);
      run.settle('readManifests', read(file('a', manifest('a', 'busybox:2'))));
      expect(keeping()).toMatchObject({ keep: [{ origin: path }] });
    });

    test('that cannot be looked up is told, and does not keep from reading', () => {
      const run = drive(deferred(podSourceMachine), { input });
      run.settle('recallManifests', fail('EIO', 'input/output error'));
      expect(run.parent.events()).toEqual([
        'Warning FailedSync the last good manifests are not known: input/output error',
      ]);
      expect(run.pending('readManifests')).toHaveLength(1);
    });
  });
});
