import { expect, test } from '@jest/globals';
import { runScenario } from '../support/world/scenario.ts';

/** More by `npm run soak`; a failing seed reproduces to the step. */
const SEEDS = Number(process.env.STATELET_SEEDS ?? 240);
const FIRST = Number(process.env.STATELET_FIRST_SEED ?? 1);

test(`the whole agent keeps its invariants through ${SEEDS} random lives with faults`, async () => {
  let calls = 0;
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const verdict = await runScenario(seed);
    calls += verdict.calls;
    if (verdict.problems.length)
      throw new Error(`STATELET_FIRST_SEED=${seed} STATELET_SEEDS=1:\n${verdict.problems.slice(0, 10).join('\n')}`);
  }
  expect(calls).toBeGreaterThan(SEEDS * 10);
}, 900_000);
