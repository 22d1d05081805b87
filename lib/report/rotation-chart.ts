/**
 * The last rotations as a drawing that a CloudWatch dashboard shows: a bar for each, on one axis of time, and the same in
 * words below. It needs no style sheet and no script, because a dashboard lets none through.
 */
import type { Duration, Instant } from '../domain/time.ts';
import {
  between,
  day,
  duration,
  formatDuration,
  formatInstant,
  hour,
  instant,
  minute,
  second,
} from '../domain/time.ts';
import type { Markup } from './markup.ts';
import { element } from './markup.ts';
import type { RotationStory } from './rotation-story.ts';

export interface DrawnRotation {
  /** `account/region/name`. */
  readonly cluster: string;
  readonly story: RotationStory;
}

export interface RotationChart {
  /** Newest first. */
  readonly rotations: readonly DrawnRotation[];
  /** How many more there were. */
  readonly leftOut: number;
  readonly range: { readonly start: Instant; readonly end: Instant };
  readonly theme: 'light' | 'dark';
  /** In pixels. */
  readonly width: number;
}

const lane = 20;
const head = 26;
const labelShare = 0.3;
const rightMargin = 12;

/** Of both themes of the console. */
const colours = {
  light: { text: '#16191f', faint: '#687078', line: '#d5dbdb' },
  dark: { text: '#d5dbdb', faint: '#95a5a6', line: '#414d5c' },
} as const;
const bars = { waiting: '#d9a514', draining: '#2e73b8', done: '#2e8540', bad: '#c33d69', undone: '#879596' } as const;

/** @design D11-05 */
export function rotationChart(chart: RotationChart): Markup {
  const { rotations, theme, range } = chart;
  const { text } = colours[theme];
  const style = `color:${text};font:13px/1.5 'Amazon Ember',Helvetica,Arial,sans-serif`;
  if (rotations.length === 0) {
    const nothing = `No rotation from ${formatInstant(range.start)} to ${formatInstant(range.end)}.`;
    return element('div', { style }, element('p', {}, nothing));
  }
  return element('div', { style }, drawing(chart), table(chart), ...remainder(chart));
}

function drawing({ rotations, range, theme, width }: RotationChart): Markup {
  const left = width * labelShare;
  const height = head + rotations.length * lane + 6;
  const { text } = colours[theme];
  const x = (at: Instant): number => {
    const share = (at - range.start) / (range.end - range.start);
    return left + Math.min(1, Math.max(0, share)) * (width - left - rightMargin);
  };
  const described = `${rotations.length} rotations from ${formatInstant(range.start)} to ${formatInstant(range.end)}; the table below says the same in words.`;
  return element(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'img', xmlns: 'http://www.w3.org/2000/svg' },
    element('title', {}, described),
    ...axis(range, x, height, theme),
    ...rotations.map(({ cluster, story }, index) => {
      const y = head + index * lane;
      const label = `${cluster.split('/').at(-1)} · ${story.nodePool} · ${story.nodeClaim}`;
      return element(
        'g',
        {},
        element('title', {}, sentence(cluster, story)),
        element(
          'text',
          { x: left - 8, y: y + 14, 'text-anchor': 'end', 'font-size': 11, fill: text },
          shortened(label, left),
        ),
        ...parts(story, range.end).map(({ start, end, colour }) =>
          element('rect', {
            x: x(start),
            y: y + 4,
            width: Math.max(3, x(end) - x(start)),
            height: lane - 8,
            rx: 2,
            fill: colour,
          }),
        ),
      );
    }),
  );
}

function axis(
  range: RotationChart['range'],
  x: (at: Instant) => number,
  height: number,
  theme: RotationChart['theme'],
): Markup[] {
  const { line, faint } = colours[theme];
  const length = range.end - range.start;
  const step = [10 * minute, hour, 6 * hour, day, 7 * day].find((each) => length / each <= 10) ?? 7 * day;
  const marks: Markup[] = [];
  for (let at = Math.ceil(range.start / step) * step; at <= range.end; at += step) {
    const place = x(instant(at));
    const words = formatInstant(instant(at));
    const label = step < day ? words.slice(5, 16).replace('T', ' ') : words.slice(5, 10);
    marks.push(
      element('line', { x1: place, x2: place, y1: head - 4, y2: height, stroke: line, 'stroke-width': 1 }),
      element('text', { x: place, y: 14, 'text-anchor': 'middle', 'font-size': 10, fill: faint }, label),
    );
  }
  return marks;
}

interface Part {
  readonly start: Instant;
  readonly end: Instant;
  readonly colour: string;
}

/** Waiting, then draining, then a mark for how it ended; one that goes on reaches to the end of the range. */
function parts({ startedAt, drainingAt, endedAt, outcome }: RotationStory, until: Instant): readonly Part[] {
  const end = endedAt ?? until;
  const waiting = { start: startedAt, end: drainingAt ?? end, colour: bars.waiting };
  const draining = drainingAt === undefined ? [] : [{ start: drainingAt, end, colour: bars.draining }];
  const ending = endedAt === undefined ? [] : [{ start: endedAt, end: endedAt, colour: endColour(outcome) }];
  return [waiting, ...draining, ...ending];
}

function endColour(outcome: RotationStory['outcome']): string {
  if (outcome === 'completed') return bars.done;
  return outcome === 'aborted' ? bars.undone : bars.bad;
}

function table({ rotations, theme }: RotationChart): Markup {
  const { line } = colours[theme];
  const columns: readonly (readonly [string, (rotation: DrawnRotation) => string])[] = [
    ['started', ({ story }) => formatInstant(story.startedAt)],
    ['cluster', ({ cluster }) => cluster],
    ['NodePool', ({ story }) => story.nodePool],
    ['NodeClaim', ({ story }) => story.nodeClaim],
    ['outcome', ({ story }) => [outcomeOf(story), story.reason].filter(Boolean).join(', ')],
    ['path', ({ story }) => story.path ?? '-'],
    ['took', ({ story }) => (story.endedAt === undefined ? '-' : roughly(between(story.startedAt, story.endedAt)))],
    ['left until the deadline', ({ story }) => (story.margin === undefined ? '-' : roughly(story.margin))],
  ];
  const cell = `padding:2px 8px;text-align:left;border-bottom:1px solid ${line}`;
  return element(
    'table',
    { style: 'border-collapse:collapse;margin-top:8px' },
    element('tr', {}, ...columns.map(([title]) => element('th', { style: cell, scope: 'col' }, title))),
    ...rotations.map((rotation) =>
      element('tr', {}, ...columns.map(([, of]) => element('td', { style: cell }, of(rotation)))),
    ),
  );
}

const remainder = ({ leftOut }: RotationChart): Markup[] =>
  leftOut === 0 ? [] : [element('p', {}, `${leftOut} older ones are left out; node-rotation history shows them all.`)];

const outcomeOf = ({ endedAt, outcome }: RotationStory): string =>
  endedAt === undefined ? `under way (${outcome})` : outcome;

const sentence = (cluster: string, story: RotationStory): string =>
  `${cluster}, NodePool ${story.nodePool}, ${story.nodeClaim}: started ${formatInstant(story.startedAt)}, ${outcomeOf(story)}`;

/** The end of a name tells more than its beginning. */
function shortened(label: string, width: number): string {
  const most = Math.floor(width / 6);
  return label.length <= most ? label : `…${label.slice(1 - most)}`;
}

const roughly = (length: Duration): string => formatDuration(duration(Math.round(length / second) * second));
