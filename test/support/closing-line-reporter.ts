/**
 * Ends a test run with one line that a machine can read: `N passed, N failed, N skipped`.
 *
 * A file that breaks before its first test has no failed test to count, so the file itself counts as one failure, and
 * so does every error outside a test; otherwise a broken run could close with "0 failed".
 */
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], outsideErrors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: outsideErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      let failedTests = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state] += 1;
        if (state === 'failed') failedTests += 1;
      }
      if (module.state() === 'failed' && failedTests === 0) count.failed += 1;
    }
    // A test still pending at the end was cut off: it has not passed.
    process.stdout.write(`${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped\n`);
  }
}
