/**
 * Runs tests of a file on sources with something taken out, and tells which of them fail.
 *
 * Vitest loads sources in its own way, so that the breaks are made by a plugin of `broken-tests.config.ts`.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../house/source-files.ts';
import type { SourceBreak } from './broken-source.ts';
import { breaksVariable } from './broken-source.ts';

export interface TestOutcomes {
  readonly passed: readonly string[];
  /** Titles without their describe blocks. */
  readonly failed: readonly string[];
}

interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/**
 * @param titles only tests with these titles are run
 * @throws when a file does not even load, also because a break does not fit
 */
export async function runTests(
  files: readonly string[],
  titles: readonly string[],
  breaks: readonly SourceBreak[],
): Promise<TestOutcomes> {
  const folder = await mkdtemp(join(tmpdir(), 'broken-tests-'));
  try {
    const report = join(folder, 'report.json');
    const pattern = titles.map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
    const config = join(projectRoot, 'test/support/broken-tests.config.ts');
    const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
    const args = [
      vitest,
      'run',
      '--config',
      config,
      '--reporter=json',
      `--outputFile=${report}`,
      '-t',
      pattern,
      ...files,
    ];
    const env = { ...process.env, [breaksVariable]: JSON.stringify(breaks) };
    // It ends with an error whenever a test fails; the report tells what happened.
    await promisify(execFile)(process.execPath, args, {
      cwd: projectRoot,
      env,
      timeout: 240_000,
      maxBuffer: 2 ** 26,
    }).catch(() => {});
    return outcomesOf(JSON.parse(await readFile(report, 'utf8')) as Report);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function outcomesOf({ testResults }: Report): TestOutcomes {
  const unloaded = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  if (unloaded) throw new Error(unloaded.message);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const titlesOf = (wanted: string): readonly string[] => [
    ...new Set(tests.filter(({ status }) => status === wanted).map(({ title }) => title)),
  ];
  return { passed: titlesOf('passed'), failed: titlesOf('failed') };
}
