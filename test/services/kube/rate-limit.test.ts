import { describe, expect, test } from '@jest/globals';
import { rateLimit, type RateClock } from '../../../services/kube/rate-limit.ts';

/** Time that passes on command; promises settle between its steps. */
function rig(limit: { qps: number; burst: number }) {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  const clock: RateClock = { now: () => now, after: (ms, run) => void timers.push({ at: now + ms, run }) };
  const turns = rateLimit(limit, clock);
  const order: number[] = [];
  const settle = () => new Promise(setImmediate);
  return {
    order,
    take: (id: number, signal?: AbortSignal) => turns.take('x', signal).then(() => void order.push(id)),
    settle,
    timers: () => timers.length,
    async pass(ms: number) {
      for (const end = now + ms; now < end;) {
        now += 1;
        const due = timers.filter(({ at }) => at <= now);
        timers = timers.filter(({ at }) => at > now);
        for (const { run } of due) run();
        await settle();
      }
    },
  };
}

describe('calls get their turns', () => {
  test('a burst at once, then so many a second, first come first served', async () => {
    const { take, order, pass, settle } = rig({ qps: 10, burst: 3 });
    for (let id = 1; id <= 6; id++) void take(id);
    await settle();
    expect(order).toEqual([1, 2, 3]);
    await pass(99);
    expect(order).toEqual([1, 2, 3]);
    await pass(2);
    expect(order).toEqual([1, 2, 3, 4]);
    await pass(200);
    expect(order).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('what is not used is saved, up to the burst; without waiting calls there is no timer', async () => {
    const { take, order, pass, settle, timers } = rig({ qps: 10, burst: 2 });
    void take(1);
    void take(2);
    await pass(10_000);
    expect(timers()).toBe(0);
    for (let id = 3; id <= 6; id++) void take(id);
    await settle();
    expect(order).toEqual([1, 2, 3, 4]);
  });

  test('one that is given up takes no turn', async () => {
    const { take, order, pass, settle } = rig({ qps: 10, burst: 1 });
    const stop = new AbortController();
    void take(1);
    const second = take(2, stop.signal);
    void take(3);
    await settle();
    stop.abort();
    await expect(second).rejects.toMatchObject({ reason: 'CANCELLED' });
    await pass(101);
    expect(order).toEqual([1, 3]);
    await expect(take(4, stop.signal)).rejects.toMatchObject({ reason: 'CANCELLED' });
  });

  test('a rate below 0 is no limit, a rate of 0 is 5 and a burst of 0 is 10', async () => {
    const free = rig({ qps: -1, burst: 0 });
    for (let id = 0; id < 1000; id++) void free.take(id);
    await free.settle();
    expect(free.order).toHaveLength(1000);
    const usual = rig({ qps: 0, burst: 0 });
    for (let id = 0; id < 20; id++) void usual.take(id);
    await usual.settle();
    expect(usual.order).toHaveLength(10);
    await usual.pass(1010);
    expect(usual.order).toHaveLength(15);
  });
});
