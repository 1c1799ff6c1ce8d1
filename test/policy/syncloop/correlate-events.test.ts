import { describe, expect, test } from '@jest/globals';
import type { RecordedEvent } from '../../../machines/agent.types.ts';
import {
  correlateEvent,
  markWritten,
  NO_EVENTS,
  seriesOf,
  type Correlation,
} from '../../../machines/syncloop/policy/correlate-events.ts';
import { T0 } from '../../support/fixtures.ts';

const MINUTE = 60_000;
const about = (message: string, over: Partial<RecordedEvent> = {}): RecordedEvent => ({
  type: 'Warning',
  reason: 'BackOff',
  message,
  pod: { name: 'web', namespace: 'shop', uid: 'uid-1' },
  ...over,
});

/** Takes the events in one after the other; answers the keys to be written, and what the last series became. */
function take(events: [event: RecordedEvent, at?: number][], state: Correlation = NO_EVENTS) {
  const keys: (string | undefined)[] = [];
  for (const [event, at = 0] of events) {
    const result = correlateEvent(state, event, { nodeName: 'n1', now: T0 + at });
    state = result.state;
    keys.push(result.key);
  }
  const all = [...state.objects.values()].flatMap(({ series }) => [...series.values()]);
  return { state, keys, all, last: all.at(-1)?.event };
}

describe('an event', () => {
  test('of a pod stands in its namespace, named after it and the time, from this kubelet', () => {
    expect(take([[about('pulling', { fieldPath: 'spec.containers{app}' })]]).last).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'web.18867251edfa0000', namespace: 'shop' },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'Pod',
        namespace: 'shop',
        name: 'web',
        uid: 'uid-1',
        fieldPath: 'spec.containers{app}',
      },
      type: 'Warning',
      reason: 'BackOff',
      message: 'pulling',
      source: { component: 'kubelet', host: 'n1' },
      reportingComponent: 'kubelet',
      reportingInstance: 'n1',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    });
  });

  test('of the node stands in default, under the node’s name as UID', () => {
    const { last } = take([[about('x', { pod: undefined })]]);
    expect(last?.metadata.namespace).toBe('default');
    expect(last?.involvedObject).toEqual({ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n1' });
  });

  test('has a name of its own even within one millisecond, and never too long a one', () => {
    const names = take([[about('a')], [about('b')]]).all.map(({ event }) => event.metadata.name);
    expect(new Set(names).size).toBe(2);
    const long = about('a', { pod: { name: 'x'.repeat(253), namespace: 'shop', uid: 'u' } });
    expect(take([[long]]).last?.metadata.name).toHaveLength(253);
  });
});

test('equal events are one series, whose count and last time move', () => {
  const { keys, last, all } = take([[about('same')], [about('same'), MINUTE]]);
  expect(keys[0]).toBe(keys[1]);
  expect(all).toHaveLength(1);
  expect(last).toMatchObject({
    count: 2,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:01:00Z',
  });
});

test('events that differ in object, place, type or reason are different series', () => {
  const others: Partial<RecordedEvent>[] = [
    {},
    { type: 'Normal' },
    { reason: 'Failed' },
    { fieldPath: 'spec.containers{app}' },
    { pod: { name: 'web', namespace: 'shop', uid: 'uid-2' } },
    { pod: undefined },
  ];
  expect(new Set(take(others.map((over) => [about('same', over)])).keys).size).toBe(others.length);
});

describe('similar events', () => {
  const many = (count: number, from = 0): [RecordedEvent, number?][] =>
    Array.from({ length: count }, (_, i) => [about(`message ${from + i}`)]);

  test('nine different messages stand for themselves; the tenth and later ones are one combined series', () => {
    const { keys, last } = take(many(12));
    expect(new Set(keys).size).toBe(10);
    expect(last).toMatchObject({ message: '(combined from similar events): message 11', count: 3 });
  });

  test('a message that is known already goes on being counted alone while it is not combined', () => {
    expect(take([...many(9), [about('message 3')]]).last).toMatchObject({ message: 'message 3', count: 2 });
  });

  test('after ten quiet minutes they begin anew', () => {
    const { state } = take(many(10));
    expect(take([[about('late'), 10 * MINUTE + 1]], state).last).toMatchObject({ message: 'late', count: 1 });
    expect(take([[about('soon'), 10 * MINUTE]], state).last?.message).toBe('(combined from similar events): soon');
  });
});

describe('an object that floods', () => {
  const flood = (count: number): [RecordedEvent, number?][] => Array.from({ length: count }, () => [about('same')]);

  test('B182 writes 25 at once, then one each five minutes; all are counted', () => {
    const { keys, state, last } = take(flood(10_000));
    expect(keys.filter(Boolean)).toHaveLength(25);
    expect(last?.count).toBe(10_000);
    expect(take([[about('same'), 5 * MINUTE - 1]], state).keys).toEqual([undefined]);
    expect(
      take(
        [
          [about('same'), 5 * MINUTE],
          [about('same'), 5 * MINUTE],
        ],
        state,
      ).keys,
    ).toEqual([expect.any(String), undefined]);
  });

  test('does not keep others from being told of', () => {
    const { state } = take(flood(100));
    const other = about('same', { pod: { name: 'other', namespace: 'shop', uid: 'uid-2' } });
    expect(take([[other]], state).keys[0]).toBeDefined();
  });

  test('is not let off by a clock that was set back', () => {
    const { state } = take(flood(25).map(([event]) => [event, 60 * MINUTE]));
    expect(take([[about('same'), 0]], state).keys).toEqual([undefined]);
  });
});

test('what is remembered is bounded; what was written is remembered of a series', () => {
  const events: [RecordedEvent][] = Array.from({ length: 1200 }, (_, i) => [
    about('same', { pod: { name: `p${i}`, namespace: 'shop', uid: `u${i}` } }),
  ]);
  const { state, keys } = take(events);
  expect(state.objects.size).toBe(1100);
  expect(seriesOf(state, keys[0]!)).toBeUndefined();
  const [newest] = keys.slice(-1);
  expect(seriesOf(markWritten(state, newest!, true), newest!)?.isWritten).toBe(true);
  expect(markWritten(state, keys[0]!, true)).toBe(state);
  const reasons: [RecordedEvent][] = Array.from({ length: 60 }, (_, i) => [about('same', { reason: `Reason${i}` })]);
  expect(take(reasons).all).toHaveLength(50);
});
