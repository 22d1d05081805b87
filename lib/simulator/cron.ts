/**
 * Cron lines as a NodePool's budgets write them: five fields or a nickname, always in UTC.
 *
 * A day of the month and a day of the week that are both restricted are alternatives, as in every cron.
 */
import type { Duration, Instant } from '../domain/time.ts';
import { calendarDate, day, hour, instant, minute } from '../domain/time.ts';

const nicknames: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};
const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

export interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number> | undefined;
  readonly months: ReadonlySet<number>;
  readonly daysOfWeek: ReadonlySet<number> | undefined;
}

/** @returns undefined when the text is no cron line */
export function parseCron(text: string): Cron | undefined {
  const fields = (nicknames[text.trim()] ?? text.trim()).split(/\s+/);
  if (fields.length !== 5) return undefined;
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = [
    field(fields[0], 0, 59),
    field(fields[1], 0, 23),
    field(fields[2], 1, 31),
    field(fields[3], 1, 12, monthNames, 1),
    field(fields[4], 0, 7, dayNames, 0),
  ];
  if (!minutes || !hours || !daysOfMonth || !months || !daysOfWeek) return undefined;
  const any = (index: number): boolean => /^[*?]/.test(fields[index] ?? '');
  return {
    minutes,
    hours,
    months,
    daysOfMonth: any(2) ? undefined : daysOfMonth,
    daysOfWeek: any(4) ? undefined : new Set([...daysOfWeek].map((weekday) => weekday % 7)),
  };
}

function field(
  text = '',
  least: number,
  most: number,
  names: readonly string[] = [],
  firstName = 0,
): ReadonlySet<number> | undefined {
  const numberOf = (word: string): number => {
    const named = names.indexOf(word.toLowerCase());
    return named >= 0 ? named + firstName : /^\d+$/.test(word) ? Number(word) : Number.NaN;
  };
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(\*|\?|[a-zA-Z0-9]+)(?:-([a-zA-Z0-9]+))?(?:\/(\d+))?$/.exec(part);
    if (!match) return undefined;
    const [, from = '', to, step = '1'] = match;
    const all = from === '*' || from === '?';
    const first = all ? least : numberOf(from);
    const last = to !== undefined ? numberOf(to) : all || match[3] !== undefined ? most : first;
    if (!(first >= least && last <= most && first <= last && Number(step) > 0)) return undefined;
    for (let value = first; value <= last; value += Number(step)) values.add(value);
  }
  return values;
}

function firesOn(cron: Cron, dayNumber: number): boolean {
  const { month, dayOfMonth } = calendarDate(dayNumber);
  if (!cron.months.has(month)) return false;
  const ofMonth = cron.daysOfMonth?.has(dayOfMonth);
  const ofWeek = cron.daysOfWeek?.has((((dayNumber + 4) % 7) + 7) % 7);
  if (ofMonth === undefined || ofWeek === undefined) return ofMonth ?? ofWeek ?? true;
  return ofMonth || ofWeek;
}

function* firesWithin(cron: Cron, dayNumber: number): Generator<Instant> {
  if (!firesOn(cron, dayNumber)) return;
  for (const h of [...cron.hours].sort((a, b) => a - b))
    for (const m of [...cron.minutes].sort((a, b) => a - b)) yield instant(dayNumber * day + h * hour + m * minute);
}

/** The last time at or before `at`, looking back no further than `within`. */
export function lastFire(cron: Cron, at: Instant, within: Duration): Instant | undefined {
  for (let dayNumber = Math.floor(at / day); dayNumber >= Math.floor((at - within) / day); dayNumber -= 1) {
    const last = [...firesWithin(cron, dayNumber)].filter((moment) => moment <= at && moment >= at - within).at(-1);
    if (last !== undefined) return last;
  }
  return undefined;
}

/** The first time after `at`; undefined when there is none within a year and a day. */
export function nextFire(cron: Cron, at: Instant): Instant | undefined {
  const today = Math.floor(at / day);
  for (let dayNumber = today; dayNumber <= today + 366; dayNumber += 1)
    for (const moment of firesWithin(cron, dayNumber)) if (moment > at) return moment;
  return undefined;
}
