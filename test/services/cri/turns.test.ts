import { describe, expect, test } from '@jest/globals';
import { TurnLimit } from '../../../services/cri/turn-limit.ts';
import { Turns } from '../../../services/cri/turns.ts';
import type { TurnKind } from '../../../services/cri/turns.ts';
import { FakeClock } from './fake-clock.ts';

const never = new AbortController().signal;
const settle = () => new Promise((done) => setImmediate(done));

/** A limiter with calls that end on command; `begun` is the order in which they began. */
function rig(cores = 1) {
  const clock = new FakeClock();
  const turns = new Turns(cores, clock);
  const begun: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const ask = (kind: TurnKind, name: string, signal = never) =>
    turns.take(
      kind,
      () => {
        begun.push(name);
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        ends.set(name, { resolve, reject });
        return promise;
      },
      signal,
    );
  const end = async (name: string) => {
    ends.get(name)?.resolve();
    await settle();
  };
  return { clock, turns, begun, ends, ask, end };
}

describe('turns for creating sandboxes and containers', () => {
  test('no more than the limit are under way at once, first come first served', async () => {
    const { begun, ask, end, clock } = rig();
    for (const name of ['s1', 's2', 's3', 's4']) void ask('sandbox', name);
    await settle();
    expect(begun).toEqual(['s1', 's2']);
    await end('s2');
    clock.advance(25);
    await settle();
    expect(begun).toEqual(['s1', 's2', 's3']);
  });

  test('a container of a pod that has begun goes before a new sandbox', async () => {
    const { begun, ask, end } = rig();
    for (const name of ['s1', 's2', 's3']) void ask('sandbox', name);
    void ask('container', 'c1');
    await settle();
    await end('s1');
    expect(begun).toEqual(['s1', 's2', 'c1']);
  });

  test('the turn of a finished step is kept a moment for the next step of its pod', async () => {
    const { begun, ask, end, clock } = rig();
    for (const name of ['s1', 's2', 's3']) void ask('sandbox', name);
    await settle();
    await end('s1');
    expect(begun).toEqual(['s1', 's2']);
    clock.advance(10);
    void ask('container', 'c1');
    await settle();
    expect(begun).toEqual(['s1', 's2', 'c1']);
    clock.advance(1000);
    await settle();
    expect(begun).toEqual(['s1', 's2', 'c1']);
  });

  test('pods are prepared just ahead of the turn of their sandbox', async () => {
    const { begun, ask, end } = rig();
    for (const name of ['p1', 'p2', 'p3', 'p4']) void ask('prepare', name);
    await settle();
    expect(begun).toEqual(['p1', 'p2']);
    for (const name of ['s1', 's2', 's3']) void ask('sandbox', name);
    await end('p1');
    expect(begun).toEqual(['p1', 'p2', 's1', 's2']);
    await end('p2');
    expect(begun).toEqual(['p1', 'p2', 's1', 's2', 'p3']);
  });

  test('sandboxes are torn down as many at a time as there are cores, at least two, and one beside pods that begin', async () => {
    const { begun, ask, end, clock } = rig();
    for (const name of ['t1', 't2', 't3', 't4', 't5']) void ask('teardown', name);
    await settle();
    expect(begun).toEqual(['t1', 't2']);
    void ask('container', 'c1');
    await settle();
    expect(begun).toEqual(['t1', 't2', 'c1']);
    await end('t1');
    expect(begun).toEqual(['t1', 't2', 'c1']);
    await end('t2');
    expect(begun).toEqual(['t1', 't2', 'c1', 't3']);
    await end('c1');
    clock.advance(25);
    await settle();
    expect(begun).toEqual(['t1', 't2', 'c1', 't3', 't4']);
  });

  test('a wait can be given up and passes nothing on', async () => {
    const { begun, ask, end, turns, clock } = rig();
    const giveUp = new AbortController();
    void ask('sandbox', 's1');
    void ask('sandbox', 's2');
    const waiting = ask('sandbox', 's3', giveUp.signal);
    void ask('sandbox', 's4');
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'CANCELLED' });
    await end('s1');
    clock.advance(25);
    await settle();
    expect(begun).toEqual(['s1', 's2', 's4']);
    expect(turns.load).toMatchObject({ taken: 2, waiting: 0 });
  });

  test('a call that has begun is not ended by the signal', async () => {
    const { ask, end } = rig();
    const giveUp = new AbortController();
    const call = ask('sandbox', 's1', giveUp.signal);
    await settle();
    giveUp.abort();
    await end('s1');
    await expect(call).resolves.toBeUndefined();
  });

  test('a call that fails gives its turn back', async () => {
    const { begun, ask, ends, clock } = rig();
    const failing = ask('sandbox', 's1');
    void ask('sandbox', 's2');
    void ask('sandbox', 's3');
    await settle();
    ends.get('s1')?.reject(new Error('refused'));
    await expect(failing).rejects.toThrow('refused');
    clock.advance(25);
    await settle();
    expect(begun).toEqual(['s1', 's2', 's3']);
  });

  test('calls that hang lend their turns to others, and give nothing back when they end', async () => {
    const { begun, ask, end, turns, clock } = rig();
    for (const name of ['s1', 's2', 's3', 's4', 's5']) void ask('sandbox', name);
    await settle();
    clock.advance(10_000);
    await settle();
    expect(begun).toEqual(['s1', 's2', 's3', 's4']);
    await end('s1');
    await end('s2');
    clock.advance(25);
    await settle();
    expect(begun).toHaveLength(4);
    expect(turns.load.taken).toBe(2);
  });
});

describe('the number of turns follows the latency', () => {
  /** Samples of four calls while others wait; the latency may depend on the number of turns. */
  const feed = (limit: TurnLimit, latencyMs: (turns: number) => number, samples: number) => {
    const seen: number[] = [];
    for (let i = 0; i < 4 * samples; i += 1) {
      limit.observe(latencyMs(limit.value), true);
      if (seen.at(-1) !== limit.value) seen.push(limit.value);
    }
    return seen;
  };

  test('it begins with the cores, and never below two', () => {
    expect([0, 1, 2, 8].map((cores) => new TurnLimit(cores).value)).toEqual([2, 2, 2, 8]);
  });

  test('where calls only wait for each other, one more is tried from time to time and given back', () => {
    const limit = new TurnLimit(2);
    expect(feed(limit, (turns) => 100 * turns, 4)).toEqual([2, 3, 2]);
    expect(feed(limit, (turns) => 100 * turns, 12)).toEqual([2, 3, 2]);
  });

  test('a runtime with room gets up to four times the cores', () => {
    const limit = new TurnLimit(2);
    expect(feed(limit, () => 100, 40)).toEqual([2, 3, 4, 5, 6, 7, 8]);
  });

  test('a runtime whose room ends at four gets four, and one on trial', () => {
    const limit = new TurnLimit(2);
    expect(new Set(feed(limit, (turns) => 100 * Math.max(1, turns / 4), 60).slice(3))).toEqual(new Set([4, 5]));
  });

  test('a runtime that became slow gets fewer, down to the cores, and its share back when it recovers', () => {
    const limit = new TurnLimit(2);
    feed(limit, () => 100, 40);
    feed(limit, (turns) => 500 * turns, 30);
    expect(limit.value).toBeLessThanOrEqual(3);
    feed(limit, () => 100, 60);
    expect(limit.value).toBe(8);
  });

  test('calls that nobody waited behind say nothing', () => {
    const limit = new TurnLimit(2);
    for (let i = 0; i < 40; i += 1) limit.observe(50, false);
    expect(limit.value).toBe(2);
  });
});
