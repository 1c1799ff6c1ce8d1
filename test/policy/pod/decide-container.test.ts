import { expect, test } from '@jest/globals';
import { firstView } from '../../../machines/pod/policy/container-view.ts';
import { decideContainer, type ContainerFacts } from '../../../machines/pod/policy/decide-container.ts';
import { instance, T0 } from '../../support/fixtures.ts';

const run = { do: 'run', reason: 'desired' } as const;
const stop = { do: 'stop', reason: 'podStopping', message: 'Stopping container app', gracePeriodSeconds: 10 } as const;

function facts(own: ReturnType<typeof instance>[], more: Partial<ContainerFacts> = {}): ContainerFacts {
  const [first] = own;
  const sandbox = { id: first?.sandboxId ?? 's', attempt: 0, ips: [] };
  return { ...firstView(own, -1), plan: run, sandbox, unremovable: [], ...more };
}

test('a start that failed a moment ago does not hold up a stop; a stop that failed does', () => {
  const failed = { failedAt: T0, delayMs: 300_000 };
  const own = [instance()];
  expect(decideContainer(facts(own, { plan: stop, retry: failed }), T0).to).toBe('stop');
  expect(decideContainer(facts(own, { plan: stop, stopRetry: failed }), T0).to).toBe('stopLater');
  expect(decideContainer(facts(own, { plan: stop, stopRetry: failed }), T0 + 300_000).to).toBe('stop');
});

test('no successor is made beside an instance that may still start', () => {
  const created = instance({ state: 'created' });
  const after = facts([created], { notStarted: created.id });
  expect(decideContainer(after, T0)).toEqual({ to: 'remove', instance: created });
  expect(decideContainer({ ...after, retry: { failedAt: T0, delayMs: 1000 } }, T0).to).toBe('retryLater');
});

test('B069 the crash back-off counts from the end by the clock of the agent, not of the runtime', () => {
  const ended = instance({ state: 'exited', finishedAt: T0 - 3_600_000, at: T0 });
  const view = { ends: { [ended.id]: T0 }, backoff: { delayMs: 10_000, lastAt: T0 - 1000 } };
  expect(decideContainer(facts([ended], view), T0 + 5_000).to).toBe('backOff');
  expect(decideContainer(facts([ended], view), T0 + 10_000).to).toBe('pull');
});
