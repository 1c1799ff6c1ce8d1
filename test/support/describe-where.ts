import process from 'node:process';
import { describe, test } from '@jest/globals';

/**
 * A group of tests that need what not every machine has. Without it they are left out, with the reason, which closes the run
 * (reporter.js), unless the environment says `<variable>=required`: then they fail.
 *
 * @param lacks what of it this machine has not, for people; empty where it has all
 */
export function describeWhere(
  name: string,
  { lacks, variable }: { lacks: string; variable: string },
  tests: () => void,
): void {
  if (!lacks) describe(name, tests);
  else if (process.env[variable] !== 'required') describe.skip(`${name} (left out: lacks ${lacks})`, tests);
  else
    describe(name, () => {
      test('the machine has what they need', () => {
        throw new Error(`${variable}=required, and this machine lacks ${lacks}`);
      });
    });
}
