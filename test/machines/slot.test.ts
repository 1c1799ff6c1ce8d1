import { expect, test } from '@jest/globals';
import { createActor } from 'xstate';
import { AgentError } from '../../machines/agent-error.types.ts';
import { slot, watchSlot } from '../../machines/slot.types.ts';

const failureOf = (logic: Parameters<typeof createActor>[0]) =>
  new Promise((resolve) => {
    const actor = createActor(logic);
    actor.subscribe({ error: resolve });
    actor.start();
  });

test('an effect that no service fills rejects and names its slot', async () => {
  const error = await failureOf(slot('startContainer'));
  expect(error).toBeInstanceOf(AgentError);
  expect(error).toMatchObject({ op: 'startContainer', reason: 'UnfilledSlot' });
});

test('a watch that no service fills fails and names its slot', async () => {
  const error = await failureOf(watchSlot('watchRuntime'));
  expect(error).toMatchObject({ op: 'watchRuntime', reason: 'UnfilledSlot' });
});
