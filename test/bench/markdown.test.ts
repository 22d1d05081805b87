import { expect, test } from 'vitest';
import { sectionOf, tableInMarkdown, withSection } from './markdown.ts';

const page = 'before\n<!-- made by npm run bench: one -->\nold\n<!-- end of one -->\nafter\n';

test('a table has columns as wide as their widest cell', () => {
  expect(tableInMarkdown({ header: ['a', 'longer'], rows: [['1234', '']] })).toBe(
    ['| a    | longer |', '| ---- | ------ |', '| 1234 |        |'].join('\n'),
  );
});

test('a section is replaced, and what stands around it stays', () => {
  const written = withSection(page, 'one', 'new\n');
  expect(written).toBe('before\n<!-- made by npm run bench: one -->\n\nnew\n\n<!-- end of one -->\nafter\n');
  expect(withSection(written, 'one', 'new\n')).toBe(written);
  expect(sectionOf(written, 'one')).toBe('new');
});

test('a section that is not there is an error, and not a new one', () => {
  expect(sectionOf(page, 'two')).toBeUndefined();
  expect(() => withSection(page, 'two', 'x')).toThrow('there is no section two');
});
