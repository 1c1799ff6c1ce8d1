import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/**
 * Closes every run with what of the statecharts was walked by it, where some was (paths.ts), the groups and tests that were
 * left out with a reason in their title, and the plain line that continuous integration reads: `N passed, N failed`.
 */
export default class ClosingLines {
  /** Where tests note what they have walked: they run in processes of their own. */
  #folder = mkdtempSync(join(tmpdir(), 'statelet-coverage-'));

  constructor() {
    process.env['STATELET_TEST_COVERAGE'] = this.#folder;
  }

  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests } = results;
    const skipped = numPendingTests ? `\n${numPendingTests} skipped` : '';
    // A suite that could not even be loaded has no tests to fail; it counts as one.
    const leftOut = new Set(
      results.testResults
        .flatMap(({ testResults }) => testResults)
        .filter(({ status }) => status === 'pending')
        .flatMap(({ ancestorTitles, title }) => [...ancestorTitles, title].find((t) => t.includes('(left out')) ?? []),
    );
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const walked = this.#walked();
    // After the summary, which is written when all reporters are done.
    const why = [...leftOut].map((title) => `\n${title}`).join('');
    process.once('exit', () =>
      process.stdout.write(`${walked}${why}${skipped}\n${numPassedTests} passed, ${failed} failed\n`),
    );
  }

  /** A table of machines with states and transitions, walked of all; empty where none was. */
  #walked() {
    const rows = readdirSync(this.#folder)
      .sort()
      .map((file) => JSON.parse(readFileSync(join(this.#folder, file), 'utf8')))
      .map(({ machine, states, transitions, paths }) => [machine, states, transitions, String(paths)]);
    rmSync(this.#folder, { recursive: true });
    if (rows.length === 0) return '';
    const table = [['machine', 'states', 'transitions', 'paths'], ...rows];
    const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column].length)));
    const line = (row) => row.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  ');
    return `\nStatecharts walked, of all there is:\n${table.map((row) => `  ${line(row)}\n`).join('')}`;
  }
}
