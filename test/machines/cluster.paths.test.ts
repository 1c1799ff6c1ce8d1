import { describe, expect, test } from '@jest/globals';
import type { EventFrom } from 'xstate';
import type { ApiPods } from '../../machines/syncloop/api-source.types.ts';
import { clusterMachine } from '../../machines/syncloop/cluster.machine.ts';
import { deferred, drive, type DriveOptions, type Driven } from '../support/drive.ts';
import { pod } from '../support/fixtures.ts';
import { apiNode, nodeSettings } from '../support/node-fixtures.ts';
import { hearing, toldTo as told } from '../support/hearing.ts';
import { emit, expectAllTransitionsWalked, fail, walk } from '../support/paths.ts';

type Run = Driven<typeof clusterMachine>;

const HEARING = ['statusWriter', 'node', 'eventRecorder'] as const;
const machine = clusterMachine.provide({
  actors: { statusWriter: hearing, node: hearing, eventRecorder: hearing } as never,
});
const input: DriveOptions<typeof clusterMachine>['input'] = (world) => ({
  ...world,
  nodeName: 'n1',
  settings: { node: nodeSettings(), drainMs: 5000 },
});
const start = (): Run => drive(deferred(machine, HEARING), { input });

const wanted = { type: 'pod.wanted', uid: 'uid-1', pod: pod(), source: 'file', released: false } as const;
const health = { type: 'health.changed', health: 'healthy', message: '' } as const;
const record = { type: 'event.record', event: { type: 'Normal', reason: 'Started', message: '' } } as const;
const listed = { type: 'api.pods' as const, resourceVersion: '7', pods: [] } satisfies ApiPods;
const known = { type: 'node.known', uid: 'node-1', node: apiNode() } as const;
const set = { type: 'source.set', source: 'api', pods: [], problems: [] } as const;
const event = { type: 'event.happened', event: { type: 'Normal', reason: 'NodeReady', message: '' } } as const;
const failed = (actorId: string) =>
  ({ type: `xstate.error.actor.${actorId}`, actorId, error: new Error('a bug') }) as const;

const isDraining = (run: Run) => !run.snapshot.matches('connected');
const writerKnows = (run: Run) => {
  const pods = new Set<string>();
  for (const { type, uid = '' } of told(run.snapshot.context.children.statusWriter) ?? []) {
    if (type === 'pod.wanted') pods.add(uid);
    if (type === 'pod.forgotten') pods.delete(uid);
  }
  return [...pods];
};

describe('cluster', () => {
  test('every transition is walked; a child that failed comes again, and knows what the one before knew', () => {
    const report = walk(machine, {
      inputs: { start: input },
      real: HEARING,
      events: (): EventFrom<typeof clusterMachine>[] => [
        wanted,
        { type: 'pod.forgotten', uid: 'uid-1' },
        { type: 'sources.ready' },
        health,
        { type: 'node.look' },
        record,
        listed,
        known,
        { type: 'node.absent' },
        { type: 'recorder.problem', message: 'full' },
        { type: 'recorder.drained', left: 0 },
        failed('statusWriter'),
        failed('eventRecorder'),
        { type: 'cluster.drain' },
      ],
      outcomes: { apiSource: [emit(set), emit(event), fail('Bug')] },
      key: ({ context, children }) => [
        Object.keys(context.wanted),
        context.sourcesReady,
        context.nodeUid,
        context.health !== undefined,
        context.apiPods !== undefined,
        Object.keys(children).sort(),
      ],
      invariants: {
        'a status writer knows every pod that is wanted, and no other': (run) => {
          const { children, wanted: pods } = run.snapshot.context;
          if (!children.statusWriter) return undefined;
          return String(writerKnows(run)) === String(Object.keys(pods)) ? undefined : `it knows ${writerKnows(run)}`;
        },
        'a status writer knows the Node that is there': (run) => {
          const { children, nodeUid } = run.snapshot.context;
          const last = told(children.statusWriter)?.findLast(({ type }) => type.startsWith('node.'));
          return children.statusWriter && last?.uid !== nodeUid ? `it knows ${last?.uid}, not ${nodeUid}` : undefined;
        },
        'once it drains nothing lives but the recorder': (run) => {
          const alive = Object.keys(run.snapshot.children).filter((id) => id !== 'eventRecorder');
          return isDraining(run) && alive.length > 0 ? `${alive.join(', ')} still there` : undefined;
        },
        'its end is told once, at its end': (run) => {
          const times = run.parent.ofType('cluster.drained').length;
          return times === (run.snapshot.matches('drained') ? 1 : 0) ? undefined : `told ${times} times`;
        },
      },
      maxDepth: 6,
    });
    expectAllTransitionsWalked(report);
  });

  test('a status writer that is started again is told the newest of each once', () => {
    const run = start();
    for (const message of [wanted, listed, known, { type: 'sources.ready' } as const, wanted]) run.send(message);
    run.send(failed('statusWriter'));
    run.send({ ...wanted, released: true });
    run.advance(1000);
    expect(told(run.snapshot.context.children.statusWriter)).toEqual([
      { ...wanted, released: true },
      listed,
      { type: 'node.known', uid: 'node-1' },
      { type: 'sources.ready' },
    ]);
    expect(run.parent.events()).toEqual(['Warning FailedSync statusWriter failed and is started again: a bug']);
  });

  test('a node that is started again is told of the runtime’s health', () => {
    const run = start();
    run.send(health);
    run.send(failed('node'));
    run.advance(1000);
    expect(told(run.snapshot.context.children.node)).toEqual([health]);
  });

  test('events are recorded while it drains; what failed shortly before is not started again', () => {
    const run = start();
    run.settle('apiSource', fail('Bug'));
    run.send({ type: 'cluster.drain' });
    run.send(record);
    run.advance(4999);
    expect(told(run.snapshot.context.children.eventRecorder)).toEqual([
      { type: 'recorder.drain' },
      { ...record, type: 'event.happened' },
    ]);
    expect(run.pending()).toEqual([]);
    expect(run.parent.ofType('cluster.drained')).toEqual([]);
    run.advance(1);
    expect(run.parent.ofType('cluster.drained')).toHaveLength(1);
  });
});
