/**
 * What came out of the two weeks: lines for people, a document for programs, a page with the timeline.
 */

import type { Occurrence } from '../../domain/schedule/calendar.ts';
import { between, formatDuration, formatInstant } from '../../domain/time.ts';
import { reportPage } from '../report/report-page.ts';
import { rotationColumns, rotationDocument } from '../report/rotation-columns.ts';
import type { Span } from '../report/time-scale.ts';
import { textTable } from '../text-table.ts';
import type { TwoWeeks } from './two-weeks.ts';

/** @param run took: real seconds; data: the folder in which the table is kept */
export function outcomeLines(result: TwoWeeks, run: { readonly took: number; readonly data?: string }): string[] {
  const { timeline, stories, ticks, problems } = result;
  const completed = stories.filter(({ outcome }) => outcome === 'completed').length;
  return [
    '',
    ...textTable(rotationColumns, stories),
    '',
    `Audit query            ${queryOf(result)}`,
    ...(run.data === undefined
      ? []
      : [`                       node-rotation history --data ${run.data} --cluster ${result.cluster}`]),
    `Audit rows             ${result.rows}`,
    `Rotations              ${completed} completed, ${stories.length - completed} otherwise`,
    `Forceful expirations   ${timeline.forcefulExpirations.length}`,
    `Virtual time           ${formatInstant(timeline.from)} to ${formatInstant(timeline.to)}: ${ticks} ticks in ${run.took} s`,
    '',
    ...(problems.length === 0
      ? ['All is as it should be.']
      : ['Not as it should be:', ...problems.map((problem) => `  ${problem}`)]),
  ];
}

export const outcomeDocument = ({ cluster, timeline, stories, ticks, problems }: TwoWeeks): unknown => ({
  cluster,
  from: formatInstant(timeline.from),
  to: formatInstant(timeline.to),
  ticks,
  rotations: stories.map(rotationDocument),
  forcefulExpirations: timeline.forcefulExpirations.map(({ nodePool, nodeClaim, at }) => ({
    nodePool,
    nodeClaim,
    at: formatInstant(at),
  })),
  problems,
});

/** An HTML file. */
export function outcomePage(result: TwoWeeks): string {
  const { timeline, stories, windows } = result;
  const margins = stories.flatMap(({ margin }) => (margin === undefined ? [] : [margin])).sort((a, b) => a - b);
  return reportPage({
    title: `Node rotation of ${result.cluster}`,
    timeline: {
      range: { start: timeline.from, end: timeline.to },
      windows: windows.map((window) => spanOf(window, timeline.to)),
      claims: timeline.nodeClaims,
      rotations: stories,
    },
    figures: [
      ['Rotations completed', String(stories.filter(({ outcome }) => outcome === 'completed').length)],
      ['Forceful expirations', String(timeline.forcefulExpirations.length)],
      ['Smallest margin', margins[0] === undefined ? '-' : formatDuration(margins[0])],
      ['Windows', String(windows.length)],
      ['Virtual time', formatDuration(between(timeline.from, timeline.to))],
    ],
    query: queryOf(result),
  });
}

const spanOf = ({ start, end }: Occurrence, last: Span['end']): Span => ({ start, end: end === 'never' ? last : end });

const queryOf = ({ cluster, timeline }: TwoWeeks): string =>
  `index byClusterTime, cluster = "${cluster}" and time between "${formatInstant(timeline.from)}" and "${formatInstant(timeline.to)}"`;
