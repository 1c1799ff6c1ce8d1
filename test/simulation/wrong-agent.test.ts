import { expect, test } from '@jest/globals';
import { containerMachine } from '../../machines/pod/container.machine.ts';
import { podMachine } from '../../machines/pod/pod.machine.ts';
import { leaseMachine } from '../../machines/node/lease.machine.ts';
import { nodeStatusMachine } from '../../machines/node/node-status.machine.ts';
import { apiSourceMachine } from '../../machines/syncloop/api-source.machine.ts';
import { eventRecorderMachine } from '../../machines/syncloop/event-recorder.machine.ts';
import { podWriterMachine } from '../../machines/syncloop/pod-writer.machine.ts';
import { runClusterScenario } from '../support/world/cluster-scenario.ts';
import { runScenario } from '../support/world/scenario.ts';
import type { Charts } from '../support/world/world.ts';

/** Problems of the first random life in which the agent with the broken chart is caught. */
async function caught(charts: Partial<Charts>, run = runScenario, lives = 40): Promise<string> {
  for (let seed = 1; seed <= lives; seed++) {
    const { problems } = await run(seed, undefined, charts);
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

/** The same of an agent in a cluster. */
test.each<[string, Partial<Charts>, RegExp]>([
  [
    'deletes a pod as soon as its deletion is asked for',
    {
      podWriter: podWriterMachine.provide({
        guards: {
          isDue: ({ context: { next, api, wanted } }, write) =>
            write === 'deletePod' && wanted?.source === 'api'
              ? api?.deletionTimestamp !== undefined
              : next.do === write,
        },
      }),
    },
    /is deleted (before its terminal status is written|while)/,
  ],
  [
    'never writes a status',
    {
      podWriter: podWriterMachine.provide({
        guards: { isDue: ({ context: { next } }, write) => next.do === write && write !== 'writeStatus' },
      }),
    },
    /never initialized|runs and is Pending|is still being deleted/,
  ],
  [
    'leaves mirror pods behind',
    {
      podWriter: podWriterMachine.provide({
        guards: { isDue: ({ context: { next } }, write) => next.do === write && write !== 'deleteMirror' },
      }),
    },
    /mirror pod .* (has no static pod|shows another manifest)|is still being deleted/,
  ],
  [
    'hears no watch',
    { apiSource: apiSourceMachine.provide({ actions: { takeBatch: () => undefined } }) },
    /running instances|is still being deleted|something of it is left|is gone and still kept/,
  ],
  [
    'does not see that its Node is gone',
    { nodeStatus: nodeStatusMachine.provide({ guards: { isNotFound: () => false } }) },
    /there is no Node/,
  ],
  [
    'forgets its lease',
    { lease: leaseMachine.provide({ delays: { renewal: 3_600_000 } }) },
    /the lease was renewed [\d.]+ ms ago|there is no Lease/,
  ],
  [
    'gives an event up at the first refusal',
    { eventRecorder: eventRecorderMachine.provide({ guards: { isTransient: () => false } }) },
    /event \w+ of .* is not in the API/,
  ],
])(
  'an agent in a cluster that %s is caught',
  async (_what, charts, breach) => {
    expect(await caught(charts, runClusterScenario)).toMatch(breach);
  },
  120_000,
);
