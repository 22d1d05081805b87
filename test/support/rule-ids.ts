/**
 * Where the ids of rules and of public reports stand: in the reference, in the titles of tests, in `@design` tags.
 *
 * Titles are read from the syntax tree, so an id in an assertion or a comment proves nothing. An id is always written out
 * in full: `R3.2-41, -42` names one rule only.
 */
import ts from 'typescript';

/** Reads wrongly written ids as well (`R3.2-7`), so that they are reported instead of overlooked. */
const idPattern = /\b(?:R\d+\.\d+-\d+|D\d+-\d+|PR-\d+)\b/g;
const testFunctions = new Set(['test', 'it', 'describe', 'bench']);
const notRun = new Set(['skip', 'todo']);

export interface Title {
  readonly text: string;
  /** False below a `.skip` or `.todo`: such a title names an id but proves nothing. */
  readonly runs: boolean;
}

export interface OpenRules {
  readonly rules: readonly string[];
  readonly cases: readonly string[];
}

/** The ids in a text, in the order in which they are found, with repetitions. */
export function idsIn(text: string): string[] {
  return text.match(idPattern) ?? [];
}

/** The ids of a Markdown document's table rows: those whose first cell is nothing but an id. */
export function ruleIdsOfReference(markdown: string): string[] {
  return [...markdown.matchAll(/^\| (R\d+\.\d+-\d+|D\d+-\d+) \|/gm)].map((match) => match[1] as string);
}

/** The ids of a Markdown document's third-level headings, as in `### PR-43 Lock of something gone`. */
export function caseIdsOfReports(markdown: string): string[] {
  return [...markdown.matchAll(/^### (PR-\d+)\b/gm)].map((match) => match[1] as string);
}

/**
 * Every title given to test, it, describe or bench, modifiers such as `.each`, `.skip` and `.prop` included.
 *
 * Of a template the written parts are kept and each `${…}` becomes a blank, so an id that is put together at run time
 * is not seen.
 */
export function titlesOfTests(source: string): Title[] {
  const titles: Title[] = [];
  const file = ts.createSourceFile('any.test.ts', source, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
  const visit = (node: ts.Node, runs: boolean): void => {
    let runsBelow = runs;
    if (ts.isCallExpression(node)) {
      const chain = chainOf(node.expression);
      const text = node.arguments[0] && literalText(node.arguments[0]);
      if (chain && testFunctions.has(chain[0] as string)) {
        runsBelow = runs && !chain.some((name) => notRun.has(name));
        if (text !== undefined) titles.push({ text, runs: runsBelow });
      }
    }
    ts.forEachChild(node, (child) => visit(child, runsBelow));
  };
  visit(file, true);
  return titles;
}

/** What each `@design` tag of a source file says, its continuation lines included. */
export function designTags(source: string): string[] {
  const tag = /@design\b((?:(?!\*\/|@).)*(?:\n[ \t]*\*(?!\/)[ \t]*(?:[RDP][\w.-]*[, \t]*)+(?=\n|\*\/))*)/g;
  return [...source.matchAll(tag)].map((match) => (match[1] as string).replace(/\n[ \t]*\*/g, ' ').trim());
}

/** Orders ids by kind, chapter and number: D before PR before R, and R3.2-09 before R3.2-10. */
export function compareIds(a: string, b: string): number {
  const kindOf = (id: string) => id.replace(/[\d.-].*$/, '');
  if (kindOf(a) !== kindOf(b)) return kindOf(a) < kindOf(b) ? -1 : 1;
  const numbersOf = (id: string) => (id.match(/\d+/g) ?? []).map(Number);
  const left = numbersOf(a);
  const right = numbersOf(b);
  const differing = left.findIndex((number, index) => number !== right[index]);
  return differing < 0 ? left.length - right.length : (left[differing] as number) - (right[differing] ?? -1);
}

/** `test.each(rows)` and `test.skip` are both the chain of names that leads to the call; undefined for anything else. */
function chainOf(expression: ts.Expression): string[] | undefined {
  if (ts.isIdentifier(expression)) return [expression.text];
  if (ts.isPropertyAccessExpression(expression)) {
    const before = chainOf(expression.expression);
    return before && [...before, expression.name.text];
  }
  if (ts.isCallExpression(expression)) return chainOf(expression.expression);
  if (ts.isTaggedTemplateExpression(expression)) return chainOf(expression.tag);
  return undefined;
}

/** The written text of a string, a template or a sum of them; undefined if the first argument is no such thing. */
function literalText(expression: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (ts.isTemplateExpression(expression)) {
    return [expression.head.text, ...expression.templateSpans.map((span) => span.literal.text)].join(' ');
  }
  if (ts.isParenthesizedExpression(expression)) return literalText(expression.expression);
  if (ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const left = literalText(expression.left);
    const right = literalText(expression.right);
    return left === undefined && right === undefined ? undefined : `${left ?? ' '}${right ?? ' '}`;
  }
  return undefined;
}
