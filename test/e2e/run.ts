/**
 * `npm run e2e`: the core of every end-to-end suite, or with `-- --all` everything; file names take a part of them.
 *
 * What the core leaves out is named at the end and counted as skipped, so that a short run is not taken for a whole one.
 */
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { exitCodes } from '../../lib/cli/failure.ts';

function readArguments(): { readonly all: boolean; readonly files: readonly string[] } | undefined {
  try {
    const options = { all: { type: 'boolean', default: false } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { all: values.all, files: positionals };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${why}\nUse: npm run e2e -- [--all] [part of a file name …]\n`);
    return undefined;
  }
}

const wanted = readArguments();
if (wanted === undefined) process.exitCode = exitCodes.usage;
else {
  // Workers inherit it.
  process.env.E2E_ALL = String(wanted.all);
  const vitest = await startVitest('test', [...wanted.files], { config: 'test/e2e/vitest.config.ts', watch: false });
  await vitest.close();
}
