import { describe, expect, test } from '@jest/globals';
import { createMachine, createActor } from 'xstate';
import { snapshotOf, stateName } from '../../../services/live/actor-view.ts';

const region = (...states: string[]) => ({
  initial: states[0]!,
  states: Object.fromEntries([
    ...states.map((name, i) => [name, { on: { go: states[i + 1] ?? 'over' } }]),
    ['over', { type: 'final' as const }],
  ]),
});
const started = (config: Parameters<typeof createMachine>[0]) => createActor(createMachine(config)).start();

describe('the name of a state', () => {
  test('is its whole path', () => {
    const actor = started({ initial: 'a', states: { a: { initial: 'b', states: { b: {} } } } });
    expect(stateName(snapshotOf(actor))).toBe('a.b');
  });

  test('of parallel states has the whole path of each, wherever they are, and none that is over while another is not', () => {
    const actor = started({
      initial: 'doing',
      states: {
        doing: {
          type: 'parallel',
          states: { short: region('one'), long: region('one', 'two', 'three'), other: region('one', 'two') },
          onDone: 'done',
        },
        done: { type: 'final' },
      },
    });
    const names = [stateName(snapshotOf(actor))];
    for (let n = 0; n < 3; n += 1) {
      actor.send({ type: 'go' });
      names.push(stateName(snapshotOf(actor)));
    }
    expect(names).toEqual([
      'doing.short.one, doing.long.one, doing.other.one',
      'doing.long.two, doing.other.two',
      'doing.long.three',
      'done',
    ]);
  });

  test('of an effect is empty', () => {
    expect(stateName({ status: 'active' })).toBe('');
  });
});
