import { describe, expect, test } from '@jest/globals';
import type { ApiPod } from '../../machines/syncloop/api-source.types.ts';
import { statusWriterMachine } from '../../machines/syncloop/status-writer.machine.ts';
import type {
  PodWriterEvent,
  PodWriterInput,
  StatusWriterEvent,
  WantedPod,
} from '../../machines/syncloop/status-writer.types.ts';
import { apiPod, mirrorPod, podStatus, staticPod, wantedPod, wantedStatic } from '../support/api-pods.ts';
import { deferred, drive, type Call, type Driven } from '../support/drive.ts';
import { pod } from '../support/fixtures.ts';
import { expectAllTransitionsWalked, fail, ok, walk } from '../support/paths.ts';

type Run = Driven<typeof statusWriterMachine>;

const machine = deferred(statusWriterMachine);
const start = (): Run => drive(machine, { input: (world) => world });
const want = (wanted: WantedPod): StatusWriterEvent => ({
  type: 'pod.wanted',
  uid: wanted.pod.metadata.uid,
  ...wanted,
});
const forget = (uid: string): StatusWriterEvent => ({ type: 'pod.forgotten', uid });
const hear = (resourceVersion: string, ...pods: ApiPod[]): StatusWriterEvent => ({
  type: 'api.pods',
  resourceVersion,
  pods,
});

const inputOf = (call: Call) => call.input as PodWriterInput;
const uidOf = (call: Call) => inputOf(call).wanted?.pod.metadata.uid ?? `mirror ${inputOf(call).api?.uid}`;
const writers = (run: Run) => run.pending('podWriter').map(uidOf);

/** What a writer is sent from now on. */
function listen(run: Run, key: string): PodWriterEvent[] {
  const heard: PodWriterEvent[] = [];
  const ref = run.snapshot.context.writers[key]!.ref;
  const send = ref.send.bind(ref);
  ref.send = (event) => {
    heard.push(event);
    send(event);
  };
  return heard;
}

const web = wantedPod({ status: podStatus('Running') });
const etcd = wantedStatic({ status: podStatus('Running') });

describe('statusWriter', () => {
  test('every transition is walked; a pod never has two writers, nor a mirror pod', () => {
    const report = walk(statusWriterMachine, {
      inputs: { start: (world) => world },
      events: (): StatusWriterEvent[] => [
        want(web),
        want(etcd),
        want(wantedStatic({ pod: staticPod('static-2') })),
        forget('uid-1'),
        forget('static-1'),
        hear('11', apiPod(), mirrorPod()),
        hear('12'),
        { type: 'sources.ready' },
        { type: 'node.known', uid: 'node-uid' },
        { type: 'node.absent' },
      ],
      outcomes: { podWriter: [ok({}), ok({ deleted: 'mirror-1' }), fail('Bug')] },
      key: ({ context: { wanted, api, nodeUid, sourcesReady, gone, writers } }) => [
        Object.keys(wanted),
        api?.resourceVersion,
        nodeUid,
        sourcesReady,
        gone.length,
        Object.entries(writers).map(([key, writer]) => [key, writer.wanted === undefined]),
      ],
      invariants: {
        'one writer a pod': (run) => {
          const names = run.pending('podWriter').map((call) => `${inputOf(call).namespace}/${inputOf(call).name}`);
          return new Set(names).size < names.length ? `two writers of one name: ${names.join()}` : undefined;
        },
      },
      maxDepth: 4,
    });
    expectAllTransitionsWalked(report);
  });

  test('each pod gets its own writer, with what the API has of it; a mirror pod goes to its static pod’s', () => {
    const run = start();
    const other = wantedPod({ pod: pod({ uid: 'uid-2', name: 'db' }) });
    run.send(hear('11', apiPod(), mirrorPod()));
    for (const wanted of [web, other, etcd]) run.send(want(wanted));
    expect(run.pending('podWriter').map((call) => [uidOf(call), inputOf(call).name, inputOf(call).api?.uid])).toEqual([
      ['uid-1', 'web', 'uid-1'],
      ['uid-2', 'db', undefined],
      ['static-1', 'etcd', 'mirror-1'],
    ]);
  });

  test('a writer is told what changed of its own pod, and nothing else', () => {
    const run = start();
    const kept = apiPod({ uid: 'uid-2', name: 'db' });
    const before = apiPod();
    run.send(hear('11', before, kept));
    run.send(want(web));
    run.send(want(wantedPod({ pod: pod({ uid: 'uid-2', name: 'db' }) })));
    const told = [listen(run, 'uid-1'), listen(run, 'uid-2')];
    const changed = apiPod({ resourceVersion: '12' });
    run.send(hear('12', changed, kept));
    const next = wantedPod({ status: podStatus('Failed') });
    run.send(want(next));
    run.send(hear('13', kept));
    expect(told[0]).toEqual([
      { type: 'api.pod', heard: '12', pod: changed },
      { type: 'status.wanted', wanted: next },
      { type: 'api.pod', heard: '13', pod: undefined },
    ]);
    expect(told[1]).toEqual([]);
  });

  test('a static pod’s writer is told of every set that lacks the mirror pod', () => {
    const run = start();
    run.send(want(etcd));
    const told = listen(run, 'static-1');
    run.send(hear('11'));
    run.send(hear('12'));
    expect(told).toMatchObject([
      { heard: '11', pod: undefined },
      { heard: '12', pod: undefined },
    ]);
  });

  test('the Node is told to all, and to those that come later', () => {
    const run = start();
    run.send(want(web));
    const told = listen(run, 'uid-1');
    run.send({ type: 'node.known', uid: 'node-uid' });
    run.send(want(etcd));
    run.send({ type: 'node.absent' });
    expect(told).toEqual([
      { type: 'node.changed', uid: 'node-uid' },
      { type: 'node.changed', uid: undefined },
    ]);
    expect(inputOf(run.calls[1]!)).toMatchObject({ nodeUid: 'node-uid' });
  });

  test('a new version of a static pod waits for the mirror pod until the old one is forgotten and its writer is over', () => {
    const run = start();
    run.send(hear('11', mirrorPod()));
    run.send(want(etcd));
    run.send(want(wantedStatic({ pod: staticPod('static-2') })));
    expect(writers(run)).toEqual(['static-1']);
    run.send(forget('static-1'));
    expect(writers(run)).toEqual(['static-1']);
    run.settle('podWriter', ok({ deleted: 'mirror-1' }));
    expect(writers(run)).toEqual(['static-2']);
    expect(inputOf(run.pending()[0]!).api).toBeUndefined();
  });

  test('a mirror pod without static pod is deleted once every source has delivered, and once only', () => {
    const run = start();
    run.send(hear('11', mirrorPod()));
    expect(writers(run)).toEqual([]);
    run.send({ type: 'sources.ready' });
    expect(writers(run)).toEqual(['mirror mirror-1']);
    run.settle('podWriter', ok({ deleted: 'mirror-1' }));
    run.send(hear('12', mirrorPod()));
    expect(writers(run)).toEqual([]);
    run.send(hear('13'));
    run.send(hear('14', mirrorPod()));
    expect(writers(run)).toEqual(['mirror mirror-1']);
  });

  test('a pod that the agent refuses says why in its status, and can be deleted', () => {
    const run = start();
    const refused = (over: Partial<ApiPod> = {}) =>
      apiPod({ refused: { pod: pod({ metadata: over }), message: 'spec.subdomain: is not supported yet' }, ...over });
    const first = refused();
    run.send(hear('11', first));
    expect(inputOf(run.pending()[0]!)).toMatchObject({
      api: { uid: 'uid-1' },
      wanted: {
        source: 'api',
        released: true,
        status: {
          phase: 'Pending',
          containerStatuses: [
            {
              name: 'app',
              state: {
                waiting: { reason: 'CreateContainerConfigError', message: 'spec.subdomain: is not supported yet' },
              },
            },
          ],
        },
      },
    });
    const told = listen(run, 'uid-1');
    run.send(hear('12', first));
    expect(told).toEqual([]);
    run.send(hear('13', refused({ resourceVersion: '13', deletionTimestamp: '2026-01-01T00:00:00Z' })));
    expect(told[0]).toMatchObject({ wanted: { released: true, status: { phase: 'Failed' } } });
  });

  test('a writer that failed is told, and made anew after a pause from what is known', () => {
    const run = start();
    run.send(hear('11', apiPod()));
    run.send(want(web));
    run.settle('podWriter', fail('Bug', 'undefined is not a function'));
    expect(run.parent.events()).toEqual([
      'Warning FailedSync the writer of its status failed and is started again: undefined is not a function',
    ]);
    expect(writers(run)).toEqual([]);
    run.advance(1000);
    expect(writers(run)).toEqual(['uid-1']);
    expect(inputOf(run.pending()[0]!).api?.uid).toBe('uid-1');
  });

  test('a pod that comes back under its UID while its writer ends gets another one', () => {
    const run = start();
    run.send(hear('11', apiPod()));
    run.send(want(web));
    run.send(forget('uid-1'));
    run.send(want(web));
    run.settle('podWriter', ok({}));
    expect(writers(run)).toEqual(['uid-1']);
  });
});
