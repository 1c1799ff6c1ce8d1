import process from 'node:process';

/** Closes every run with the plain line that continuous integration reads: `N passed, N failed`. */
export default class ClosingLine {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests } = results;
    const skipped = numPendingTests ? `\n${numPendingTests} skipped` : '';
    // A suite that could not even be loaded has no tests to fail; it counts as one.
    const leftOut = new Set(
      results.testResults
        .flatMap(({ testResults }) => testResults)
        .filter(({ status, ancestorTitles }) => status === 'pending' && ancestorTitles[0]?.includes('(left out: '))
        .map(({ ancestorTitles }) => ancestorTitles[0]),
    );
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    // After the summary, which is written when all reporters are done.
    const why = [...leftOut].map((title) => `\n${title}`).join('');
    process.once('exit', () => process.stdout.write(`${why}${skipped}\n${numPassedTests} passed, ${failed} failed\n`));
  }
}
