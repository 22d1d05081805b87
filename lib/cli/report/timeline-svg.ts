/**
 * The timeline as a drawing: a lane per NodeClaim, windows shaded, waiting and draining in colour, deadlines marked.
 *
 * A replacement's lane lies below the one that it replaces. Colours are the page's variables, so the drawing follows
 * its light and dark themes.
 */
import type { Duration, Instant } from '../../domain/time.ts';
import { between, duration, formatDuration, formatInstant, hour, instant, minute } from '../../domain/time.ts';
import type { Markup } from '../../report/markup.ts';
import { element } from '../../report/markup.ts';
import type { RotationStory } from '../../report/rotation-story.ts';
import type { ClaimLife } from '../../simulator/timeline.ts';
import type { Segment, Span, TimeScale } from './time-scale.ts';
import { timeScale } from './time-scale.ts';

export interface DrawnTimeline {
  readonly range: Span;
  readonly windows: readonly Span[];
  readonly claims: readonly ClaimLife[];
  readonly rotations: readonly RotationStory[];
}

const width = 1200;
const labelWidth = 190;
const rightMargin = 24;
const laneHeight = 22;
const headHeight = 44;
const poolHeight = 28;

interface Row {
  readonly y: number;
  readonly pool?: string;
  readonly claim?: ClaimLife;
}

export function drawTimeline(timeline: DrawnTimeline): Markup {
  const scale = timeScale(timeline.range, timeline.windows, labelWidth, width - rightMargin);
  const { rows, height } = layOut(timeline);
  const described =
    `${timeline.claims.length} NodeClaims from ${formatInstant(timeline.range.start)} to ${formatInstant(timeline.range.end)}, ` +
    `${timeline.rotations.length} rotations in ${timeline.windows.length} maintenance windows. ` +
    'Time inside the windows is drawn wider than time outside them. The table below says the same in words.';
  return element(
    'svg',
    {
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-labelledby': 'timeline-title timeline-desc',
      xmlns: 'http://www.w3.org/2000/svg',
    },
    element('title', { id: 'timeline-title' }, 'Timeline of the rotations'),
    element('desc', { id: 'timeline-desc' }, described),
    ...scale.segments.filter(({ open }) => open).map((segment) => drawWindow(segment, height)),
    ...scale.segments.filter(({ open }) => !open).map(drawGap),
    ...rows.map(({ y, pool, claim }) => (claim ? drawLane(timeline, scale, claim, y) : drawPoolName(pool ?? '', y))),
  );
}

function layOut({ claims, rotations }: DrawnTimeline): { rows: Row[]; height: number } {
  const rows: Row[] = [];
  let y = headHeight;
  for (const pool of [...new Set(claims.map(({ nodePool }) => nodePool))].sort()) {
    rows.push({ y, pool });
    y += poolHeight;
    for (const claim of inSuccession(
      claims.filter(({ nodePool }) => nodePool === pool),
      rotations,
    )) {
      rows.push({ y, claim });
      y += laneHeight;
    }
  }
  return { rows, height: y + 12 };
}

/** Oldest first, and every replacement right after the claim that it replaces. */
function inSuccession(claims: readonly ClaimLife[], rotations: readonly RotationStory[]): readonly ClaimLife[] {
  const successor = new Map(
    rotations
      .filter(({ path, outcome }) => path === 'provisioned' && outcome === 'completed')
      .map(({ nodeClaim, surgeClaim }) => [nodeClaim, surgeClaim]),
  );
  const heirs = new Set(successor.values());
  const ordered: ClaimLife[] = [];
  const add = (claim: ClaimLife | undefined): void => {
    if (!claim || ordered.includes(claim)) return;
    ordered.push(claim);
    add(claims.find(({ nodeClaim }) => nodeClaim === successor.get(claim.nodeClaim)));
  };
  const oldestFirst = claims.toSorted((a, b) => a.created - b.created || (a.nodeClaim < b.nodeClaim ? -1 : 1));
  for (const claim of oldestFirst) if (!heirs.has(claim.nodeClaim)) add(claim);
  for (const claim of oldestFirst) add(claim);
  return ordered;
}

function drawWindow({ start, end, left, right }: Segment, height: number): Markup {
  const hours: Markup[] = [];
  for (let at = Math.ceil(start / hour) * hour; at <= end; at += hour) {
    const x = left + ((at - start) / (end - start)) * (right - left);
    hours.push(element('line', { x1: x, x2: x, y1: headHeight - 6, y2: height, class: 'hour' }));
    if (right - left > 150 && at < end)
      hours.push(
        element('text', { x: x + 2, y: headHeight - 8, class: 'tick' }, formatInstant(instant(at)).slice(11, 16)),
      );
  }
  return element(
    'g',
    {},
    element('title', {}, `window from ${formatInstant(start)} to ${formatInstant(end)}`),
    element('rect', { x: left, y: 4, width: right - left, height: height - 8, class: 'window' }),
    ...hours,
    element('text', { x: left + 4, y: 18, class: 'date' }, dateOf(start)),
  );
}

function drawGap({ start, end, left, right }: Segment): Markup {
  const text = element(
    'text',
    { x: (left + right) / 2, y: 18, class: 'tick', 'text-anchor': 'middle' },
    roughly(between(start, end)),
  );
  return right - left < 36 ? element('g', {}) : text;
}

const drawPoolName = (name: string, y: number): Markup =>
  element('text', { x: 8, y: y + 20, class: 'pool' }, `NodePool ${name}`);

function drawLane({ range, rotations }: DrawnTimeline, scale: TimeScale, claim: ClaimLife, y: number): Markup {
  const middle = y + laneHeight / 2;
  const end = claim.goneAt ?? range.end;
  const life =
    `${claim.nodeClaim}: created ${formatInstant(claim.created)}, ` +
    `${claim.goneAt === undefined ? 'still there' : `gone ${formatInstant(claim.goneAt)}`}` +
    `${claim.deadline === undefined ? '' : `, deadline ${formatInstant(claim.deadline)}`}`;
  return element(
    'g',
    {},
    element('title', {}, life),
    element('text', { x: labelWidth - 8, y: middle + 4, class: 'claim', 'text-anchor': 'end' }, claim.nodeClaim),
    bar(scale, { start: claim.created, end }, middle, 'life', 6),
    ...rotations
      .filter(({ nodeClaim }) => nodeClaim === claim.nodeClaim)
      .flatMap((rotation) => drawRotation(scale, rotation, middle, end)),
    ...(claim.deadline !== undefined && claim.deadline >= range.start && claim.deadline <= range.end
      ? [drawDeadline(scale, end, claim.deadline, middle)]
      : []),
  );
}

function drawRotation(scale: TimeScale, rotation: RotationStory, middle: number, end: Instant): Markup[] {
  const { startedAt, drainingAt, endedAt = end, outcome } = rotation;
  const waiting = bar(
    scale,
    { start: startedAt, end: drainingAt ?? endedAt },
    middle,
    outcome === 'failed' ? 'failed' : 'waiting',
    12,
    'waiting for the replacement',
  );
  return drainingAt === undefined
    ? [waiting]
    : [waiting, bar(scale, { start: drainingAt, end: endedAt }, middle, 'draining', 12, 'draining')];
}

function bar(scale: TimeScale, span: Span, middle: number, kind: string, height: number, what = ''): Markup {
  const x = scale.x(span.start);
  const title =
    what === '' ? [] : [element('title', {}, `${what}, ${formatInstant(span.start)} to ${formatInstant(span.end)}`)];
  return element(
    'rect',
    { x, y: middle - height / 2, width: Math.max(1, scale.x(span.end) - x), height, rx: 2, class: kind },
    ...title,
  );
}

/** The deadline, and a thin line to it from the claim's end: what was left. */
function drawDeadline(scale: TimeScale, from: Instant, at: Instant, middle: number): Markup {
  const x = scale.x(at);
  return element(
    'g',
    {},
    element('line', { x1: Math.min(scale.x(from), x), x2: x, y1: middle, y2: middle, class: 'margin' }),
    element(
      'path',
      { d: `M${x.toFixed(1)} ${middle - 7} l5 7 l-5 7 l-5 -7 z`, class: 'deadline' },
      element('title', {}, `deadline ${formatInstant(at)}`),
    ),
  );
}

const weekdays = ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed'];

/** The UTC day, its name first. */
const dateOf = (at: Instant): string =>
  `${weekdays[Math.floor(at / (24 * hour)) % 7]} ${formatInstant(at).slice(0, 10)}`;

const roughly = (length: Duration): string =>
  formatDuration(duration(Math.round(length / (30 * minute)) * 30 * minute));
