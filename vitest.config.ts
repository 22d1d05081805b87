import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './test/support/closing-line-reporter.ts';

export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    // Needs a real control plane, which a plain test run does not have.
    exclude: ['test/e2e/**'],
    // Processes, not threads: tests start servers and read the environment, and must not see each other's.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    reporters: ['default', new ClosingLineReporter()],
    coverage: { provider: 'v8', include: ['lib/**', 'functions/**', 'infra/**'] },
  },
});
