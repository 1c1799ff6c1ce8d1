import { expect, test } from '@jest/globals';
import { runClusterScenario } from '../support/world/cluster-scenario.ts';
import { runScenario } from '../support/world/scenario.ts';

/** More by `npm run soak`; a failing seed reproduces to the step. */
const SEEDS = Number(process.env.STATELET_SEEDS ?? 240);
/** Lives in a cluster are dearer. */
const CLUSTER_SEEDS = Number(process.env.STATELET_SEEDS ?? 200);
const FIRST = Number(process.env.STATELET_FIRST_SEED ?? 1);

test.each([
  ['with manifests', SEEDS, '', runScenario],
  ['in a cluster', CLUSTER_SEEDS, ' --cluster', runClusterScenario],
])(
  'the whole agent %s keeps its invariants through %i random lives with faults',
  async (_where, seeds, option, run) => {
    let calls = 0;
    for (let seed = FIRST; seed < FIRST + seeds; seed++) {
      const verdict = await run(seed);
      calls += verdict.calls;
      if (verdict.problems.length)
        throw new Error(
          `npm run soak --${option} --first ${seed} --count 1:\n${verdict.problems.slice(0, 10).join('\n')}`,
        );
    }
    expect(calls).toBeGreaterThan(seeds * 5);
  },
  900_000,
);
