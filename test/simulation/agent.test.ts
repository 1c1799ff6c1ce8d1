import { expect, test } from '@jest/globals';
import { manyLives } from '../support/world/many-lives.ts';
import { runScenario } from '../support/world/scenario.ts';

test('the whole agent keeps its invariants through many random lives with faults', async () => {
  const { lives, calls } = await manyLives(runScenario, 240);
  expect(calls).toBeGreaterThan(lives * 5);
}, 900_000);
