import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { longSleep, longTimers } from '../../services/timers.ts';

const DAY = 86_400_000;

/** Timers of a platform that takes no delay above 2^31 - 1 ms: it then fires at once, as Node does. */
function rig() {
  let [now, ids] = [0, 0];
  const set = new Map<number, { at: number; run: () => void }>();
  const timers = longTimers({
    setTimeout: (run, ms) => {
      set.set(++ids, { at: now + (ms > 2 ** 31 - 1 ? 1 : ms), run });
      return ids;
    },
    clearTimeout: (id) => void set.delete(id as number),
  });
  /** Runs what is due on the way, and no more than it takes to be over. */
  const pass = (ms: number) => {
    const until = now + ms;
    for (;;) {
      const [next] = [...set].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at);
      if (!next) break;
      set.delete(next[0]);
      now = next[1].at;
      next[1].run();
    }
    now = until;
  };
  return { timers, pass, waiting: () => set.size };
}

describe('timers of any length', () => {
  test.each([1_000, 2 ** 31 - 1, 2 ** 31, 60 * DAY, 36_500 * DAY])('%i ms pass before it fires, once', (ms) => {
    const { timers, pass, waiting } = rig();
    let fired = 0;
    timers.setTimeout(() => (fired += 1), ms);
    pass(ms - 1);
    expect(fired).toBe(0);
    pass(1);
    expect(fired).toBe(1);
    pass(100 * DAY);
    expect([fired, waiting()]).toEqual([1, 0]);
  });

  test('one that is cleared in any part of its wait never fires', () => {
    for (const days of [0, 24, 30, 59]) {
      const { timers, pass, waiting } = rig();
      let fired = 0;
      const timer = timers.setTimeout(() => (fired += 1), 60 * DAY);
      pass(days * DAY);
      timers.clearTimeout(timer);
      pass(100 * DAY);
      expect([days, fired, waiting()]).toEqual([days, 0, 0]);
    }
  });
});

test('a sleep of any length is over as soon as it is given up', async () => {
  const given = new AbortController();
  const sleep = longSleep(60 * DAY, given.signal);
  given.abort();
  await expect(sleep).resolves.toBeUndefined();
  await expect(longSleep(60 * DAY, AbortSignal.abort())).resolves.toBeUndefined();
  await expect(longSleep(1, new AbortController().signal)).resolves.toBeUndefined();
});

test('a sleep that is over leaves nothing on the signal, which may live as long as the agent', async () => {
  const { signal } = new AbortController();
  await longSleep(1, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
