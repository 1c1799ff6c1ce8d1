import { expect, test } from '@jest/globals';
import { Gate } from '../../../services/host/gate.ts';

test('a gate lets so many run at a time, later stages first, then in order, and a failure keeps no place', async () => {
  const gate = new Gate(2);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const work =
    (name: string, fails = false) =>
    async () => {
      order.push(name);
      most = Math.max(most, ++running);
      await new Promise<void>((end) => ends.push(end));
      running--;
      if (fails) throw new Error(name);
      return name;
    };
  const all = [
    gate.run(0, work('a1')),
    gate.run(0, work('b1', true)),
    gate.run(0, work('c1')),
    gate.run(0, work('d1')),
    gate.run(1, work('a2')),
  ];
  const settled = Promise.allSettled(all);
  for (let i = 0; i < all.length; i++) {
    await new Promise((done) => setImmediate(done));
    ends.shift()?.();
  }
  expect((await settled).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  expect(order).toEqual(['a1', 'b1', 'a2', 'c1', 'd1']);
  expect(most).toBe(2);
  await expect(gate.run(0, async () => 'free again')).resolves.toBe('free again');
});
