import { describe, expect, test } from '@jest/globals';
import { nextWrite, type WriterView } from '../../../machines/syncloop/policy/next-write.ts';
import { isNewer } from '../../../machines/syncloop/policy/resource-version.ts';
import { apiPod, mirrorPod, podStatus, wantedPod, wantedStatic } from '../../support/api-pods.ts';

const next = (view: WriterView) => nextWrite(view).do;
const running = podStatus('Running');
const succeeded = podStatus('Succeeded');
const DELETED = '2026-01-01T00:00:00Z';

describe('of an API pod', () => {
  test('a status is written where the API has another', () => {
    expect(nextWrite({ wanted: wantedPod({ status: running }), api: apiPod() })).toEqual({
      do: 'writeStatus',
      status: running,
    });
    expect(next({ wanted: wantedPod({ status: running }), api: apiPod({ status: running }) })).toBe('nothing');
    expect(next({ wanted: wantedPod(), api: apiPod() })).toBe('nothing');
    expect(next({ wanted: wantedPod({ status: running }) })).toBe('nothing');
  });

  test('what the API makes of a status is not fought over, until either side changes', () => {
    const asked = { ...running, qosClass: 'Burstable' };
    const view = { wanted: wantedPod({ status: asked }), api: apiPod({ status: running }) };
    expect(next({ ...view, written: { asked, got: running } })).toBe('nothing');
    expect(next({ ...view, written: { asked, got: podStatus('Pending') } })).toBe('writeStatus');
    expect(next({ ...view, written: { asked: running, got: running } })).toBe('writeStatus');
  });

  const ended = {
    wanted: wantedPod({ status: succeeded, released: true }),
    api: apiPod({ status: succeeded, deletionTimestamp: DELETED }),
  };
  const other: [string, WriterView][] = [
    ['is not deleted', { ...ended, api: apiPod({ status: succeeded }) }],
    ['still holds something', { ...ended, wanted: wantedPod({ status: succeeded }) }],
    [
      'has not ended',
      { wanted: wantedPod({ status: running, released: true }), api: { ...ended.api, status: running } },
    ],
    ['is kept by a finalizer', { ...ended, deleted: 'uid-1' }],
  ];
  test('its object is removed once it is deleted, its end is written and nothing is left', () => {
    expect(next(ended)).toBe('deletePod');
  });
  test.each(other)('its object is not removed where it %s', (_why, view) => {
    expect(next(view)).toBe('nothing');
  });
  test('its end is written before it is removed', () => {
    expect(next({ ...ended, api: { ...ended.api, status: running } })).toBe('writeStatus');
  });

  test('one that the agent has no more needs nothing', () => {
    expect(next({ api: apiPod({ status: running }) })).toBe('over');
    expect(next({})).toBe('over');
  });
});

describe('of a static pod', () => {
  const known = { heard: '10', nodeUid: 'node-uid' };
  const cases: [string, string, WriterView][] = [
    ['no mirror pod', 'createMirror', { ...known, wanted: wantedStatic() }],
    ['no mirror pod and ends', 'nothing', { ...known, wanted: wantedStatic({ ending: true }) }],
    ['no Node', 'nothing', { heard: '10', wanted: wantedStatic() }],
    ['an API that was not heard yet', 'nothing', { nodeUid: 'node-uid', wanted: wantedStatic() }],
    ['its mirror pod', 'nothing', { ...known, wanted: wantedStatic(), api: mirrorPod() }],
    [
      'its mirror pod without its status',
      'writeStatus',
      { ...known, wanted: wantedStatic({ status: running }), api: mirrorPod() },
    ],
    [
      'a mirror pod of another version',
      'deleteMirror',
      { ...known, wanted: wantedStatic(), api: mirrorPod({ mirrorHash: 'old' }) },
    ],
    [
      'a deleted mirror pod',
      'deleteMirror',
      { ...known, wanted: wantedStatic(), api: mirrorPod({ deletionTimestamp: DELETED }) },
    ],
    [
      'a mirror pod of another version and ends',
      'nothing',
      { ...known, wanted: wantedStatic({ ending: true, status: running }), api: mirrorPod({ mirrorHash: 'old' }) },
    ],
    [
      'a mirror pod that is deleted, and ends',
      'writeStatus',
      {
        ...known,
        wanted: wantedStatic({ ending: true, status: running }),
        api: mirrorPod({ deletionTimestamp: DELETED }),
      },
    ],
    ['a mirror pod but is gone itself', 'deleteMirror', { ...known, api: mirrorPod() }],
    [
      'ended with its mirror pod there',
      'nothing',
      { ...known, wanted: wantedStatic({ status: succeeded, released: true }), api: mirrorPod({ status: succeeded }) },
    ],
  ];
  test.each(cases)('one that has %s: %s', (_what, write, view) => {
    expect(next(view)).toBe(write);
  });
});

test('B098 a static pod that was refused and runs after all gets another mirror pod: Failed is for good', () => {
  const known = { heard: '10', nodeUid: 'node-uid' };
  const api = mirrorPod({ status: podStatus('Failed', { reason: 'OutOfcpu' }) });
  expect(next({ ...known, wanted: wantedStatic({ status: running }), api })).toBe('deleteMirror');
  expect(next({ ...known, wanted: wantedStatic({ status: running }), deleted: api.uid })).toBe('createMirror');
  expect(next({ ...known, wanted: wantedStatic(), api })).toBe('nothing');
  expect(next({ ...known, wanted: wantedStatic({ status: running, ending: true }), api })).not.toBe('deleteMirror');
});

describe('a static pod one of whose containers was over and runs again', () => {
  const known = { heard: '10', nodeUid: 'node-uid' };
  const wanted = (restartPolicy: string, state: object) => {
    const { pod, ...view } = wantedStatic({ status: { ...running, containerStatuses: [containerOf(state)] } });
    return { ...view, pod: { ...pod, spec: { ...pod.spec, restartPolicy, containers: [{ name: 'app' }] } } };
  };
  const containerOf = (state: object) => ({
    ...{ name: 'app', image: 'busybox', imageID: '', ready: false, restartCount: 0, state },
  });
  const ended = { terminated: { exitCode: 0, reason: 'Completed' } };
  const api = mirrorPod({ status: { ...running, containerStatuses: [containerOf(ended)] } });
  const runs = { running: { startedAt: '2026-01-01T00:00:00Z' } };

  test('gets another mirror pod where the API lets nobody take the end back', () => {
    expect(next({ ...known, wanted: wanted('OnFailure', runs), api })).toBe('deleteMirror');
    expect(next({ ...known, wanted: wanted('Never', runs), api })).toBe('deleteMirror');
  });

  test('keeps it where it restarts anyway, and where nothing runs that the API calls ended', () => {
    expect(next({ ...known, wanted: wanted('Always', runs), api })).toBe('writeStatus');
    expect(next({ ...known, wanted: wanted('OnFailure', ended), api })).toBe('nothing');
    expect(next({ ...known, wanted: wanted('OnFailure', { waiting: { reason: 'PodInitializing' } }), api })).toBe(
      'nothing',
    );
  });
});

test('a resourceVersion is a number of any length', () => {
  expect(isNewer('10', '9')).toBe(true);
  expect(isNewer('9', '10')).toBe(false);
  expect(isNewer('10', '10')).toBe(false);
  expect(isNewer('90071992547409930', '90071992547409929')).toBe(true);
});
