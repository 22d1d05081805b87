/**
 * Windows on the real calendar: the occurrences that there will be, clock changes and excluded days included.
 *
 * Occurrences are found date by date in each entry's own zone, merged, and what is excluded is cut out; they are kept
 * in blocks of days, because thousands of claims ask about the same weeks. A union that never closes has no beginning:
 * its first occurrence starts at 1970-01-01.
 */
import type { RotationPolicy, WindowEntry } from '../policy/rotation-policy.ts';
import type { Duration, Instant } from '../time.ts';
import { add, between, days, earliest, instant, latest, subtract, sum } from '../time.ts';
import { closesAt, opensAt, parseDate, wallTimeAt, weekdayOf } from '../wall-clock.ts';
import { mergeStretches, windowPeriods } from './window.ts';

/** An uninterrupted stretch in which rotations may start: `start` belongs to it, `end` does not. */
export interface Occurrence {
  readonly start: Instant;
  readonly end: Instant | 'never';
}

export type WindowPlan = Pick<RotationPolicy, 'windows' | 'exclusions'>;

/** The start of an occurrence that has always been open. */
export const beginning: Instant = instant(0);
/** How far ahead an opening, and how far to both sides an end, is looked for. */
export const horizon: Duration = days(400);

/**
 * All occurrences that share an instant with [from, to), whole, in order.
 *
 * @design D3-01, D3-03, D3-04, D3-06
 */
export function occurrencesBetween(plan: WindowPlan, from: Instant, to: Instant): readonly Occurrence[] {
  return occurrencesIn(calendarOf(plan, from), from, to);
}

/** The occurrence that contains the instant; undefined while the window is shut. @design R3.1-02, D3-01 */
export function occurrenceAt(plan: WindowPlan, at: Instant): Occurrence | undefined {
  return occurrenceAround(calendarOf(plan, at), at);
}

/** The first occurrence that starts after the instant, within about 400 days. */
export function nextOccurrence(plan: WindowPlan, after: Instant): Occurrence | undefined {
  for (const occurrence of startsAfter(calendarOf(plan, after), after, add(after, horizon))) return occurrence;
  return undefined;
}

/** `occurrenceAt` for many instants of one calendar. */
export function occurrenceAround(calendar: Calendar, at: Instant): Occurrence | undefined {
  const candidate = lastBefore(calendar, at);
  return candidate !== undefined && (candidate.end === 'never' || at < candidate.end) ? candidate : undefined;
}

/**
 * The latest starts of occurrences, last first.
 *
 * @param after starts at this instant or before do not count
 * @param upTo starts at this instant still count
 * @param atMost how many are wanted
 */
export function lastStarts(calendar: Calendar, after: Instant, upTo: Instant, atMost: number): readonly Instant[] {
  const starts: Instant[] = [];
  if (calendar.windows.length === 0) return starts;
  for (let block = blockOf(upTo); starts.length < atMost && (block + 1) * blockLength > after; block--) {
    for (const { start } of occurrencesOf(calendar, block).toReversed()) {
      if (start > after && start <= upTo && starts.length < atMost) starts.push(start);
    }
    block = beforeExclusion(calendar, block);
  }
  return starts;
}

/** How many occurrences start after `after` and not after `upTo`. */
export function countStarts(calendar: Calendar, after: Instant, upTo: Instant): number {
  let count = 0;
  for (let block = blockOf(after); block * blockLength <= upTo; block++) {
    const occurrences = occurrencesOf(calendar, block);
    // All of what starts in a block does so within it, but for the one that has no beginning.
    const whole =
      block * blockLength > after && (block + 1) * blockLength <= upTo && occurrences[0]?.start !== beginning;
    if (whole) count += occurrences.length;
    else for (const { start } of occurrences) if (start > after && start <= upTo) count++;
  }
  return count;
}

/** How long the window is open within [from, to]. */
export function openTime(calendar: Calendar, from: Instant, to: Instant): Duration {
  const lengths = occurrencesIn(calendar, from, to).map(({ start, end }) =>
    between(latest(start, from), end === 'never' ? to : earliest(end, to)),
  );
  return sum(...lengths);
}

/** A closed stretch: from the first instant of its first day to the last of its last. */
export interface Closed {
  readonly start: Instant;
  readonly end: Instant;
}

/** A plan made ready for many questions. Its answers do not depend on when they are asked. */
export interface Calendar {
  readonly windows: readonly WindowEntry[];
  readonly excluded: readonly Closed[];
  /** The blocks looked at so far: what starts in them. */
  readonly blocks: Map<number, readonly Occurrence[]>;
  /** Whole list instead of blocks when the union never closes. */
  readonly always?: readonly Occurrence[];
}

// Short enough for a cold look at one instant, long enough for a year in few steps.
const blockLength = days(16);
const blockOf = (at: Instant): number => Math.floor(at / blockLength);
const blocksKept = 1_024;
const calendarsKept = 64;

const byIdentity = new WeakMap<WindowPlan, { readonly endless: boolean; readonly calendar: Calendar }>();
const byContent = new Map<string, Calendar>();

/**
 * The calendar of a plan, found again by identity within a tick and by content across ticks.
 *
 * @param at decides which 12 months are looked at for whether entries in several zones leave the union endless
 */
export function calendarOf(plan: WindowPlan, at: Instant): Calendar {
  const { endless } = windowPeriods(plan.windows, at);
  const known = byIdentity.get(plan);
  if (known?.endless === endless) return known.calendar;
  const key = JSON.stringify([endless, plan.windows, plan.exclusions]);
  const calendar = byContent.get(key) ?? emptyCalendar(plan, endless);
  byIdentity.set(plan, { endless, calendar });
  byContent.set(key, calendar);
  if (byContent.size > calendarsKept) byContent.delete(byContent.keys().next().value as string);
  return calendar;
}

function emptyCalendar(plan: WindowPlan, endless: boolean): Calendar {
  const excluded = mergeStretches(plan.exclusions.flatMap((exclusion) => closedBy(exclusion) ?? []));
  const calendar = { windows: plan.windows, excluded, blocks: new Map() };
  return endless ? { ...calendar, always: cut([{ start: beginning, end: 'never' }], excluded) } : calendar;
}

/** The stretch that an exclusion closes: whole days in its zone. Undefined for a date that does not exist. @design D3-06 */
export function closedBy(exclusion: RotationPolicy['exclusions'][number]): Closed | undefined {
  const [from, to] = [parseDate(exclusion.from), parseDate(exclusion.to)];
  if (from === undefined || to === undefined || to < from) return undefined;
  const { timezone } = exclusion;
  return { start: opensAt(timezone, from, 0), end: closesAt(timezone, to + 1, 0) };
}

function occurrencesIn(calendar: Calendar, from: Instant, to: Instant): readonly Occurrence[] {
  if (to <= from) return [];
  const first = occurrenceAround(calendar, from);
  const later = [...startsAfter(calendar, from, to)];
  return first === undefined ? later : [first, ...later];
}

function* startsAfter(calendar: Calendar, after: Instant, before: Instant): Generator<Occurrence> {
  for (let block = blockOf(after); block * blockLength < before; block++) {
    for (const occurrence of occurrencesOf(calendar, block)) {
      if (occurrence.start > after && occurrence.start < before) yield occurrence;
    }
  }
}

/** The last occurrence that starts at or before the instant, as far back as one could still be open. */
function lastBefore(calendar: Calendar, at: Instant): Occurrence | undefined {
  if (calendar.always !== undefined) return calendar.always.findLast(({ start }) => start <= at);
  for (let block = blockOf(at); block >= blockOf(subtract(at, horizon)); block--) {
    const found = occurrencesOf(calendar, block).findLast(({ start }) => start <= at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A block in the midst of an exclusion is skipped together with all of the exclusion before it. */
function beforeExclusion(calendar: Calendar, block: number): number {
  const start = block * blockLength;
  const around = calendar.excluded.find((closed) => closed.start < start && start <= closed.end);
  return around === undefined ? block : Math.min(block, blockOf(around.start) + 1);
}

/** The occurrences that start in a block. One that has been open for longer than the horizon is in every block. */
function occurrencesOf(calendar: Calendar, block: number): readonly Occurrence[] {
  const known = calendar.blocks.get(block);
  if (known !== undefined) return known;
  const [from, to] = [instant(block * blockLength), instant((block + 1) * blockLength)];
  const occurrences = calendar.always ?? cut(unionBetween(calendar.windows, from, to), calendar.excluded);
  const own = occurrences.filter(({ start }) => (start >= from && start < to) || start === beginning);
  if (calendar.blocks.size >= blocksKept) calendar.blocks.clear();
  calendar.blocks.set(block, own);
  return own;
}

/** The merged occurrences that touch [from, to), before exclusions, with their real starts and ends. */
function unionBetween(windows: readonly WindowEntry[], from: Instant, to: Instant): readonly Occurrence[] {
  for (const reach of [days(2), days(32), horizon]) {
    const [left, right] = [subtract(from, reach), add(to, reach)];
    const union = mergeStretches(windows.flatMap((entry) => openings(entry, left, right)));
    const touching = union.filter(({ start, end }) => end > from && start < to);
    if (reach < horizon && touching.some(({ start, end }) => start <= left || end >= right)) continue;
    return touching.map(({ start, end }) => ({
      start: start <= left ? beginning : start,
      end: end >= right ? 'never' : end,
    }));
  }
  return [];
}

/** Every opening of one entry that shares an instant with [from, to], and perhaps some beside it. @design D3-03 */
function openings(entry: WindowEntry, from: Instant, to: Instant): Closed[] {
  const { timezone, start, end } = entry;
  const found: Closed[] = [];
  const last = wallTimeAt(timezone, to).date + 1;
  for (let date = wallTimeAt(timezone, from).date - 2; date <= last; date++) {
    if (!entry.days.includes(weekdayOf(date))) continue;
    const opens = opensAt(timezone, date, start);
    const closes = closesAt(timezone, end < start ? date + 1 : date, end);
    // An entry wholly inside a skipped hour has no occurrence on that day.
    if (closes > opens) found.push({ start: opens, end: closes });
  }
  return found;
}

/** What is left of the occurrences outside the excluded stretches. */
function cut(occurrences: readonly Occurrence[], excluded: readonly Closed[]): readonly Occurrence[] {
  return occurrences.flatMap(({ start, end }) => {
    const left: Occurrence[] = [];
    let opens = start;
    for (const closed of excluded) {
      if (closed.end <= opens) continue;
      if (end !== 'never' && closed.start >= end) break;
      if (closed.start > opens) left.push({ start: opens, end: closed.start });
      opens = closed.end;
    }
    if (end === 'never' || opens < end) left.push({ start: opens, end });
    return left;
  });
}
