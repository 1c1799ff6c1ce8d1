import { describe, expect, test } from '@jest/globals';
import { assign, createActor, fromCallback, fromPromise, setup, type AnyActorRef } from 'xstate';
import { createLiveSystem } from '../../../services/live/live-system.ts';
import type { LiveActor, Transition } from '../../../services/live/live.types.ts';
import { actorTree } from '../../../services/live/actor-tree.ts';
import { VirtualClock } from '../../support/world/clock.ts';
import { at, liveWorld, podOf } from './live-world.ts';

const never = fromPromise<void, { killAt: number; reason: string }>(() => new Promise<void>(() => undefined));

const child = setup({ actors: { look: never, watch: fromCallback(() => undefined) } }).createMachine({
  id: 'thing',
  context: { namespace: 'default', name: 'web', uid: 'u' },
  initial: 'a',
  invoke: { src: 'watch' },
  on: {
    throw: {
      actions: () => {
        throw new Error('a bug');
      },
    },
    end: '.over',
  },
  states: {
    a: { tags: 'calm', after: { 1000: 'b' }, on: { go: 'b' } },
    b: { invoke: { src: 'look', input: { killAt: 9_000, reason: 'deleted' } } },
    over: { type: 'final' },
  },
});

const root = setup({
  types: { context: {} as { spawned: number } },
  actors: { child },
}).createMachine({
  id: 'root',
  context: { spawned: 0 },
  on: {
    spawn: {
      actions: assign(({ context: { spawned }, spawn }) => {
        spawn('child', { id: `pod.${spawned}` });
        return { spawned: spawned + 1 };
      }),
    },
    'xstate.error.actor.*': {},
  },
  initial: 'on',
  states: { on: {} },
});

function start() {
  const clock = new VirtualClock();
  const problems: string[] = [];
  const live = createLiveSystem({ now: () => clock.elapsed, tell: (message) => problems.push(message) });
  const actor = createActor(root, { clock, inspect: live.inspect });
  const pod = (id = 'pod.0') => (actor.getSnapshot().children as Record<string, AnyActorRef>)[id];
  return { clock, live, actor, pod, problems };
}

describe('the live view of real actors', () => {
  test('shows each machine with what it is about, its state, its effects and its timers', async () => {
    const { clock, live, actor, pod } = start();
    actor.start();
    await clock.advance(100);
    actor.send({ type: 'spawn' });
    await clock.advance(50);
    const [top, first] = live.actors();
    expect(top).toMatchObject({ machine: 'root', state: 'on', since: 0 });
    expect(top).not.toHaveProperty('parent');
    expect(first).toEqual({
      ...{ sessionId: pod()?.sessionId, id: 'pod.0', machine: 'thing', name: 'thing default/web' },
      ...{ parent: top?.sessionId, value: 'a', state: 'a' },
      ...{ since: 100, status: 'active', tags: ['calm'] },
      about: { kind: 'pod', namespace: 'default', name: 'web', uid: 'u' },
      effects: [{ src: 'watch', id: '0.thing', began: 100 }],
      timers: [{ delay: '1000', state: 'a', startedAt: 100, ms: 1000 }],
    });
    await clock.advance(1_000);
    expect(live.actor(first?.sessionId ?? '')).toMatchObject({
      ...{ state: 'b', since: 1_100, timers: [] },
      // Of an effect's input nothing but until when a stop may take.
      effects: [{ src: 'watch' }, { src: 'look', id: '0.thing.b', began: 1_100, killAt: 9_000 }],
    });
    expect(actorTree(live.actors())).toMatchObject([
      { machine: 'root', children: [{ about: 'default/web', children: [{ machine: 'watch' }, { machine: 'look' }] }] },
    ]);
    actor.stop();
    expect(live.actors()).toEqual([]);
  });

  test('forgets an actor that ended, that was stopped, and that threw, with all below it', async () => {
    const { live, actor, pod, problems } = start();
    actor.start();
    for (let i = 0; i < 3; i += 1) actor.send({ type: 'spawn' });
    expect(live.actors()).toHaveLength(4);
    pod('pod.0')?.send({ type: 'end' });
    pod('pod.1')?.send({ type: 'throw' });
    expect(live.actors().map(({ id }) => id)).toEqual([actor.id, 'pod.2']);
    // The finished one stays among the children until it is reaped; it is no live actor.
    expect(pod('pod.0')).toBeDefined();
    actor.stop();
    expect(live.actors()).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('tells of what began, changed and stopped, each time when all that acted has come to rest', async () => {
    const { clock, live, actor, pod } = start();
    const heard: string[] = [];
    const say =
      (what: string) =>
      ({ id, state }: LiveActor, transition?: Transition) =>
        heard.push(`${what} ${id} ${state}${transition ? ` ${transition.from ?? ''}→${transition.to}` : ''}`);
    actor.start();
    const unsubscribe = live.subscribe({ changed: say('changed'), stopped: say('stopped') });
    actor.send({ type: 'spawn' });
    expect(heard).toEqual([]);
    await clock.advance(0);
    expect(heard).toEqual(['changed pod.0 a →a', `changed ${actor.id} on`]);
    heard.length = 0;
    pod()?.send({ type: 'go' });
    pod()?.send({ type: 'end' });
    await clock.advance(0);
    expect(heard.filter((line) => line.includes('pod.0'))).toEqual([
      'changed pod.0 b a→b',
      'changed pod.0 over b→over',
      'stopped pod.0 over',
    ]);
    unsubscribe();
    heard.length = 0;
    actor.send({ type: 'spawn' });
    await clock.advance(0);
    expect(heard).toEqual([]);
  });

  test('a listener that throws is dropped and told of; the actors and the others go on', async () => {
    const { clock, live, actor, problems } = start();
    const heard: string[] = [];
    actor.start();
    live.subscribe({
      changed: () => {
        throw new Error('a page is gone');
      },
    });
    live.subscribe({
      changed: ({ id }, transition) => transition && transition.from === undefined && heard.push(id),
    });
    actor.send({ type: 'spawn' });
    await clock.advance(0);
    actor.send({ type: 'spawn' });
    await clock.advance(0);
    expect(heard).toEqual(['pod.0', 'pod.1']);
    expect(problems).toEqual(['a listener of the live view failed and hears no more: a page is gone']);
    expect(actor.getSnapshot().status).toBe('active');
  });

  test('a fault of the view itself is told of once, and reaches no actor', () => {
    const problems: string[] = [];
    const live = createLiveSystem({
      now: () => {
        throw new Error('no clock');
      },
      tell: (message) => problems.push(message),
    });
    const actor = createActor(root, { inspect: live.inspect }).start();
    actor.send({ type: 'spawn' });
    expect(actor.getSnapshot()).toMatchObject({ status: 'active', context: { spawned: 1 } });
    expect(problems).toEqual(['the live view misses what happens: no clock']);
  });
});

test('a pod that is not what is expected of pods has a state, if no cause of it', () => {
  const problems: string[] = [];
  const live = createLiveSystem({ now: () => 0, tell: (message) => problems.push(message) });
  const odd = setup({}).createMachine({ id: 'pod', context: {}, initial: 'a', states: { a: {} } });
  createActor(odd, { inspect: live.inspect }).start();
  expect(live.actors()).toMatchObject([{ machine: 'pod', state: 'a' }]);
  expect(problems).toEqual([expect.stringMatching(/^the cause of xstate.init at pod is not known: /)]);
});

test('ten thousand pods come and go: nothing of them stays but a bounded history', () => {
  const { live, actor, pod } = start();
  actor.start();
  for (let i = 0; i < 10_000; i += 1) {
    actor.send({ type: 'spawn' });
    const id = `pod.${i}`;
    pod(id)?.send({ type: i % 3 === 0 ? 'throw' : 'end' });
    delete (actor.getSnapshot().children as Record<string, unknown>)[id];
  }
  expect(live.actors()).toHaveLength(1);
  expect(live.history().length).toBeLessThanOrEqual(51);
});

test('timers of the agent are counted in its own time', async () => {
  const { world, live } = liveWorld();
  world.put(at('web'), podOf('web', {}, { command: ['exit', '1', '2000'] }));
  world.start(live.inspect);
  await world.clock.advance(5_000);
  const container = live.actors().find(({ machine }) => machine === 'container');
  expect(container).toMatchObject({
    ...{ state: 'crashLoopBackOff', failing: true },
    timers: [{ delay: 'crashBackoff', state: 'crashLoopBackOff' }],
  });
  const [timer] = container?.timers ?? [];
  expect(timer?.startedAt).toBe(container?.since);
  await world.clock.advance((timer?.startedAt ?? 0) + (timer?.ms ?? 0) - world.clock.now() - 2);
  expect(live.actor(container?.sessionId ?? '')?.state).toBe('crashLoopBackOff');
  await world.clock.advance(4);
  expect(live.actor(container?.sessionId ?? '')?.state).not.toBe('crashLoopBackOff');
  expect(live.actor(container?.sessionId ?? '')?.failing).toBe(true);
  world.kill();
});
