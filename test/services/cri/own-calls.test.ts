import { describe, expect, test } from '@jest/globals';
import type { RuntimeEvent } from '../../../machines/runtime.types.ts';
import { OwnCalls } from '../../../services/cri/own-calls.ts';

const event = (kind: RuntimeEvent['kind']): RuntimeEvent => ({ kind, containerId: 'c', podUid: 'u', at: 1 });

describe('own calls', () => {
  test.each<['make' | 'start' | 'stop', string, RuntimeEvent['kind'], boolean, boolean]>([
    ['make', 'u', 'created', false, true],
    ['make', 'u', 'started', false, true],
    ['make', 'u', 'started', true, false],
    ['make', 'u', 'stopped', false, false],
    ['make', 'other', 'created', false, false],
    ['start', 'c', 'started', true, true],
    ['start', 'c', 'stopped', true, false],
    ['stop', 'c', 'stopped', true, true],
    ['stop', 'c', 'oom', true, false],
    ['stop', 'c', 'deleted', true, false],
    ['stop', 'other', 'stopped', true, false],
  ])('%s %s under way covers "%s" (known: %s): %s', async (deed, id, kind, known, covered) => {
    const own = new OwnCalls();
    const call = Promise.withResolvers<void>();
    const under = own.during(deed, id, () => call.promise);
    expect(own.covers(event(kind), known)).toBe(covered);
    call.resolve();
    await under;
    expect(own.covers(event(kind), known)).toBe(false);
  });

  test('two calls about one object cover until both have ended, one of them in failure', async () => {
    const own = new OwnCalls();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const one = own.during('stop', 'c', () => first.promise);
    const two = own.during('stop', 'c', () => second.promise);
    first.reject(new Error('no'));
    await expect(one).rejects.toThrow('no');
    expect(own.covers(event('stopped'), true)).toBe(true);
    second.resolve();
    await two;
    expect(own.covers(event('stopped'), true)).toBe(false);
  });
});
