/**
 * For tests that are expected to fail: the sources named in the environment come with their breaks made.
 */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { projectRoot } from '../house/source-files.ts';
import type { SourceBreak } from './broken-source.ts';
import { breaksVariable, brokenText } from './broken-source.ts';

const breaks: readonly SourceBreak[] = JSON.parse(process.env[breaksVariable] ?? '[]');

export default defineConfig({
  root: projectRoot,
  plugins: [
    {
      name: 'broken-sources',
      enforce: 'pre',
      transform(code, id) {
        const mine = breaks.filter(({ file }) => join(projectRoot, file) === id);
        return mine.length === 0 ? undefined : mine.reduce(brokenText, code);
      },
    },
  ],
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 60_000,
    // What was made of a file for one run is wrong for the next.
    fsModuleCache: false,
  },
});
