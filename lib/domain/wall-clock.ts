/**
 * Wall clocks: what a calendar date and a time of day mean in a zone. The only file that knows time zones.
 *
 * Everything is a function of its arguments and of the runtime's zone data, never of the system clock or zone. A wall
 * time may be skipped or repeated, by an hour or by any other amount; a whole date may be missing, and so may midnight.
 */
import { IANAZone } from 'luxon';
import { assert } from './assert.ts';
import type { Weekday } from './policy/rotation-policy.ts';
import { weekdays } from './policy/rotation-policy.ts';
import type { Duration, Instant } from './time.ts';
import { day, daysInMonth, daysSinceEpoch, duration, hour, instant, minute, second } from './time.ts';

/** A calendar date, in no particular zone: days since 1970-01-01. */
export type DayNumber = number;

/** What the clock on the wall shows. */
export interface WallTime {
  readonly date: DayNumber;
  readonly weekday: Weekday;
  /** Since midnight as the clock shows it, 0 up to 24h. */
  readonly timeOfDay: Duration;
}

/** Whether the runtime knows this IANA name. Offsets such as `+09:00` are no zones: they know no daylight saving. @design D2-04 */
export function isKnownZone(name: string): boolean {
  const known = zonesAsked.get(name);
  if (known !== undefined) return known;
  const valid = /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name) && IANAZone.isValidZone(name);
  if (zonesAsked.size < mostZonesAsked) zonesAsked.set(name, valid);
  return valid;
}

// The runtime answers slowly, and every tick asks about the same few names.
const zonesAsked = new Map<string, boolean>();
const mostZonesAsked = 1_000;

/** Reads `YYYY-MM-DD`; undefined when there is no such date. */
export function parseDate(text: string): DayNumber | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return undefined;
  const [year, month, dayOfMonth] = match.slice(1).map(Number) as [number, number, number];
  if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > daysInMonth(year, month)) return undefined;
  return daysSinceEpoch(year, month, dayOfMonth);
}

/** 1970-01-01 was a Thursday. */
export const weekdayOf = (date: DayNumber): Weekday => weekdays[(((date + 3) % 7) + 7) % 7] as Weekday;

/** Weekday and time of day at an instant, both in the given zone. @design D3-01 */
export function wallTimeAt(zone: string, at: Instant): WallTime {
  const local = at + offsetAt(zone, at);
  const date = Math.floor(local / day);
  return { date, weekday: weekdayOf(date), timeOfDay: duration(local - date * day) };
}

/**
 * The first instant at which the clock of the zone has reached a wall time: its first pass where it is repeated, the
 * first instant after the gap where it is skipped.
 *
 * @param minuteOfDay 0–1440; 1440 is the end of the date
 * @design D3-03
 */
export function opensAt(zone: string, date: DayNumber, minuteOfDay: number): Instant {
  const wall = date * day + minuteOfDay * minute;
  for (const part of partsAround(zone, wall)) {
    if (part.until + part.offset > wall) return instant(Math.max(part.from, wall - part.offset));
  }
  assert(false, `${zone} reaches every wall time`);
}

/**
 * The first instant from which the clock of the zone stays at or past a wall time: its last pass where it is repeated,
 * the first instant after the gap where it is skipped.
 *
 * A time that merely begins the repeated stretch is not itself repeated as an end: a window up to 01:00 does not run
 * through the hour from 01:00 that comes twice.
 *
 * @param minuteOfDay 0–1440; 1440 is the end of the date
 * @design D3-03
 */
export function closesAt(zone: string, date: DayNumber, minuteOfDay: number): Instant {
  const wall = date * day + minuteOfDay * minute;
  for (const part of partsAround(zone, wall).toReversed()) {
    if (part.from + part.offset < wall) return instant(Math.min(part.until, wall - part.offset));
  }
  assert(false, `${zone} reaches every wall time`);
}

/** What is added to UTC to get the wall time. */
export function offsetAt(zone: string, at: Instant): Duration {
  const part = partsOf(zone, Math.floor(at / chunkLength)).findLast(({ from }) => from <= at);
  assert(part !== undefined, 'the parts of a chunk cover it');
  return duration(part.offset);
}

/**
 * Every combination of offsets that the zones have at one and the same instant of [from, to).
 *
 * @returns one list per combination, in the order of `zones`
 * @design D3-05
 */
export function offsetCombinations(zones: readonly string[], from: Instant, to: Instant): (readonly Duration[])[] {
  const changes = new Set<number>([from]);
  for (const zone of zones) {
    for (const part of partsBetween(zone, from, to)) if (part.from > from && part.from < to) changes.add(part.from);
  }
  const combinations = new Map<string, readonly Duration[]>();
  for (const change of changes) {
    const offsets = zones.map((zone) => offsetAt(zone, instant(change)));
    combinations.set(offsets.join(), offsets);
  }
  return [...combinations.values()];
}

/** A stretch of one zone's history with one offset, in milliseconds. */
interface Part {
  readonly from: number;
  readonly until: number;
  readonly offset: number;
}

// No zone's wall clock is further than this from UTC, the days on which the date line moved included.
const furthestOffset = 26 * hour;
// The offset is read at the ends of each chunk and a change between them is searched by halving. That finds one change
// per chunk, which is all that zones have: nobody changes the clocks there and back within four days.
const chunkLength = 4 * day;
// Beyond these instants the runtime has no calendar; offsets stay as they are there.
const calendarEnds = 8.64e15 - day;
const chunksKept = 1_024;

const chunksOfZones = new Map<string, Map<number, readonly Part[]>>();

const partsAround = (zone: string, wall: number): Part[] =>
  partsBetween(zone, wall - furthestOffset, wall + furthestOffset);

function partsBetween(zone: string, from: number, to: number): Part[] {
  const parts: Part[] = [];
  for (let chunk = Math.floor(from / chunkLength); chunk * chunkLength < to; chunk++)
    parts.push(...partsOf(zone, chunk));
  return parts;
}

/** The parts of one chunk, kept because a tick asks for the same few days again and again. */
function partsOf(zone: string, chunk: number): readonly Part[] {
  let chunks = chunksOfZones.get(zone);
  if (chunks === undefined || chunks.size >= chunksKept) {
    chunks = new Map();
    chunksOfZones.set(zone, chunks);
  }
  let parts = chunks.get(chunk);
  if (parts === undefined) {
    parts = findParts(zone, chunk * chunkLength, (chunk + 1) * chunkLength);
    chunks.set(chunk, parts);
  }
  return parts;
}

function findParts(zone: string, from: number, until: number): readonly Part[] {
  // The end of a chunk is read just before it, so that a change on the boundary belongs to the next chunk alone.
  const first = readOffset(zone, from);
  const last = readOffset(zone, until - second);
  if (first === last) return [{ from, until, offset: first }];
  let before = from;
  let after = until - second;
  while (after - before > second) {
    const middle = before + Math.floor((after - before) / 2 / second) * second;
    if (readOffset(zone, middle) === first) before = middle;
    else after = middle;
  }
  return [
    { from, until: after, offset: first },
    { from: after, until, offset: last },
  ];
}

function readOffset(zone: string, at: number): number {
  const offset = IANAZone.create(zone).offset(Math.min(Math.max(at, -calendarEnds), calendarEnds));
  assert(Number.isFinite(offset), `${zone} is a known zone`);
  return Math.round(offset * minute);
}
