import { expect, test } from '@jest/globals';
import { and, setup } from 'xstate';
import { slot, watchSlot } from '../../../machines/slot.types.ts';
import { chartKey } from '../../../services/charts/chart-key.ts';
import { chartsOf } from '../../../services/charts/chart-of.ts';
import type { Chart } from '../../../services/charts/chart.types.ts';

const child = setup({}).createMachine({ id: 'smallChild', description: 'A child.' });
const parent = setup({
  types: { events: {} as { type: 'go' } | { type: 'again' } },
  actors: { work: slot<void, void>('work'), look: watchSlot<void>('look'), child },
  guards: { isDue: (_, what: string) => what !== '', may: () => true },
  actions: { record: (_, _what: { reason: string }) => undefined, note: () => undefined },
  delays: { short: 1500, long: () => 1 },
}).createMachine({
  id: 'bigParent',
  description: 'A parent.',
  initial: 'outer',
  on: { go: { actions: 'note' } },
  states: {
    outer: {
      description: 'Has states inside.',
      initial: 'working',
      exit: 'note',
      on: { again: { target: '.working', description: 'Begins once more.' } },
      states: {
        working: {
          tags: 'busy',
          entry: { type: 'record', params: { reason: 'Began' } },
          invoke: { src: 'work', onDone: { guard: { type: 'isDue', params: 'end' }, target: '#bigParent.over' } },
          on: { again: { target: 'working', reenter: true } },
        },
        waiting: { after: { short: 'working', long: { guard: and(['may', 'may']), target: 'working' } } },
      },
    },
    over: { type: 'final' },
  },
});
const charts = chartsOf({ 'big-parent': parent, 'small-child': child });
const chart = charts['big-parent'] as Chart;
const edge = (from: string, what: string) => chart.edges.find((e) => e.from === from && e.what === what);

test('a chart has its page’s name, its machine’s id, its children by their pages, its watches, and the length of its delays', () => {
  expect(chart).toMatchObject({ name: 'big-parent', machine: 'bigParent', description: 'A parent.' });
  expect(chart.children).toEqual(['small-child']);
  expect(chart.watches).toEqual(['look']);
  expect(chart.delays).toEqual({ short: 1500, long: null });
});

test('states come with their parents before them, their first child, effects, tags and actions', () => {
  expect(chart.states.map((s) => [s.path, s.kind, s.initial])).toEqual([
    ['', 'compound', 'outer'],
    ['outer', 'compound', 'outer.working'],
    ['outer.working', 'atomic', undefined],
    ['outer.waiting', 'atomic', undefined],
    ['over', 'final', undefined],
  ]);
  expect(chart.states[1]).toMatchObject({ description: 'Has states inside.', exit: ['note'] });
  expect(chart.states[2]).toMatchObject({ invokes: ['work'], tags: ['busy'], entry: ['record(Began)'] });
});

test('edges say what they are taken on, under which guard, and whether their state is left', () => {
  expect(edge('', 'go')).toMatchObject({ kind: 'on', to: undefined, internal: true, actions: ['note'] });
  expect(edge('outer', 'again')).toMatchObject({
    to: 'outer.working',
    internal: true,
    description: 'Begins once more.',
  });
  expect(edge('outer.working', 'again')).toMatchObject({ to: 'outer.working', internal: false, reenters: true });
  expect(edge('outer.working', 'work')).toMatchObject({ kind: 'done', guard: 'isDue(end)', to: 'over' });
  expect(edge('outer.waiting', 'short')).toMatchObject({
    kind: 'after',
    event: 'xstate.after.short.bigParent.outer.waiting',
  });
  expect(edge('outer.waiting', 'long')).toMatchObject({ kind: 'after', guard: 'and(may, may)' });
});

test('the key of a chart is the same after it went over the wire, and another for another chart', () => {
  expect(chartKey(JSON.parse(JSON.stringify(chart)) as Chart)).toBe(chartKey(chart));
  expect(chartKey({ ...chart, edges: chart.edges.slice(1) })).not.toBe(chartKey(chart));
});
