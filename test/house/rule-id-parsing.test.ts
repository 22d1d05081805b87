/**
 * The readers behind rule-ids.test.ts: if they overlook a title, a rule without a test would pass for tested.
 */
import { describe, expect, test } from 'vitest';
import {
  caseIdsOfReports,
  compareIds,
  designTags,
  idsIn,
  ruleIdsOfReference,
  type Title,
  titlesOfTests,
} from '../support/rule-ids.ts';

const running = (text: string): Title => ({ text, runs: true });
const resting = (text: string): Title => ({ text, runs: false });

describe('reading ids (D15-02)', () => {
  test.each([
    ['a rule of section 3', 'P is one tick (R3.1-11)', ['R3.1-11']],
    ['several kinds', 'R3.2-09, D5-05 and PR-43', ['R3.2-09', 'D5-05', 'PR-43']],
    ['two digits in the chapter', 'D15-02', ['D15-02']],
    ['a badly written id, so that it is reported', 'R3.2-7', ['R3.2-7']],
    ['a short form, which names one rule only', 'R3.2-41, -42', ['R3.2-41']],
    ['words that only look like one', 'SHARD1-02 xPR-1 node-D', []],
  ])('finds %s', (_, text, ids) => {
    expect(idsIn(text)).toEqual(ids);
  });

  test('a rule is a table row that begins with its id', () => {
    const markdown = [
      '| id | rule |',
      '| --- | --- |',
      '| R3.1-01 | A list of windows. |',
      '| D1-01 | As R3.1-02 says. |',
      'See D1-02 | not a row |',
      '| `freeze` | D1-03 |',
    ].join('\n');
    expect(ruleIdsOfReference(markdown)).toEqual(['R3.1-01', 'D1-01']);
  });

  test('a case is a heading of the third level', () => {
    expect(caseIdsOfReports('# PR-1\n### PR-43 Gone\n- like PR-44\n### PR-100 Token')).toEqual(['PR-43', 'PR-100']);
  });

  test('ids are ordered by kind, then by number', () => {
    const ids = ['R3.2-10', 'D10-01', 'PR-100', 'R3.2-09', 'D2-01', 'PR-99', 'R3.10-01'];
    expect(ids.sort(compareIds)).toEqual(['D2-01', 'D10-01', 'PR-99', 'PR-100', 'R3.2-09', 'R3.2-10', 'R3.10-01']);
  });
});

describe('reading titles (D15-02)', () => {
  test.each([
    ['test, it and describe', `describe('a', () => { test("b", f); it('c', f); });`, ['a', 'b', 'c'].map(running)],
    ['plain templates', 'test(`D1-01`, f)', [running('D1-01')]],
    ['templates with holes', 'test(`D1-01 of $' + '{name} in D1-02`, f)', [running('D1-01 of   in D1-02')]],
    ['sums of strings', `test('D1-01 ' + name + 'D1-02', f)`, [running('D1-01  D1-02')]],
    ['titles of tables', `test.each([['D9-99']])('%s (D1-01)', f)`, [running('%s (D1-01)')]],
    ['titles of tagged tables', 'it.each`a|b`("D1-01", f)', [running('D1-01')]],
    ['modifiers', `test.concurrent.only('D1-01', f); test.skipIf(x)('D1-02', f)`, [running('D1-01'), running('D1-02')]],
    ['properties', `test.prop([fc.string()])('D1-01', f)`, [running('D1-01')]],
    ['skipped ones, as resting', `test.skip('D1-01', f); test.todo('D1-02')`, [resting('D1-01'), resting('D1-02')]],
    [
      'what lies below a skipped one',
      `describe.skip('a', () => { test('D1-01', f); })`,
      [resting('a'), resting('D1-01')],
    ],
    ['no assertions or comments', `expect('D1-01').toBe(x); // test('D1-02')`, []],
    ['no methods of other objects', `pattern.test('D1-01')`, []],
  ])('finds %s', (_, source, titles) => {
    expect(titlesOfTests(source)).toEqual(titles);
  });
});

describe('reading @design tags (D15-02)', () => {
  test.each([
    ['one line', '/** What. @design R3.1-10, D3-01 */', ['R3.1-10, D3-01']],
    ['a line of its own', '/**\n * What.\n * @design R3.1-10\n */', ['R3.1-10']],
    ['continuation lines', '/**\n * @design R3.1-10,\n *   R3.1-11\n * @returns D9-99\n */', ['R3.1-10,    R3.1-11']],
    ['no prose after it', '/**\n * @design R3.1-10\n *\n * See D9-99.\n */', ['R3.1-10']],
    ['line comments', '// @design D1-01\nconst a = "D9-99";', ['D1-01']],
    ['a tag without an id', '/** @design */', ['']],
    ['two tags', '/** @design D1-01 */ a; /** @design D1-02 */', ['D1-01', 'D1-02']],
  ])('finds %s', (_, source, tags) => {
    expect(designTags(source)).toEqual(tags);
  });
});
