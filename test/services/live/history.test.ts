import { describe, expect, test } from '@jest/globals';
import { createHistory } from '../../../services/live/history.ts';
import type { Transition } from '../../../services/live/live.types.ts';

let clock = 0;
const step = (actor: string, to = 'a', more: Partial<Transition> = {}): Transition => ({
  ...{ at: (clock += 1), actor, machine: actor, sessionId: 'x:1', to, event: 'go', cause: { by: 'exit' } },
  ...more,
});

describe('the history', () => {
  test('keeps the last steps of each actor, in the order in which they happened', () => {
    const history = createHistory({ transitions: 3, actors: 10 });
    history.began('a');
    history.began('b');
    for (const to of ['1', '2', '3', '4']) history.add(step('a', to));
    history.add(step('b', 'x', { at: 0 }));
    expect(history.of('a').map(({ to }) => to)).toEqual(['2', '3', '4']);
    expect(history.of().map(({ to }) => to)).toEqual(['2', '3', '4', 'x']);
    expect(history.of('c')).toEqual([]);
  });

  test('survives the actor: its successor goes on with it', () => {
    const history = createHistory({ transitions: 3, actors: 10 });
    history.began('a');
    history.add(step('a', '1'));
    history.began('a');
    history.ended('a');
    history.add(step('a', '2'));
    history.ended('a');
    history.began('a');
    history.add(step('a', '3'));
    expect(history.of('a').map(({ to }) => to)).toEqual(['1', '2', '3']);
  });

  test('forgets those first that ended first, then the one that has been idle for the longest time', () => {
    const history = createHistory({ transitions: 3, actors: 3 });
    for (const name of ['a', 'b', 'c']) {
      history.began(name);
      history.add(step(name));
    }
    history.ended('b');
    history.ended('a');
    history.began('d');
    expect(['a', 'b', 'c'].map((name) => history.of(name).length)).toEqual([1, 0, 1]);
    history.began('e');
    history.add(step('d'));
    history.add(step('e'));
    history.began('f');
    expect(history.of().map(({ actor }) => actor)).toEqual(['d', 'e']);
  });

  test('takes up what an earlier agent kept; sessions of that one mean nothing', () => {
    const history = createHistory({ transitions: 3, actors: 3 });
    history.recall([step('a', '1'), step('b', '1'), step('a', '2')]);
    history.began('a');
    history.add(step('a', '3'));
    expect(history.of('a').map(({ to, sessionId }) => [to, sessionId])).toEqual([
      ['1', ''],
      ['2', ''],
      ['3', 'x:1'],
    ]);
  });

  test('knows what is done again and again', () => {
    const history = createHistory({ transitions: 3, actors: 3 });
    history.began('a');
    for (const to of ['1', '2', '1']) history.add(step('a', to));
    expect(['1', '2', '3'].map((to) => history.knows(step('a', to)))).toEqual([true, true, false]);
  });
});

test('a pod has the steps of all that is about it, the node those of all that is about no pod', () => {
  const names = ['syncloop', 'pod d/web', 'container d/web/c', 'imagePull d/web/c', 'pod d/web2', 'pod e/web'];
  const history = createHistory({ transitions: 3, actors: 10 });
  for (const name of names) {
    history.began(name);
    history.add(step(name));
  }
  const of = (about: string) => history.of(about).map(({ actor }) => actor);
  expect(of('pod d/web')).toEqual(['pod d/web', 'container d/web/c', 'imagePull d/web/c']);
  expect(of('container d/web/c')).toEqual(['container d/web/c']);
  expect(of('node')).toEqual(['syncloop']);
});

test('of all it tells the newest 2000', () => {
  const history = createHistory({ transitions: 3_000, actors: 10 });
  history.began('a');
  for (let n = 1; n <= 2_001; n += 1) history.add(step('a', String(n)));
  expect(history.of()).toHaveLength(2_000);
  expect([history.of()[0]?.to, history.of().at(-1)?.to]).toEqual(['2', '2001']);
  expect(history.of('a')).toHaveLength(2_001);
});
