/**
 * The tests that need a real control plane: `npm run e2e`. One file at a time, because each runs a cluster.
 */
import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from '../support/closing-line-reporter.ts';

export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/e2e/support/built-first.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    maxConcurrency: 12,
    reporters: ['default', new ClosingLineReporter()],
  },
});
