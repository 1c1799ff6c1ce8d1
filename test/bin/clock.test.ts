import { describe, expect, test } from '@jest/globals';
import { agentClock } from '../../bin/clock.ts';

/** A clock over a wall that can be set and a monotonic time that only passes. */
function rig() {
  const times = { wall: 1_000_000, monotonic: 0 };
  const now = agentClock(
    () => times.wall,
    () => times.monotonic,
  );
  const pass = (ms: number) => {
    times.wall += ms;
    times.monotonic += ms;
  };
  return { now, pass, set: (ms: number) => (times.wall += ms) };
}

describe('the clock of the agent', () => {
  test('is the wall clock while nobody sets it', () => {
    const { now, pass } = rig();
    expect(now()).toBe(1_000_000);
    pass(5_000);
    expect(now()).toBe(1_005_000);
  });

  test('a wall clock that is set ahead is followed', () => {
    const { now, set } = rig();
    set(3_600_000);
    expect(now()).toBe(4_600_000);
  });

  test('a wall clock that is set back is not: time goes on', () => {
    const { now, pass, set } = rig();
    set(-3_600_000);
    expect(now()).toBe(1_000_000);
    pass(10);
    expect(now()).toBe(1_000_010);
  });

  test('a small drift is left to the monotonic clock', () => {
    const { now, set } = rig();
    set(900);
    expect(now()).toBe(1_000_000);
  });
});
