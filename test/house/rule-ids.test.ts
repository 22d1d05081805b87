/**
 * Ties the rules to the tests: every rule and every public report is named by the title of a test that runs.
 *
 * `open-rules.json` lists the ids that no title names yet. The list can only shrink: an id in it that a title names fails
 * here, and so does an id that is neither tested nor in it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  caseIdsOfReports,
  compareIds,
  designTags,
  idsIn,
  type OpenRules,
  ruleIdsOfReference,
  titlesOfTests,
} from '../support/rule-ids.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const ruleIds = ruleIdsOfReference(read('docs/reference/rules.md'));
const caseIds = caseIdsOfReports(read('test/cases/reports.md'));
const known = new Set([...ruleIds, ...caseIds]);
const open: OpenRules = JSON.parse(read('test/house/open-rules.json'));

const titles = filesUnder('test')
  .filter((file) => /\.(test|prop\.test)\.ts$/.test(file))
  .flatMap((file) => titlesOfTests(read(file)).map((title) => ({ file, ...title })));
const tested = new Set(titles.filter((title) => title.runs).flatMap((title) => idsIn(title.text)));

describe('the reference', () => {
  test('names every rule and every report once (D15-02)', () => {
    expect(repeated([...ruleIds, ...caseIds])).toEqual([]);
    // An empty document or a changed layout must not pass for "everything is tested".
    expect({ rules: ruleIds.length >= 200, cases: caseIds.length >= 100 }).toEqual({ rules: true, cases: true });
  });

  test('has every id that a test title names (D15-02)', () => {
    expect(titles.length).toBeGreaterThan(0);
    const unknown = titles.flatMap(({ file, text }) => unknownIds(text).map((id) => `${id} in ${file}: ${text}`));
    expect(unknown, 'ids in titles that the reference does not have').toEqual([]);
  });

  test('has every id that an @design tag names (D15-02)', () => {
    const tags = ['lib', 'functions', 'infra']
      .flatMap(filesUnder)
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => designTags(read(file)).map((text) => ({ file, text })));
    const unknown = tags.flatMap(({ file, text }) => unknownIds(text).map((id) => `${id} in ${file}`));
    const empty = tags
      .filter(({ text }) => idsIn(text).length === 0)
      .map(({ file }) => `@design without an id in ${file}`);
    expect([...unknown, ...empty]).toEqual([]);
  });
});

describe.each([
  { kind: 'rules', ids: ruleIds, allowed: open.rules },
  { kind: 'cases', ids: caseIds, allowed: open.cases },
])('the $kind', ({ kind, ids, allowed }) => {
  test('are each named by a test, or listed as open (D15-02)', () => {
    const missing = ids.filter((id) => !tested.has(id) && !allowed.includes(id));
    expect(missing, `no test title names these ${kind}: ${missing.join(', ')}`).toEqual([]);
  });

  test('are no longer listed as open once a test names them (D15-02)', () => {
    const done = allowed.filter((id) => tested.has(id));
    expect(done, `remove from "${kind}" in test/house/open-rules.json: ${done.join(', ')}`).toEqual([]);
  });

  test('are listed as open only if they exist, once and in order (D15-02)', () => {
    const unknown = allowed.filter((id) => !ids.includes(id));
    expect(unknown, `test/house/open-rules.json lists unknown ${kind}: ${unknown.join(', ')}`).toEqual([]);
    expect(allowed).toEqual([...new Set(allowed)].sort(compareIds));
  });
});

function unknownIds(text: string): string[] {
  return idsIn(text).filter((id) => !known.has(id));
}

function repeated(ids: readonly string[]): string[] {
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

/** Paths below the root; a folder that does not exist has no files. */
function filesUnder(folder: string): string[] {
  try {
    return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
