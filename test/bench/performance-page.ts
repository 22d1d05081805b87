/**
 * docs/performance.md: the sections that a run makes. What stands between them is written by people and kept.
 */
import { cpus, totalmem } from 'node:os';
import { costInMarkdown } from './cost-table.ts';
import { tableInMarkdown, withSection } from './markdown.ts';
import type { Results } from './parts.ts';
import { isMet, limitInWords, measuredInWords, type Target } from './targets.ts';

export const targetTable = (targets: readonly Target[]): string =>
  tableInMarkdown({
    header: ['target', 'limit', 'measured', ''],
    rows: targets.map((target) => [
      target.what,
      limitInWords(target),
      measuredInWords(target),
      isMet(target) ? 'met' : '**missed**',
    ]),
  });

/** Enough to compare with, and no name. */
export function machineInWords(quick: boolean): string {
  const [first] = cpus();
  const day = new Date().toISOString().slice(0, 10);
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `Measured on ${day} with Node ${process.versions.node} on ${cpus().length} cores (${first?.model.trim() ?? 'unknown'}, ${process.arch})`,
    `and ${memory} GB of memory${quick ? ', with few runs (`--quick`)' : ''}.`,
  ].join('\n');
}

export function performancePage(before: string, results: Results, machine: string): string {
  let page = withSection(before, 'machine', machine);
  page = withSection(page, 'targets', targetTable(results.targets));
  page = withSection(page, 'measurements', results.sections.join('\n\n'));
  return results.figures === undefined ? page : withSection(page, 'cost', costInMarkdown(results.figures));
}
