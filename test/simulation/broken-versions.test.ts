import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { runBroken } from '../support/broken-source.ts';
import { runTests } from '../support/broken-tests.ts';
import { ruleIdsOfReference } from '../support/rule-ids.ts';
import type { CaseName } from './broken/cases.ts';
import { cases } from './broken/cases.ts';
import { brokenVersions, tableOf } from './broken/list.ts';
import type { BrokenVersion, CaughtByCase, CaughtByTest } from './broken/version.ts';
import { runCase } from './run-case.ts';
import type { Violation } from './safety.ts';

/** Each starts a process; more at a time would only wait for each other. */
const atATime = 2;
const patience = 300_000;

/** The rule that the replay of a broken version violates first, or the tests that fail. */
async function caught({ breaks, caughtBy }: BrokenVersion): Promise<string | readonly string[] | undefined> {
  if ('file' in caughtBy) return (await runTests([caughtBy.file], [caughtBy.title], breaks)).failed;
  const printed = await runBroken('test/simulation/broken/replay.ts', [caughtBy.case], breaks, patience);
  return (JSON.parse(printed) as readonly Violation[])[0]?.rule;
}

const isCase = (each: BrokenVersion['caughtBy']): each is CaughtByCase => 'case' in each;
const isTest = (each: BrokenVersion['caughtBy']): each is CaughtByTest => 'file' in each;

describe('broken versions (D7-10, D15-02)', () => {
  const found = new Map<BrokenVersion, Awaited<ReturnType<typeof caught>> | Error>();

  beforeAll(async () => {
    const waiting = [...brokenVersions];
    const oneAfterAnother = async (): Promise<void> => {
      for (let version = waiting.shift(); version; version = waiting.shift())
        found.set(version, await caught(version).catch((error: Error) => error));
    };
    await Promise.all(Array.from({ length: atATime }, oneAfterAnother));
  }, 2 * patience);

  it.each(brokenVersions)('one that $does is caught (D7-10, D15-02)', (version) => {
    const { caughtBy } = version;
    expect(found.get(version)).toEqual(isTest(caughtBy) ? [caughtBy.title] : caughtBy.rule);
  });
});

it.each(Object.keys(cases) as CaseName[])(
  'the sources as they are violate nothing when %s (D7-10, D14-02)',
  async (name) => {
    expect((await runCase(cases[name])).violations).toEqual([]);
  },
  patience,
);

it('the tests that catch broken versions pass on the sources as they are (D15-02)', { timeout: patience }, async () => {
  const tests = brokenVersions.map(({ caughtBy }) => caughtBy).filter(isTest);
  const titles = [...new Set(tests.map(({ title }) => title))];
  const { passed, failed } = await runTests([...new Set(tests.map(({ file }) => file))], titles, []);
  expect({ passed: passed.toSorted(), failed }).toEqual({ passed: titles.toSorted(), failed: [] });
});

const read = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

it('the list is long, says everything once, names rules that exist, and uses every case (D15-02)', () => {
  const known = ruleIdsOfReference(read('reference/rules.md'));
  const names = brokenVersions.map(({ does }) => does);
  const used = brokenVersions.map(({ caughtBy }) => caughtBy).filter(isCase);
  expect(names.length).toBeGreaterThan(15);
  expect(names).toEqual([...new Set(names)]);
  expect(brokenVersions.flatMap(({ rules }) => rules).filter((id) => !known.includes(id))).toEqual([]);
  expect(new Set(used.map((each) => each.case))).toEqual(new Set(Object.keys(cases)));
});

it('the documentation lists what is caught by what (D15-02)', () => {
  const listed = read('mutation-testing.md')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  const table = tableOf(brokenVersions);
  const from = listed.indexOf(table[0] ?? '');
  expect(listed.slice(from, from + table.length)).toEqual(table);
});
