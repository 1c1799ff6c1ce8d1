import { parseArgs } from 'node:util';
import { runClusterScenario } from '../test/support/world/cluster-scenario.ts';
import { runScenario } from '../test/support/world/scenario.ts';

/**
 * Runs random lives of the whole agent until one fails or the count is done: `npm run soak -- --first 1000 --count 5000`.
 * With `--cluster` the agent is in a cluster, whose API server fails too.
 * One seed with `--trace` prints every call of the runtime and every state that a pod enters.
 */
const { values } = parseArgs({
  options: {
    first: { type: 'string', default: '1' },
    count: { type: 'string', default: '2000' },
    cluster: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
  },
});
const first = Number(values.first);
const run = values.cluster ? runClusterScenario : runScenario;
let failed = 0;
for (let seed = first; seed < first + Number(values.count); seed++) {
  const { problems } = await run(seed, values.trace ? (line) => console.log(line) : undefined);
  if (!problems.length) continue;
  failed++;
  console.log(`seed ${seed}:\n  ${problems.slice(0, 8).join('\n  ')}`);
  if (!values['keep-going']) break;
}
console.log(`${failed} of ${values.count} seeds failed`);
process.exitCode = failed ? 1 : 0;
