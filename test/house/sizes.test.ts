/**
 * How long files and functions are. What is over the aim is printed, for a reader to judge; only a file that nobody
 * can read from top to bottom any more fails.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { projectRoot, sourceFiles } from './source-files.ts';

const fileAim = 300;
const fileLimit = 450;
const functionAim = 60;

interface Size {
  readonly what: string;
  readonly lines: number;
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** Every function with a body, nested ones included, from its first line to its last; a doc comment does not count. */
function functionSizes(path: string, text: string): Size[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const sizes: Size[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const first = lineOf(node.getStart(source));
      const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
      const name = named?.getText(source) ?? 'a function without a name';
      sizes.push({ what: `${path}:${first} ${name}`, lines: lineOf(node.end) - first + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return sizes;
}

function over(aim: number, sizes: readonly Size[]): string[] {
  return sizes
    .filter(({ lines }) => lines > aim)
    .sort((a, b) => b.lines - a.lines)
    .map(({ what, lines }) => `${what}: ${lines} lines`);
}

test('functions are found and measured, methods and arrows included', () => {
  const text = [
    'function named() {',
    '  return 1;',
    '}',
    'const arrow = () => {',
    '};',
    'class Held {',
    '  method() {}',
    '}',
  ].join('\n');
  expect(functionSizes('x.ts', text)).toEqual([
    { what: 'x.ts:1 named', lines: 3 },
    { what: 'x.ts:4 arrow', lines: 2 },
    { what: 'x.ts:7 method', lines: 1 },
  ]);
});

test(`no source file is longer than ${fileLimit} lines`, () => {
  const texts = sourceFiles().map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }));
  const files = texts.map(({ path, text }) => ({ what: path, lines: lineCount(text) }));
  const functions = texts.flatMap(({ path, text }) => functionSizes(path, text));
  const notes = [
    ...over(fileAim, files).map((line) => `over ${fileAim} lines: ${line}`),
    ...over(functionAim, functions).map((line) => `over ${functionAim} lines: ${line}`),
  ];
  if (notes.length > 0) console.log(notes.join('\n'));
  expect(files.length).toBeGreaterThan(0);
  expect(over(fileLimit, files)).toEqual([]);
});
