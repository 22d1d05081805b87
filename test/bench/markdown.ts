/**
 * Tables and marked sections of Markdown files. What is made stands between two comments; what people write stays.
 */

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Columns are padded, so that it reads as well in a terminal. */
export function tableInMarkdown({ header, rows }: Table): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(3, ...lines.map((line) => (line[column] ?? '').length)));
  const lineOf = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [lineOf(header), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(lineOf)].join(
    '\n',
  );
}

const begin = (name: string): string => `<!-- made by npm run bench: ${name} -->`;
const end = (name: string): string => `<!-- end of ${name} -->`;

/** What stands in a section; undefined when the text has none of that name. */
export function sectionOf(text: string, name: string): string | undefined {
  const [from, to] = [text.indexOf(begin(name)), text.indexOf(end(name))];
  return from < 0 || to < from ? undefined : text.slice(from + begin(name).length, to).trim();
}

/** The text with the section's content replaced. @throws Error when the text has no such section */
export function withSection(text: string, name: string, content: string): string {
  if (sectionOf(text, name) === undefined) throw new Error(`there is no section ${name}`);
  const [from, to] = [text.indexOf(begin(name)), text.indexOf(end(name))];
  return `${text.slice(0, from)}${begin(name)}\n\n${content.trim()}\n\n${text.slice(to)}`;
}
