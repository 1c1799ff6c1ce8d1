import { expect, test } from '@jest/globals';
import { runClusterScenario } from '../support/world/cluster-scenario.ts';
import { manyLives } from '../support/world/many-lives.ts';

test('the whole agent in a cluster keeps its invariants through many random lives with faults', async () => {
  const { lives, calls } = await manyLives(runClusterScenario, 200, ' --cluster');
  expect(calls).toBeGreaterThan(lives * 5);
}, 900_000);
