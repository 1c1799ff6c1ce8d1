import { expect, test } from '@jest/globals';
import { and, createActor, not, or, setup } from 'xstate';
import { guardHolds } from '../../../services/live/guard-holds.ts';

const asked: string[] = [];
const machine = setup({
  types: { context: {} as { count: number }, events: {} as { type: 'set'; to: number } },
  guards: {
    isOne: ({ context }) => context.count === 1,
    isMore: ({ context }, than: number) => context.count > than,
    isSetToOne: ({ event }) => {
      asked.push('isSetToOne');
      return event.type === 'set' && event.to === 1;
    },
    breaks: () => {
      throw new Error('a bug');
    },
    isNotOne: not('isOne'),
    isOneOrMore: or(['isOne', { type: 'isMore', params: 1 }]),
    isBoth: and(['isOne', { type: 'isMore', params: 0 }]),
  },
}).createMachine({ context: { count: 1 } });

test.each([
  ['isOne', true],
  ['isNotOne', false],
  ['isOneOrMore', true],
  ['isBoth', true],
  ['isSetToOne', undefined],
  ['breaks', undefined],
  ['isNobody', undefined],
  ['toString', undefined],
])('the guard %s holds: %s', (name, holds) => {
  const actor = createActor(machine).start();
  const before = actor.getSnapshot();
  expect(guardHolds(actor, name)).toBe(holds);
  expect(actor.getSnapshot()).toBe(before);
});
