/**
 * Every comparison of a source file, each turned from strict to non-strict or back by a switch.
 *
 * All mutants of a file live in one text: `a < b` becomes `(mutant === 7 ? a <= b : a < b)`, where `mutant` is read from
 * the environment when the module is loaded. So one copy of the sources serves them all.
 */
import ts from 'typescript';

export interface ComparisonMutant {
  readonly id: number;
  readonly line: number;
  /** The comparison as it stands, on one line. */
  readonly original: string;
  /** What it becomes. */
  readonly mutated: string;
}

export const switchVariable = 'COMPARISON_MUTANT';

const opposite = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
]);

/** @param firstId the id of the first comparison in the file; the others count on from it */
export function switchComparisons(
  source: string,
  firstId: number,
): { readonly text: string; readonly mutants: readonly ComparisonMutant[] } {
  const file = ts.createSourceFile('any.ts', source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const mutants: ComparisonMutant[] = [];
  const insertions: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: ts.Node): void => {
    const changed = ts.isBinaryExpression(node) ? opposite.get(node.operatorToken.getText(file)) : undefined;
    if (ts.isBinaryExpression(node) && changed !== undefined) {
      const id = firstId + mutants.length;
      const [start, end] = [node.getStart(file), node.getEnd()];
      const mutated = `${node.left.getText(file)} ${changed} ${node.right.getText(file)}`;
      insertions.push({ at: start, text: `(mutantOfRun === ${id} ? ${mutated} : ` }, { at: end, text: ')' });
      const line = file.getLineAndCharacterOfPosition(start).line + 1;
      mutants.push({ id, line, original: oneLine(node.getText(file)), mutated: oneLine(mutated) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  const text = insertions
    .sort((a, b) => b.at - a.at)
    .reduce((result, { at, text: inserted }) => result.slice(0, at) + inserted + result.slice(at), source);
  return { text: `const mutantOfRun = Number(process.env.${switchVariable});\n${text}`, mutants };
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');
