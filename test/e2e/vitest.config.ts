/**
 * The tests that need a real control plane: `npm run e2e`. Three files at a time, each with a cluster of its own; within
 * a file tests mostly wait, so many of them run side by side.
 */
import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from '../support/closing-line-reporter.ts';
import { LeftOutReporter } from './support/left-out-reporter.ts';

export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/e2e/support/built-first.ts'],
    pool: 'forks',
    maxWorkers: 3,
    maxConcurrency: 12,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    reporters: ['default', new LeftOutReporter(), new ClosingLineReporter()],
  },
});
