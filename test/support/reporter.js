import process from 'node:process';

/** Closes every run with the plain line that continuous integration reads: `N passed, N failed`. */
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests } = results;
    const skipped = numPendingTests ? `, ${numPendingTests} skipped` : '';
    // A suite that could not even be loaded has no tests to fail; it counts as one.
    process.stdout.write(
      `\n${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed${skipped}\n`,
    );
  }
}
