/**
 * The report: one page that needs nothing but itself, in light and dark.
 */
import { formatInstant } from '../../domain/time.ts';
import type { Markup } from '../../report/markup.ts';
import { element, raw } from '../../report/markup.ts';
import type { RotationStory } from '../../report/rotation-story.ts';
import { rotationColumns } from './rotation-columns.ts';
import type { DrawnTimeline } from './timeline-svg.ts';
import { drawTimeline } from './timeline-svg.ts';

export interface Report {
  readonly title: string;
  readonly timeline: DrawnTimeline;
  /** Label and value, most important first. */
  readonly figures: readonly (readonly [string, string])[];
  /** The query that the table was made from. */
  readonly query: string;
}

const style = `
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b2430; --soft: #5a6675; --line: #d5dbe3; --window: #e4effa;
  --life: #9aa7b8; --waiting: #c97a00; --draining: #6a3fb5; --failed: #b3261e; --deadline: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181f; --ink: #e6ebf2; --soft: #a3afbf; --line: #343d4a; --window: #1e2d40;
  --life: #66758a; --waiting: #f0a83c; --draining: #b294f0; --failed: #ff8a80; --deadline: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1.5rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; } p { margin: .25rem 0; color: var(--soft); }
dl { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin: 1rem 0; } dt { color: var(--soft); } dd { margin: 0; font-size: 1.25rem; font-weight: 600; }
.wide { overflow-x: auto; } svg { display: block; min-width: 60rem; width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .tick { fill: var(--soft); font-size: 10px; } svg .date, svg .pool { font-weight: 600; } svg .pool { font-size: 13px; }
.window { fill: var(--window); } .hour { stroke: var(--line); } .life { fill: var(--life); } .waiting { fill: var(--waiting); }
.draining { fill: var(--draining); } .failed { fill: var(--failed); } .margin { stroke: var(--soft); stroke-dasharray: 2 4; } .deadline { fill: var(--deadline); }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; list-style: none; padding: 0; color: var(--soft); } .key svg { display: inline-block; min-width: 0; width: 1rem; height: .75rem; margin-right: .4rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; } th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } .right { text-align: right; } code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
`;

/** @returns the text of an HTML file */
export function reportPage(report: Report): string {
  const { range, rotations } = report.timeline;
  const page = element(
    'html',
    { lang: 'en' },
    element(
      'head',
      {},
      raw('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
      element('title', {}, report.title),
      element('style', {}, raw(style)),
    ),
    element(
      'body',
      {},
      element(
        'main',
        {},
        element('h1', {}, report.title),
        element('p', {}, `${formatInstant(range.start)} to ${formatInstant(range.end)}, all times in UTC`),
        element(
          'dl',
          {},
          ...report.figures.map(([label, value]) =>
            element('div', {}, element('dt', {}, label), element('dd', {}, value)),
          ),
        ),
        element('h2', {}, 'Timeline'),
        legend(),
        element(
          'div',
          { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Timeline' },
          drawTimeline(report.timeline),
        ),
        element('h2', {}, 'Rotations'),
        element('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Rotations' }, table(rotations)),
        element('p', {}, 'From the audit table: ', element('code', {}, report.query)),
      ),
    ),
  );
  return `<!doctype html>\n${page.markup}\n`;
}

const keys = [
  ['window', 'maintenance window (drawn wider than the time between)'],
  ['life', 'node in service'],
  ['waiting', 'waiting for the replacement'],
  ['draining', 'draining'],
  ['deadline', 'deadline: Karpenter expires the node'],
] as const;

const legend = (): Markup =>
  element(
    'ul',
    { class: 'key' },
    ...keys.map(([kind, text]) =>
      element(
        'li',
        {},
        element(
          'svg',
          { viewBox: '0 0 16 12', 'aria-hidden': 'true' },
          element('rect', { x: 0, y: 0, width: 16, height: 12, class: kind }),
        ),
        text,
      ),
    ),
  );

function table(rotations: readonly RotationStory[]): Markup {
  const cell = (name: 'th' | 'td', text: string, right: boolean | undefined): Markup =>
    element(name, { ...(right ? { class: 'right' } : {}), ...(name === 'th' ? { scope: 'col' } : {}) }, text);
  return element(
    'table',
    {},
    element(
      'thead',
      {},
      element('tr', {}, ...rotationColumns.map(({ title, right }) => cell('th', title.toLowerCase(), right))),
    ),
    element(
      'tbody',
      {},
      ...rotations.map((rotation) =>
        element('tr', {}, ...rotationColumns.map(({ of, right }) => cell('td', of(rotation), right))),
      ),
    ),
  );
}
