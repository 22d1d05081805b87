/**
 * `npm run bench`: what the product costs, each figure beside its floor in the same run, and whether the targets are met.
 *
 * CPU time is what is judged. It is steadier than wall time on a machine that has other work, and at Lambda it is the bill.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { controlPlaneSection } from './control-plane/section.ts';
import type { CostFigures } from './cost.ts';
import { costInMarkdown } from './cost-table.ts';
import { withSection } from './markdown.ts';
import { isPart, type Part, parts, runParts } from './parts.ts';
import { machineInWords, performancePage, targetTable } from './performance-page.ts';
import { missed } from './targets.ts';

const root = join(import.meta.dirname, '..', '..');
const files = {
  page: join(root, 'docs', 'performance.md'),
  readme: join(root, 'README.md'),
  measurements: join(import.meta.dirname, 'measurements.json'),
} as const;

const usage = `npm run bench -- [--quick] [--only ${parts.join('|')}]… [--write] [--cost] [--control-plane]

  --quick   fewer runs: for a look, not for a judgement
  --only    some parts; may be repeated
  --write   keeps docs/performance.md, the cost table of the README and the figures behind it
  --cost    prints the monthly cost from the figures that were kept last, and measures nothing

  --control-plane   measures on a real control plane instead, as docs/end-to-end.md describes it`;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean', default: false },
      cost: { type: 'boolean', default: false },
      'control-plane': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const wanted = values.only.length === 0 ? parts : values.only;
  const unknown = wanted.filter((name) => !isPart(name));
  if (values.help || unknown.length > 0) {
    say(unknown.length > 0 ? `There is no part ${unknown.join(', ')}.\n\n${usage}` : usage);
    return unknown.length > 0 ? 2 : 0;
  }
  if (values.cost) {
    say(costInMarkdown(keptFigures()));
    return 0;
  }
  if (values['control-plane']) return await onControlPlane(values.quick, values.write);
  if (values.write && values.only.length > 0) {
    say('--write keeps whole runs only: leave out --only.');
    return 2;
  }
  const results = await runParts(wanted as readonly Part[], values.quick, say);
  say(`\n## Targets\n\n${targetTable(results.targets)}`);
  if (results.figures !== undefined) say(`\n## Cost\n\n${costInMarkdown(results.figures)}`);
  if (values.write && results.figures !== undefined) {
    writeFileSync(files.measurements, `${JSON.stringify(results.figures, undefined, 2)}\n`);
    writeFileSync(files.page, performancePage(readFileSync(files.page, 'utf8'), results, machineInWords(values.quick)));
    const readme = readFileSync(files.readme, 'utf8');
    writeFileSync(files.readme, withSection(readme, 'cost', costInMarkdown(results.figures)));
  }
  const short = missed(results.targets);
  for (const { what } of short) say(`missed: ${what}`);
  return short.length === 0 ? 0 : 1;
}

async function onControlPlane(quick: boolean, write: boolean): Promise<number> {
  const section = await controlPlaneSection(quick, (line) => void process.stderr.write(`${line}\n`));
  say(section);
  if (write) {
    const made = `${machineInWords(quick)}\n\n${section}`;
    writeFileSync(files.page, withSection(readFileSync(files.page, 'utf8'), 'control-plane', made));
  }
  return 0;
}

const keptFigures = (): CostFigures => JSON.parse(readFileSync(files.measurements, 'utf8')) as CostFigures;

process.exitCode = await main();
