import { describe, expect, test } from '@jest/globals';
import type { PodEntry } from '../../../machines/syncloop/syncloop.types.ts';
import { reconcilePods, type ReconcileInput } from '../../../machines/syncloop/policy/reconcile-pods.ts';
import { instance, observed, pod, sandbox } from '../../support/fixtures.ts';

const plan = (over: Partial<ReconcileInput>) =>
  reconcilePods({ entries: {}, desired: {}, observed: {}, listed: [], sourcesReady: true, ...over });
const entry = (over: Partial<PodEntry> = {}): Record<string, PodEntry> => {
  const desired = pod({ uid: over.uid });
  const { uid, name, namespace } = desired.metadata;
  return { [uid]: { uid, name, namespace, source: 'file', pod: desired, ending: false, released: false, ...over } };
};
const running = (uid = 'uid-1') => ({
  [uid]: { ...observed({ sandboxes: [sandbox()], containers: [instance()] }), uid },
});
const NOTHING = { remove: [], update: [], add: [], freed: [], orphans: [] };

describe('what the agent meets when it starts', () => {
  test('a pod that runs and is desired is added, not ended', () => {
    const result = plan({ desired: { file: [pod()] }, observed: running() });
    expect(result).toMatchObject({ ...NOTHING, add: [{ uid: 'uid-1', again: false }] });
    expect(result.add[0]?.predecessorUid).toBeUndefined();
  });

  test('a pod that runs and no source wants is an orphan', () => {
    expect(plan({ desired: { file: [] }, observed: running() })).toMatchObject({
      ...NOTHING,
      orphans: [{ uid: 'uid-1' }],
    });
  });

  test('nothing is judged absent before all sources have delivered; what is new starts at once', () => {
    const result = plan({
      desired: { file: [pod({ uid: 'uid-2', name: 'other' })] },
      observed: running(),
      sourcesReady: false,
    });
    expect(result).toMatchObject({ ...NOTHING, add: [{ uid: 'uid-2' }] });
  });

  test('a pod of which the runtime keeps nothing is no orphan', () => {
    expect(plan({ observed: { 'uid-1': observed({ sandboxes: [], containers: [] }) } })).toEqual(NOTHING);
  });

  test('a changed manifest is another pod, which waits for the one that holds its name', () => {
    const result = plan({ desired: { file: [pod({ uid: 'uid-2' })] }, observed: running() });
    expect(result).toMatchObject({
      add: [{ uid: 'uid-2', predecessorUid: 'uid-1' }],
      orphans: [{ uid: 'uid-1' }],
    });
  });

  test('another pod under the same UID begins when the one that has it is gone', () => {
    const [mine] = Object.values(entry());
    const next = pod({ uid: mine?.uid, name: 'other' });
    expect(plan({ entries: entry(), desired: { file: [next] } })).toEqual({
      ...NOTHING,
      remove: [mine?.uid],
      add: [{ uid: mine?.uid, pod: next, source: 'file', again: true }],
    });
  });

  test('a name that a pod holds which nobody could look at yet is not given away', () => {
    const listed = [{ uid: 'uid-1', name: 'web', namespace: 'default' }];
    expect(plan({ desired: { file: [pod({ uid: 'uid-2' })] }, listed })).toEqual(NOTHING);
  });
});

describe('while a source has not delivered', () => {
  const sourcesReady = false;

  test('a pod is gone that its own source took back, and no other', () => {
    const entries = { ...entry(), ...entry({ uid: 'bound', source: 'api' }) };
    expect(plan({ entries, desired: { file: [] }, sourcesReady })).toEqual({ ...NOTHING, remove: ['uid-1'] });
    const again = { pod: pod(), source: 'file' } as const;
    expect(plan({ entries: entry({ ending: true, again }), desired: { file: [] }, sourcesReady }).remove).toEqual([
      'uid-1',
    ]);
  });

  test('a pod of an earlier agent that holds the name of a static pod ends, or that one waits for ever', () => {
    const desired = { file: [pod({ uid: 'uid-2' })] };
    expect(plan({ desired, observed: running(), sourcesReady })).toMatchObject({
      add: [{ uid: 'uid-2', predecessorUid: 'uid-1' }],
      orphans: [{ uid: 'uid-1' }],
    });
    expect(plan({ desired: { api: desired.file }, observed: running(), sourcesReady }).orphans).toEqual([]);
  });
});

describe('what changes at a source', () => {
  test('a pod of the same UID with another spec is told of it', () => {
    const desired = pod({ spec: { terminationGracePeriodSeconds: 5 } });
    expect(plan({ entries: entry(), desired: { file: [desired] } })).toMatchObject({
      ...NOTHING,
      update: [{ pod: desired }],
    });
  });

  test('a pod that is delivered again is no update, though it was seen at another time', () => {
    const desired = pod({ metadata: { annotations: { 'kubernetes.io/config.seen': 'now' } } });
    expect(plan({ entries: entry(), desired: { file: [desired] } })).toEqual(NOTHING);
  });

  test('B083 what others say of its readiness gates is news of a pod, and nothing else of its status', () => {
    const spec = { readinessGates: [{ conditionType: 'example.com/gate' }] };
    const before = pod({ spec });
    const said = (type: string, status: string) => ({ ...before, status: { conditions: [{ type, status }] } });
    const updates = (desired: typeof before) =>
      plan({ entries: entry({ pod: before }), desired: { api: [desired] } }).update.length;
    expect(updates(said('example.com/gate', 'True'))).toBe(1);
    expect(updates(said('example.com/other', 'True'))).toBe(0);
    expect(updates({ ...before, status: { phase: 'Running' } })).toBe(0);
  });

  test('a pod that no source has any more is removed, once', () => {
    expect(plan({ entries: entry() })).toEqual({ ...NOTHING, remove: ['uid-1'] });
    expect(plan({ entries: entry({ ending: true }) })).toEqual(NOTHING);
    expect(plan({ entries: entry(), sourcesReady: false })).toEqual(NOTHING);
  });

  test('a pod that comes again under the UID of one that is ending waits for its end', () => {
    const result = plan({ entries: entry({ ending: true }), desired: { file: [pod()] } });
    expect(result).toMatchObject({ ...NOTHING, add: [{ uid: 'uid-1', again: true }] });
  });

  test('of a manifest and a pod of the API that wait for one name the manifest has it next', () => {
    const [fixed, bound] = [pod({ uid: 'static' }), pod({ uid: 'bound' })];
    const result = plan({ entries: entry({ ending: true }), desired: { api: [bound], file: [fixed] } });
    expect(result.add.map(({ uid, predecessorUid }) => [uid, predecessorUid])).toEqual([
      ['static', 'uid-1'],
      ['bound', 'static'],
    ]);
  });

  test('a pod that is bound while its predecessor of the same name still ends waits for that end', () => {
    const old = pod({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    const result = plan({ entries: entry({ pod: old }), desired: { api: [pod({ uid: 'uid-2' })] } });
    expect(result).toMatchObject({ remove: ['uid-1'], add: [{ uid: 'uid-2', predecessorUid: 'uid-1' }] });
  });

  test('a name is free once the pod that held it has given back what it had', () => {
    const desired = { file: [pod({ uid: 'uid-2' })] };
    const waits = (released: boolean) =>
      plan({ entries: entry({ ending: true, released }), desired }).add[0]?.predecessorUid;
    expect([waits(false), waits(true)]).toEqual(['uid-1', undefined]);
  });
});
