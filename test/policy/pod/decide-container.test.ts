import { expect, test } from '@jest/globals';
import { firstView } from '../../../machines/pod/policy/container-view.ts';
import {
  decideContainer,
  reasonRemaining,
  type ContainerFacts,
} from '../../../machines/pod/policy/decide-container.ts';
import { instance, T0 } from '../../support/fixtures.ts';

const run = { do: 'run', reason: 'desired' } as const;
const stop = { do: 'stop', reason: 'podStopping', message: 'Stopping container app', gracePeriodSeconds: 10 } as const;

function facts(own: ReturnType<typeof instance>[], more: Partial<ContainerFacts> = {}): ContainerFacts {
  const [first] = own;
  const sandbox = { id: first?.sandboxId ?? 's', attempt: 0, ips: [], hostIPs: [] };
  return { ...firstView(own, -1), plan: run, sandbox, unremovable: [], ...more };
}

test('a start that failed a moment ago does not hold up a stop; a stop that failed does', () => {
  const failed = { failedAt: T0, delayMs: 300_000 };
  const own = [instance()];
  expect(decideContainer(facts(own, { plan: stop, retry: failed }), T0).to).toBe('stop');
  expect(decideContainer(facts(own, { plan: stop, stopRetry: failed }), T0).to).toBe('stopLater');
  expect(decideContainer(facts(own, { plan: stop, stopRetry: failed }), T0 + 300_000).to).toBe('stop');
});

test.each([
  ['of a create', { delayMs: 10_000 }, 0, 'retryLater', undefined],
  [
    'of a first start, which costs no more than the reason is shown',
    { delayMs: 1000, reasonMs: 1000 },
    0,
    'retryLater',
    undefined,
  ],
  ['of a start again, just now', { delayMs: 10_000, reasonMs: 1000 }, 0, 'retryLater', 1000],
  ['of a start again, a while ago', { delayMs: 10_000, reasonMs: 1000 }, 1000, 'retryLater', 0],
  ['of a start again, whose reason has been shown', { delayMs: 10_000, reasonMs: 0 }, 1000, 'backOff', 0],
  ['of a start again, that is over', { delayMs: 10_000, reasonMs: 0 }, 10_000, 'pull', 0],
])('the failure %s', (_what, wait, passed, to, reason) => {
  const retry = { failedAt: T0, ...wait };
  const ended = instance({ state: 'exited', reason: 'StartError', exitCode: 128 });
  expect(decideContainer(facts([ended], { retry, servedAttempt: ended.attempt }), T0 + passed).to).toBe(to);
  expect(reasonRemaining(retry, T0 + passed)).toBe(reason);
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
