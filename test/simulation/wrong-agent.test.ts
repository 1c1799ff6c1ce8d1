import { expect, test } from '@jest/globals';
import { containerMachine } from '../../machines/pod/container.machine.ts';
import { podMachine } from '../../machines/pod/pod.machine.ts';
import { runScenario } from '../support/world/scenario.ts';
import type { Charts } from '../support/world/world.ts';

/** Problems of the first random life in which the agent with the broken chart is caught. */
async function caught(charts: Partial<Charts>, lives = 40): Promise<string> {
  for (let seed = 1; seed <= lives; seed++) {
    const { problems } = await runScenario(seed, undefined, charts);
    if (problems.length) return problems.join('\n');
  }
  return '';
}

/** What a mistake in one guard of one chart leads to within a few random lives. */
test.each<[string, Partial<Charts>, RegExp]>([
  [
    'does not wait for its predecessor',
    { pod: podMachine.provide({ guards: { hasPredecessor: () => false } }) },
    /runs under two UIDs/,
  ],
  [
    'takes it that nothing runs while it stops',
    { pod: podMachine.provide({ guards: { containersStopped: () => true, somethingRuns: () => false } }) },
    /cut off|released while/,
  ],
  [
    'never retries a start',
    { container: containerMachine.provide({ guards: { mustRetryLater: () => false, mayStart: () => false } }) },
    /0 running instances|never initialized/,
  ],
  [
    'leaves a removed pod where it is',
    { pod: podMachine.provide({ guards: { isRemoved: () => false } }) },
    /something of it is left/,
  ],
])('an agent that %s is caught', async (_what, charts, breach) => {
  expect(await caught(charts)).toMatch(breach);
});
