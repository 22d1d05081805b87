/**
 * Instants and durations: whole milliseconds, branded so that neither is mistaken for the other or for a bare number.
 *
 * Text is read strictly. An unreadable time is `undefined` here and a refusal for the caller; it never becomes zero.
 * The calendar arithmetic is the proleptic Gregorian calendar in UTC; zones live in `wall-clock.ts`.
 */
import { assert } from './assert.ts';

declare const brand: unique symbol;

/** Whole milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number & { readonly [brand]: 'Instant' };
/** Whole milliseconds; may be negative where a difference is meant. */
export type Duration = number & { readonly [brand]: 'Duration' };

export const millisecond = 1;
export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** @throws BrokenAssumption when `ms` is not a whole number. */
export function instant(ms: number): Instant {
  assert(Number.isSafeInteger(ms), `an instant is a whole number of milliseconds, not ${ms}`);
  return ms as Instant;
}

/** @throws BrokenAssumption when `ms` is not a whole number. */
export function duration(ms: number): Duration {
  assert(Number.isSafeInteger(ms), `a duration is a whole number of milliseconds, not ${ms}`);
  return ms as Duration;
}

export const seconds = (n: number): Duration => duration(n * second);
export const minutes = (n: number): Duration => duration(n * minute);
export const hours = (n: number): Duration => duration(n * hour);
export const days = (n: number): Duration => duration(n * day);
export const zero: Duration = duration(0);

export const add = (at: Instant, by: Duration): Instant => instant(at + by);
export const subtract = (at: Instant, by: Duration): Instant => instant(at - by);
/** The time from `from` to `to`; negative when `to` comes first. */
export const between = (from: Instant, to: Instant): Duration => duration(to - from);
export const sum = (...parts: readonly Duration[]): Duration =>
  duration(parts.reduce((total, part) => total + part, 0));
export const times = (factor: number, of: Duration): Duration => duration(factor * of);
export const earliest = (a: Instant, b: Instant): Instant => (a <= b ? a : b);
export const latest = (a: Instant, b: Instant): Instant => (a >= b ? a : b);
export const shorter = (a: Duration, b: Duration): Duration => (a <= b ? a : b);
export const longer = (a: Duration, b: Duration): Duration => (a >= b ? a : b);

/** The instant rounded down to a whole second, the resolution of a Kubernetes creationTimestamp. @design D5-01 */
export const wholeSecond = (at: Instant): Instant => instant(Math.floor(at / second) * second);

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Reads an RFC 3339 time with its offset. Fractions finer than a millisecond are cut off.
 *
 * @returns undefined when the text is no such time, e.g. without an offset, `2026-02-30T…`, or a leap second
 */
export function parseInstant(text: string): Instant | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  // One by one: every object of a cluster carries a time, and taking the match apart as a list costs twice as much.
  const [year, month, dayOfMonth] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const [h, m, s] = [Number(match[4]), Number(match[5]), Number(match[6])];
  if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > daysInMonth(year, month)) return undefined;
  if (h > 23 || m > 59 || s > 59) return undefined;
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  const fraction = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const offset = (match[8] === '-' ? -1 : 1) * (offsetHours * hour + offsetMinutes * minute);
  return instant(
    daysSinceEpoch(year, month, dayOfMonth) * day + h * hour + m * minute + s * second + fraction - offset,
  );
}

/** RFC 3339 in UTC; milliseconds only when there are any: `2026-06-09T17:00:00Z`. */
export function formatInstant(at: Instant): string {
  const dayNumber = Math.floor(at / day);
  const rest = at - dayNumber * day;
  const { year, month, dayOfMonth } = calendarDate(dayNumber);
  const clock = [Math.floor(rest / hour), Math.floor(rest / minute) % 60, Math.floor(rest / second) % 60]
    .map(two)
    .join(':');
  const ms = rest % second;
  const fraction = ms === 0 ? '' : `.${String(ms).padStart(3, '0')}`;
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(dayOfMonth)}T${clock}${fraction}Z`;
}

/** The UTC calendar day as `2026-06-09`. */
export const formatDay = (at: Instant): string => formatInstant(at).slice(0, 10);

const two = (n: number): string => String(n).padStart(2, '0');

/** The number of days in a month (1–12). */
export function daysInMonth(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

// Years are counted from March so that the leap day is the last of its year; an era is 400 years, 146,097 days.
/** Days from 1970-01-01 to the given calendar date. */
export function daysSinceEpoch(year: number, month: number, dayOfMonth: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + dayOfMonth - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}

/** The calendar date that lies `dayNumber` days after 1970-01-01. */
export function calendarDate(dayNumber: number): { year: number; month: number; dayOfMonth: number } {
  const shifted = dayNumber + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    dayOfMonth: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  };
}

const goUnits: Readonly<Record<string, number>> = { h: hour, m: minute, s: second, ms: millisecond };

/** Reads a policy's duration: whole numbers of h, m, s, ms in any combination, such as `1h30m`. @design D2-02 */
export const parseGoDuration = (text: string): Duration | undefined => parseDuration(text, /^(?:\d+(?:ms|h|m|s))+$/);

/** Reads a Karpenter field's duration: whole numbers of h, m, s. `30d` and `Never` are not durations. @design D2-02 */
export const parseKarpenterDuration = (text: string): Duration | undefined => parseDuration(text, /^(?:\d+[smh])+$/);

function parseDuration(text: string, form: RegExp): Duration | undefined {
  if (!form.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|h|m|s)/g))
    total += Number(count) * (goUnits[unit as string] as number);
  return total <= longestDuration ? duration(total) : undefined;
}

// The most that Go's nanoseconds can hold, about 292 years: whoever wrote the text could not read more either.
const longestDuration = 9_223_372_036_854;

/** A Go duration without zero units: `1h17m`, `500ms`, `0s`, `-1h17m`. @design D2-02 */
export function formatDuration(length: Duration): string {
  if (length === 0) return '0s';
  let rest = Math.abs(length);
  let text = length < 0 ? '-' : '';
  for (const [unit, size] of [
    ['h', hour],
    ['m', minute],
    ['s', second],
    ['ms', millisecond],
  ] as const) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}
