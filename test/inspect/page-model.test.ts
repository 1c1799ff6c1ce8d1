import { describe, expect, test } from '@jest/globals';
import { machines } from '../../bin/charts.ts';
import { chartsOf } from '../../services/charts/chart-of.ts';
import type { Chart } from '../../services/charts/chart.types.ts';
import type { LiveActor } from '../../services/live/live.types.ts';
import { emptyModel, take } from '../../services/inspect/page/model.ts';
import { problemsOf } from '../../services/inspect/page/problems.ts';
import { actorAt, routeOf } from '../../services/inspect/page/route.ts';
import { shortSpan, span } from '../../services/inspect/page/time.ts';
import { NO_FILTER, shownIn, treeOf } from '../../services/inspect/page/tree.ts';
import { moodOf } from '../../services/inspect/page/verdict.ts';
import { walked } from '../../services/inspect/page/walked.ts';
import { liveActor, manyPods } from './many-pods.ts';

const charts = chartsOf(machines);
const chart = (name: string) => charts[name] as Chart;
const T0 = Date.parse('2026-01-01T00:00:00Z');
const NOTHING: ReadonlySet<string> = new Set();
const about = { kind: 'container', namespace: 'ns', name: 'p', container: 'c' } as const;

function modelOf(count: number) {
  const model = emptyModel();
  for (const message of manyPods(count, charts)) take(model, message, T0);
  return model;
}

describe('messages', () => {
  test('make the tree: actors that start, change and stop', () => {
    const model = modelOf(2);
    take(
      model,
      { type: 'statelet.actor', actor: liveActor('imagePull', 'x:99', { parent: 'x:2', state: 'pulling' }) },
      T0,
    );
    expect(model.children.get('x:2')).toEqual(['x:99']);
    take(model, { type: 'statelet.stopped', sessionId: 'x:99' }, T0);
    expect(model.children.get('x:2')).toBeUndefined();
    expect(model.actors.has('x:99')).toBe(false);
  });

  test('of another agent say that it came back', () => {
    const model = modelOf(1);
    const hello = { type: 'statelet.hello', version: '', node: '', writable: false } as const;
    take(model, { ...hello, startedAt: T0 }, T0 + 1);
    expect(model.cameBackAt).toBeUndefined();
    take(model, { ...hello, startedAt: T0 + 5 }, T0 + 6);
    expect(model.cameBackAt).toBe(T0 + 6);
  });

  test('bring every transition in order, those between two messages too, and tell a clock that is ahead', () => {
    const model = modelOf(1);
    const step = (at: number) => ({
      ...{ at, actor: 'pod many/pod-000', machine: 'pod', sessionId: 'x:1', to: 'x', event: 'e' },
      cause: { by: 'start' },
    });
    const actor = liveActor('pod', 'x:1');
    take(model, { type: 'statelet.actor', actor, transition: step(3), earlier: [step(1), step(2)] }, 60_003);
    expect(model.transitions.map(({ at }) => at)).toEqual([1, 2, 3]);
    expect(model.skew).toBe(60_000);
  });
});

describe('the tree', () => {
  test('lists pods by name with what is theirs, then the agent’s own machines', () => {
    const { rows, pods, containers, namespaces, states } = treeOf(modelOf(2), NO_FILTER, NOTHING);
    expect(rows.map((row) => (row.kind === 'section' ? row.title : `${row.depth} ${row.label}`))).toEqual([
      'Pods',
      ...['0 many/pod-000', '1 main', '1 side', '0 many/pod-001', '1 main', '1 side'],
      'Agent',
      '0 syncloop',
    ]);
    expect([pods, containers, namespaces, states]).toEqual([
      2,
      4,
      ['many'],
      [
        ['active', 2],
        ['running', 4],
      ],
    ]);
  });

  test('keeps the way to what matches, even through what is folded', () => {
    const model = modelOf(2);
    take(
      model,
      {
        type: 'statelet.actor',
        actor: liveActor('container', 'x:3', { parent: 'x:1', about, state: 'crashLoopBackOff' }),
      },
      T0,
    );
    const { rows, failing } = treeOf(model, { ...NO_FILTER, mood: 'failing' }, new Set(['x:1']));
    expect(rows.map((row) => (row.kind === 'actor' ? [row.key, row.isMatch] : row.title))).toEqual([
      'Pods',
      ['x:1', false],
      ['x:3', true],
    ]);
    expect(failing).toBe(1);
  });

  test('says of a folded pod that something in it fails', () => {
    const model = modelOf(1);
    take(
      model,
      { type: 'statelet.actor', actor: liveActor('container', 'x:3', { parent: 'x:1', state: 'waitingToRetry' }) },
      T0,
    );
    const { rows } = treeOf(model, NO_FILTER, new Set(['x:1']));
    expect(rows[1]).toMatchObject({ key: 'x:1', mood: 'good', below: 'failing', opens: false });
    // Wherever the pod is shown, in the tree or in a list, it has the colour of the worst that is in it.
    expect(shownIn(model, model.actors.get('x:1') as LiveActor, T0)).toBe('failing');
    expect(shownIn(model, model.actors.get('x:2') as LiveActor, T0)).toBe('good');
  });
});

describe('the colour of an actor', () => {
  const container = (state: string, over = {}) =>
    moodOf(liveActor('container', 'x:1', { state, about, ...over }), chart('container'), T0 + 40_000);
  const effects = [{ src: 'startContainer', id: 'e', began: T0 }];

  test.each([
    ['running', {}, 'good'],
    ['completed', {}, 'over'],
    ['crashLoopBackOff', {}, 'failing'],
    ['waitingToRetry', {}, 'failing'],
    ['waiting', {}, 'waiting'],
    ['waiting', { since: T0 - 60_000 }, 'stuck'],
    ['starting', { effects }, 'stuck'],
    ['starting', { effects, failing: true }, 'failing'],
    ['stopping', { effects: effects.map((call) => ({ ...call, src: 'stopContainer', killAt: T0 + 20_000 })) }, 'busy'],
    ['starting', { effects: [{ ...effects[0], began: T0 + 30_000 }] }, 'busy'],
    ['pulling', { since: T0 - 600_000 }, 'waiting'],
    ['running', { status: 'error' }, 'failing'],
  ])('of a container in %s %j is %s', (state, over, mood) => {
    expect(container(state, over)).toBe(mood);
  });

  test('of a pod that ends is not stuck within the grace of its containers, however long', () => {
    const ending = { state: 'terminating.stoppingContainers', since: T0, about: { ...about, kind: 'pod' as const } };
    expect(moodOf(liveActor('pod', 'x:1', ending), chart('pod'), T0 + 3_600_000)).toBe('waiting');
  });

  test('of what writes a status is not stuck for as long as nothing changes', () => {
    const writer = { state: 'waiting', since: T0, about: { ...about, kind: 'pod' as const } };
    expect(moodOf(liveActor('podWriter', 'x:1', writer), chart('pod-writer'), T0 + 3_600_000)).toBe('good');
  });

  test('of a watch that runs all the time is that of its state', () => {
    const watching = { state: 'waitingToAudit', effects: [{ src: 'watchRuntime', id: 'w', began: T0 - 1e9 }] };
    expect(moodOf(liveActor('pleg', 'x:1', watching), chart('pleg'), T0)).toBe('good');
    const following = { state: 'syncing.active', effects: [{ src: 'followObjects', id: 'f', began: T0 }] };
    expect(moodOf(liveActor('pod', 'x:1', following), chart('pod'), T0 + 3_600_000)).toBe('good');
  });

  test('of states into which only failures lead is failing', () => {
    expect(moodOf(liveActor('lease', 'x:1', { state: 'waitingToRetry' }), chart('lease'), T0)).toBe('failing');
    expect(moodOf(liveActor('lease', 'x:1', { state: 'waiting' }), chart('lease'), T0)).toBe('good');
  });

  test('the agent is red where something is wrong with the node, in whatever state it is', () => {
    const model = modelOf(1);
    const root = () => treeOf(model, NO_FILTER, NOTHING).rows.find((row) => row.key === 'x:0');
    expect(root()).toMatchObject({ mood: 'good' });
    const said = { headline: '', places: [], waitsFor: [], next: [], whyNot: [], steps: [], similar: [] };
    const explanation = { ...said, kind: 'node', name: 'many', found: true, trouble: true } as const;
    take(model, { type: 'statelet.explanation', sessionId: 'x:0', explanation }, T0);
    expect(root()).toMatchObject({ mood: 'failing' });
  });
});

describe('the way of a transition', () => {
  const step = { at: T0, actor: '', machine: '', sessionId: '', cause: { by: '' } };
  const way = (name: string, from: string | undefined, to: string, event: string) =>
    walked(chart(name), { ...step, from, to, event }).map((n) => {
      const edge = chart(name).edges[n];
      return `${edge?.from} → ${edge?.to}`;
    });

  test('goes through states in which nothing stays', () => {
    expect(way('container', 'running', 'crashLoopBackOff', 'container.desired')).toEqual([
      'running → deciding',
      'deciding → crashLoopBackOff',
    ]);
  });

  test('goes into the first state of a state, and out of one', () => {
    expect(way('pod', 'syncing.active', 'terminating.stoppingContainers', 'pod.terminate')).toEqual([
      'syncing.active → terminating',
    ]);
  });

  test('of parallel states is that of the one that changed', () => {
    const done = 'xstate.done.actor.0.runtimeHealth.check.checking';
    expect(way('runtime-health', 'check.checking, verdict.healthy', 'check.waiting, verdict.healthy', done)).toEqual([
      'check.checking → check.waiting',
    ]);
  });

  test('is empty where the chart knows none', () => {
    expect(way('container', 'running', 'nowhere', 'x')).toEqual([]);
    expect(way('container', undefined, 'running', 'xstate.init')).toEqual([]);
  });
});

describe('addresses', () => {
  test.each(['#/pod/many/pod-001', '#/container/many/pod-000/side', '#/actor/syncloop/syncloop'])(
    '%s leads there and back',
    (route) => {
      const model = modelOf(2);
      const actor = actorAt(route, model);
      expect(actor && routeOf(actor, model)).toBe(route);
    },
  );

  test('tell actors of one id apart by their parents, and may hold anything', () => {
    const model = modelOf(1);
    for (const [sessionId, parent] of [
      ['x:8', 'x:2'],
      ['x:9', 'x:3'],
    ] as const)
      take(model, { type: 'statelet.actor', actor: liveActor('imagePull', sessionId, { parent }) }, T0);
    const pull = actorAt('#/container/many/pod-000/side/imagePull', model);
    expect(pull?.sessionId).toBe('x:9');
    expect(pull && routeOf(pull, model)).toBe('#/container/many/pod-000/side/imagePull');
    for (const wrong of ['', '#', '#/', '#/pod', '#/pod/a', '#/x/y/z', '#/pod/%E0%A4/x'])
      expect(actorAt(wrong, model)).toBeUndefined();
  });
});

test('problems are the reasons with a message that an actor keeps, not those of what it is told or sees', () => {
  const waiting = { main: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } };
  expect(problemsOf({ waiting, status: { a: { message: 'x' } }, plan: { reason: 'y', message: 'z' } })).toEqual([
    'CrashLoopBackOff: back-off 10s',
  ]);
  for (const none of [undefined, null, 'text', {}, { waiting: null }]) expect(problemsOf(none)).toEqual([]);
});

test('spans of time are said in two units, or in one', () => {
  const each = [-5, 999, 59_000, 200_000, 18_120_000, 8e8];
  expect(each.map(span)).toEqual(['0 ms', '999 ms', '59 s', '3 m 20 s', '5 h 2 m', '9 d 6 h']);
  expect(each.map(shortSpan)).toEqual(['0s', '0s', '59s', '3m', '5h', '9d']);
});
