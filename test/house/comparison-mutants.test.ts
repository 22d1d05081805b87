/**
 * Boundaries are tested at the boundary: every comparison that decides about findings, backoff or selection, turned from
 * strict to non-strict or back, one at a time, makes at least one of its tests fail.
 *
 * One run of the test runner on a copy of the sources holds them all, each mutant in a test file of its own.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonMutant } from '../support/comparison-mutants.ts';
import { switchComparisons, switchVariable } from '../support/comparison-mutants.ts';
import { projectRoot } from './source-files.ts';

/** Sources, and the tests that hold their boundaries. */
const guarded: Readonly<Record<string, readonly string[]>> = {
  'lib/domain/schedule/feasibility.ts': ['test/domain/schedule/feasibility.test.ts'],
  'lib/domain/schedule/policy-findings.ts': ['test/domain/schedule/feasibility.test.ts'],
  'lib/domain/schedule/surge-room.ts': ['test/domain/schedule/feasibility.test.ts'],
  'lib/domain/schedule/throughput.ts': ['test/domain/schedule/throughput.test.ts'],
  'lib/domain/schedule/backoff.ts': ['test/domain/schedule/backoff.test.ts'],
  'lib/engine/candidates.ts': ['test/engine/candidates.test.ts'],
};

/** Comparisons whose two forms cannot be told apart by any input, with the reason. */
const equivalent: Readonly<Record<string, string>> = {};

interface Mutant extends ComparisonMutant {
  readonly source: string;
}
type Outcome = 'killed' | 'survived' | 'did not run';

const place = ({ source, original, mutated }: Mutant): string => `${source}: ${original} → ${mutated}`;

async function switchedCopy(folder: string): Promise<readonly Mutant[]> {
  for (const part of ['lib', 'test', 'package.json'])
    await cp(join(projectRoot, part), join(folder, part), { recursive: true });
  await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  const all: Mutant[] = [];
  for (const source of Object.keys(guarded)) {
    const { text, mutants } = switchComparisons(await readFile(join(folder, source), 'utf8'), all.length + 1);
    await writeFile(join(folder, source), text);
    all.push(...mutants.map((mutant) => ({ ...mutant, source })));
  }
  return all;
}

const mutantFile = (id: number): string => `mutant-${id}.test.ts`;

/** Id 0 is nobody: the same tests on the sources as they are. */
async function writeMutantTest(folder: string, id: number, tests: readonly string[]): Promise<void> {
  const imports = tests.map((path) => `await import('./${path}');`).join('\n');
  await writeFile(join(folder, mutantFile(id)), `process.env.${switchVariable} = '${id}';\n${imports}\n`);
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

async function outcomes(folder: string): Promise<ReadonlyMap<string, Outcome>> {
  const config = `export default { test: { include: ['mutant-*.test.ts'], pool: 'forks', maxWorkers: 2 } };\n`;
  await writeFile(join(folder, 'vitest.config.mjs'), config);
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const report = join(folder, 'report.json');
  const args = [vitest, 'run', '--root', folder, '--reporter=json', `--outputFile=${report}`];
  // It ends with an error whenever a test fails, which is what is hoped for; the report tells what happened.
  await promisify(execFile)(process.execPath, args, { cwd: folder, timeout: 150_000, maxBuffer: 2 ** 26 }).catch(
    () => {},
  );
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report;
  return new Map(
    testResults.map(({ name, assertionResults }) => {
      const failed = assertionResults.some(({ status }) => status === 'failed');
      return [relative(folder, name), assertionResults.length === 0 ? 'did not run' : failed ? 'killed' : 'survived'];
    }),
  );
}

describe('a comparison turned from strict to non-strict or back (D15-02)', () => {
  let folder = '';
  let mutants: readonly Mutant[] = [];
  let found: ReadonlyMap<string, Outcome> = new Map();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'comparison-mutants-'));
    mutants = await switchedCopy(folder);
    await writeMutantTest(folder, 0, [...new Set(Object.values(guarded).flat())]);
    for (const { id, source } of mutants) await writeMutantTest(folder, id, guarded[source] ?? []);
    found = await outcomes(folder);
  }, 180_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is looked for in every guarded source, and the tests pass without it (D15-02)', () => {
    expect(mutants.length).toBeGreaterThan(20);
    expect(found.get(mutantFile(0))).toBe('survived');
  });

  it('makes a test fail, unless no input tells the two apart (D15-02)', () => {
    const survivors = mutants.filter(({ id }) => found.get(mutantFile(id)) !== 'killed');
    expect(survivors.map(place).sort()).toEqual(Object.keys(equivalent).sort());
  });
});
