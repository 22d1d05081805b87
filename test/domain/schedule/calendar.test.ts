import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Exclusion } from '../../../lib/domain/policy/rotation-policy.ts';
import type { Occurrence, WindowPlan } from '../../../lib/domain/schedule/calendar.ts';
import {
  beginning,
  calendarOf,
  closedBy,
  countStarts,
  nextOccurrence,
  occurrenceAround,
  occurrenceAt,
  occurrencesBetween,
} from '../../../lib/domain/schedule/calendar.ts';
import { days, formatInstant, instant } from '../../../lib/domain/time.ts';
import { at } from '../../support/builders.ts';
import { entries } from './entries.ts';

const plan = (texts: readonly string[], exclusions: readonly Exclusion[] = []): WindowPlan => ({
  windows: entries(...texts),
  exclusions,
});
const open = (of: WindowPlan, text: string): boolean => occurrenceAt(of, at(text)) !== undefined;
const shown = ({ start, end }: Occurrence): string =>
  `${formatInstant(start)} ${end === 'never' ? end : formatInstant(end)}`;
const list = (of: WindowPlan, from: string, to: string): string[] =>
  occurrencesBetween(of, at(from), at(to)).map(shown);

/** Entry, instant, and whether the window is open at it. */
const membership: readonly [string, string, string, boolean][] = [
  ['PR-09', 'Wed,Sat 02:00-06:00 Asia/Tokyo', '2026-06-09T16:59:59Z', false],
  ['PR-09', 'Wed,Sat 02:00-06:00 Asia/Tokyo', '2026-06-09T17:00:00Z', true],
  ['PR-09', 'Wed,Sat 02:00-06:00 Asia/Tokyo', '2026-06-09T20:59:59Z', true],
  ['PR-09', 'Wed,Sat 02:00-06:00 Asia/Tokyo', '2026-06-09T21:00:00Z', false],
  ['PR-11', 'Sun 02:00-04:00 America/New_York', '2026-03-08T06:59:59Z', false],
  ['PR-11', 'Sun 02:00-04:00 America/New_York', '2026-03-08T07:00:00Z', true],
  ['PR-11', 'Sun 02:00-04:00 America/New_York', '2026-03-08T07:59:59Z', true],
  ['PR-11', 'Sun 02:00-04:00 America/New_York', '2026-03-08T08:00:00Z', false],
  ['PR-73', 'Fri 22:00-02:00 Asia/Tokyo', '2026-06-12T16:00:00Z', true],
  ['PR-73', 'Fri 22:00-02:00 Asia/Tokyo', '2026-06-11T16:00:00Z', false],
  ['PR-74', 'Wed 22:00-24:00 UTC', '2026-06-10T23:59:59Z', true],
  ['PR-74', 'Wed 22:00-24:00 UTC', '2026-06-11T00:00:00Z', false],
  ['PR-77', 'Fri 06:00-22:00 America/Chicago', '2026-06-12T11:30:00Z', true],
  ['PR-77', 'Fri 06:00-22:00 America/Chicago', '2026-06-13T02:59:59Z', true],
  ['PR-77', 'Fri 06:00-22:00 America/Chicago', '2026-06-13T03:00:00Z', false],
  ['PR-79', 'Sun 00:00-01:00 Asia/Tokyo', '2026-06-13T15:30:00Z', true],
  ['PR-79', 'Sun 00:00-01:00 Asia/Tokyo', '2026-06-14T15:30:00Z', false],
  ['PR-82', 'Sun 02:00-04:00 America/Asuncion', '2026-06-14T04:59:59Z', false],
  ['PR-82', 'Sun 02:00-04:00 America/Asuncion', '2026-06-14T05:00:00Z', true],
  ['a midnight that does not exist', 'Fri 00:00-02:00 Africa/Cairo', '2026-04-23T21:59:59Z', false],
  ['a midnight that does not exist', 'Fri 00:00-02:00 Africa/Cairo', '2026-04-23T22:00:00Z', true],
  ['a midnight that does not exist', 'Fri 00:00-02:00 Africa/Cairo', '2026-04-23T22:59:59Z', true],
  ['a midnight that does not exist', 'Fri 00:00-02:00 Africa/Cairo', '2026-04-23T23:00:00Z', false],
  ['an end at it', 'Thu 22:00-24:00 Africa/Cairo', '2026-04-23T21:59:59Z', true],
  ['an end at it', 'Thu 22:00-24:00 Africa/Cairo', '2026-04-23T22:00:00Z', false],
  ['across it', 'Thu 23:00-01:30 Africa/Cairo', '2026-04-23T22:29:59Z', true],
  ['across it', 'Thu 23:00-01:30 Africa/Cairo', '2026-04-23T22:30:00Z', false],
  ['across the skipped hour', 'Sat 22:00-04:00 America/New_York', '2026-03-08T07:59:59Z', true],
  ['across the skipped hour', 'Sat 22:00-04:00 America/New_York', '2026-03-08T08:00:00Z', false],
  ['across the repeated hour', 'Sat 22:00-01:30 America/New_York', '2026-11-01T06:29:59Z', true],
  ['across the repeated hour', 'Sat 22:00-01:30 America/New_York', '2026-11-01T06:30:00Z', false],
  ['into the repeated hour', 'Sun 01:30-04:00 America/New_York', '2026-11-01T05:29:59Z', false],
  ['into the repeated hour', 'Sun 01:30-04:00 America/New_York', '2026-11-01T05:30:00Z', true],
  ['an end in the skipped hour', 'Sun 01:00-02:30 America/New_York', '2026-03-08T06:59:59Z', true],
  ['an end in the skipped hour', 'Sun 01:00-02:30 America/New_York', '2026-03-08T07:00:00Z', false],
  ['PR-83', 'Sun 01:00-03:00 Australia/Lord_Howe', '2026-04-04T13:59:59Z', false],
  ['PR-83', 'Sun 01:00-03:00 Australia/Lord_Howe', '2026-04-04T14:00:00Z', true],
  ['PR-83', 'Sun 01:00-03:00 Australia/Lord_Howe', '2026-04-04T16:29:59Z', true],
  ['PR-83', 'Sun 01:00-03:00 Australia/Lord_Howe', '2026-04-04T16:30:00Z', false],
  ['PR-85', 'Sun 02:15-02:45 America/New_York', '2026-03-08T07:15:00Z', false],
  ['PR-85', 'Sun 02:15-02:45 America/New_York', '2026-03-15T06:15:00Z', true],
  ['PR-86', 'Wed 02:00-06:00 Asia/Tokyo', '2026-06-09T17:05:00Z', true],
];

describe('membership (R3.1-01, R3.1-02, D3-01, D3-02, D3-03; PR-09, PR-11, PR-73, PR-74, PR-77, PR-79, PR-82, PR-83, PR-85, PR-86)', () => {
  it.each(membership)('%s: %s at %s is open: %s', (_, text, instant, expected) =>
    expect(open(plan([text]), instant)).toBe(expected),
  );

  it('is that of any entry, each in its own zone (R3.1-01, R3.1-02)', () => {
    const both = plan(['Wed 02:00-04:00 Asia/Tokyo', 'Tue 14:00-16:00 America/New_York']);
    const instants = ['16:59:59', '17:00:00', '17:59:59', '18:59:59', '19:59:59', '20:00:00'];
    expect(instants.map((time) => open(both, `2026-06-09T${time}Z`))).toEqual([false, true, true, true, true, false]);
  });
});

describe('the system clock and the system zone do not matter (D3-08, PR-12)', () => {
  const systemZone = process.env.TZ;
  afterEach(() => {
    vi.useRealTimers();
    if (systemZone === undefined) delete process.env.TZ;
    else process.env.TZ = systemZone;
  });

  /** Everything that the window engine tells, from modules that have kept nothing. */
  async function told(): Promise<unknown> {
    vi.resetModules();
    const calendar = await import('../../../lib/domain/schedule/calendar.ts');
    const { windowPeriods } = await import('../../../lib/domain/schedule/window.ts');
    const plans = [...new Set(membership.map(([, text]) => text))].map((text) => plan([text]));
    return {
      membership: membership.map(([, text, instant]) => calendar.occurrenceAt(plan([text]), at(instant)) !== undefined),
      occurrences: plans.map((of) =>
        calendar.occurrencesBetween(of, at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z')),
      ),
      periods: plans.map(({ windows }) => windowPeriods(windows, at('2026-06-10T00:00:00Z'))),
    };
  }

  it.each([
    ['2026-01-15T00:00:00Z', 'UTC'],
    ['2026-07-15T00:00:00Z', 'UTC'],
    ['2026-03-08T07:00:00Z', 'America/New_York'],
    ['2026-11-01T05:30:00Z', 'Pacific/Apia'],
  ])('with the clock at %s in %s (D3-08, PR-12)', async (clock, zone) => {
    const expected = await told();
    process.env.TZ = zone;
    vi.useFakeTimers({ now: new Date(clock) });
    const found = await told();
    expect(found).toEqual(expected);
    expect(found).toMatchObject({ membership: membership.map(([, , , expectedOpen]) => expectedOpen) });
  });
});

describe('occurrences (D3-03, D3-04)', () => {
  it('a window over the repeated hour is one occurrence through both passes (D3-03)', () => {
    expect(list(plan(['Sun 01:15-01:45 America/New_York']), '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z')).toEqual([
      '2026-11-01T05:15:00Z 2026-11-01T06:45:00Z',
    ]);
  });

  it('entries that only the skipped hour keeps apart are one occurrence that night (D3-03, D3-04)', () => {
    const apart = plan(['Sun 01:00-02:00 America/New_York', 'Sun 03:00-04:00 America/New_York']);
    expect(list(apart, '2026-03-01T00:00:00Z', '2026-03-09T00:00:00Z')).toEqual([
      '2026-03-01T06:00:00Z 2026-03-01T07:00:00Z',
      '2026-03-01T08:00:00Z 2026-03-01T09:00:00Z',
      '2026-03-08T06:00:00Z 2026-03-08T08:00:00Z',
    ]);
  });

  it('every calendar date counts once, also the one of 25 hours (D3-03, PR-84)', () => {
    expect(list(plan(['Sun 00:00-01:00 Europe/London']), '2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z')).toEqual([
      '2026-10-03T23:00:00Z 2026-10-04T00:00:00Z',
      '2026-10-10T23:00:00Z 2026-10-11T00:00:00Z',
      '2026-10-17T23:00:00Z 2026-10-18T00:00:00Z',
      '2026-10-24T23:00:00Z 2026-10-25T00:00:00Z',
    ]);
  });

  it('an entry wholly inside the skipped hour has no occurrence that day (D3-03, PR-85)', () => {
    expect(list(plan(['Sun 02:15-02:45 America/New_York']), '2026-03-01T12:00:00Z', '2026-03-16T00:00:00Z')).toEqual([
      '2026-03-15T06:15:00Z 2026-03-15T06:45:00Z',
    ]);
  });

  it('touching entries are one occurrence (D3-04, PR-75)', () => {
    expect(
      list(plan(['Sat 22:00-24:00 UTC', 'Sun 00:00-04:00 UTC']), '2026-06-10T00:00:00Z', '2026-06-17T00:00:00Z'),
    ).toEqual(['2026-06-13T22:00:00Z 2026-06-14T04:00:00Z']);
  });

  it('the earlier end of one entry does not close another (R3.1-01, PR-76)', () => {
    expect(
      list(plan(['Thu 17:00-20:00 UTC', 'Thu 18:50-23:00 UTC']), '2026-06-11T21:00:00Z', '2026-06-11T21:00:01Z'),
    ).toEqual(['2026-06-11T17:00:00Z 2026-06-11T23:00:00Z']);
  });

  it.each([
    ['ends where the occurrence starts', '2026-06-09T00:00:00Z', '2026-06-09T17:00:00Z', 0],
    ['ends just after its start', '2026-06-09T00:00:00Z', '2026-06-09T17:00:00.001Z', 1],
    ['starts just before its end', '2026-06-09T20:59:59.999Z', '2026-06-09T22:00:00Z', 1],
    ['starts at its end', '2026-06-09T21:00:00Z', '2026-06-09T22:00:00Z', 0],
    ['is empty', '2026-06-09T18:00:00Z', '2026-06-09T18:00:00Z', 0],
  ])('a range that %s, %s to %s, holds %i (D3-04)', (_, from, to, count) => {
    expect(list(plan(['Wed,Sat 02:00-06:00 Asia/Tokyo']), from, to)).toHaveLength(count);
  });

  it('days that follow each other make one long occurrence (D3-04)', () => {
    const weekdaysOnly = plan(['Mon,Tue,Wed,Thu,Fri 00:00-24:00 Europe/Berlin']);
    expect(shown(occurrenceAt(weekdaysOnly, at('2026-06-11T12:00:00Z')) as Occurrence)).toBe(
      '2026-06-07T22:00:00Z 2026-06-12T22:00:00Z',
    );
  });

  it('days are listed once each, whatever the calendar keeps of them (D3-04)', () => {
    const midnight = plan(['daily 00:00-01:00 UTC']);
    const dates = Array.from({ length: 40 }, (_, i) => new Date(Date.UTC(2026, 5, 1 + i)).toISOString().slice(0, 10));
    const expected = dates.map((day) => `${day}T00:00:00Z ${day}T01:00:00Z`);
    expect(list(midnight, '2026-06-01T00:00:00Z', '2026-07-11T00:00:00Z')).toEqual(expected);
    expect(dates.map((day) => open(midnight, `${day}T00:00:00Z`))).toEqual(dates.map(() => true));
  });

  it('the next occurrence starts after the instant, not at it (R3.1-03)', () => {
    const tokyo = plan(['Wed,Sat 02:00-06:00 Asia/Tokyo']);
    expect(shown(nextOccurrence(tokyo, at('2026-06-09T16:59:59Z')) as Occurrence)).toBe(
      '2026-06-09T17:00:00Z 2026-06-09T21:00:00Z',
    );
    expect(shown(nextOccurrence(tokyo, at('2026-06-09T17:00:00Z')) as Occurrence)).toBe(
      '2026-06-12T17:00:00Z 2026-06-12T21:00:00Z',
    );
  });

  it('without entries there is no occurrence (R3.2-20)', () => {
    expect(occurrenceAt(plan([]), at('2026-06-09T17:00:00Z'))).toBeUndefined();
    expect(nextOccurrence(plan([]), at('2026-06-09T17:00:00Z'))).toBeUndefined();
  });
});

describe('a union that never closes (D3-02, R3.1-11)', () => {
  const always = ['daily 00:00-24:00 America/New_York'];

  it('is one occurrence without end, through every change of the clocks (D3-02)', () => {
    const occurrence = { start: beginning, end: 'never' };
    for (const text of ['2026-03-08T06:59:59Z', '2026-11-01T06:00:00Z', '2030-01-01T00:00:00Z']) {
      expect(occurrenceAt(plan(always), at(text))).toEqual(occurrence);
    }
    expect(occurrencesBetween(plan(always), at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z'))).toEqual([
      occurrence,
    ]);
    expect(nextOccurrence(plan(always), at('2026-01-01T00:00:00Z'))).toBeUndefined();
  });

  it('is interrupted by an exclusion and goes on without end after it (D3-06)', () => {
    const holidays = plan(always, [{ timezone: 'America/New_York', from: '2026-12-25', to: '2026-12-26' }]);
    expect(list(holidays, '2026-12-01T00:00:00Z', '2027-02-01T00:00:00Z')).toEqual([
      '1970-01-01T00:00:00Z 2026-12-25T05:00:00Z',
      '2026-12-27T05:00:00Z never',
    ]);
    expect(open(holidays, '2026-12-25T05:00:00Z')).toBe(false);
    expect(open(holidays, '2026-12-27T04:59:59.999Z')).toBe(false);
    expect(open(holidays, '2026-12-27T05:00:00Z')).toBe(true);
    expect(nextOccurrence(holidays, at('2026-12-27T05:00:00Z'))).toBeUndefined();
    expect(shown(nextOccurrence(holidays, at('2026-12-25T05:00:00Z')) as Occurrence)).toBe(
      '2026-12-27T05:00:00Z never',
    );
  });

  it('may be made of entries in several zones (D3-05)', () => {
    const covering = plan(['daily 00:00-13:00 Asia/Tokyo', 'daily 09:30-20:30 Asia/Kolkata']);
    const oneMinuteShort = plan(['daily 00:00-13:00 Asia/Tokyo', 'daily 09:31-20:30 Asia/Kolkata']);
    expect(occurrenceAt(covering, at('2026-06-10T00:00:00Z'))).toEqual({ start: beginning, end: 'never' });
    expect(shown(occurrenceAt(oneMinuteShort, at('2026-06-10T00:00:00Z')) as Occurrence)).toBe(
      '2026-06-09T04:01:00Z 2026-06-10T04:00:00Z',
    );
  });

  it('is not endless when a change of the clocks in one zone opens a gap within the year (D3-05)', () => {
    // Seamless in the American summer, an hour short in its winter.
    const seasonal = plan(['daily 20:00-08:00 America/New_York', 'daily 21:00-09:00 Asia/Tokyo']);
    const occurrence = occurrenceAt(seasonal, at('2026-06-10T12:00:00Z')) as Occurrence;
    expect(shown(occurrence)).toBe('2026-03-08T01:00:00Z 2026-11-02T00:00:00Z');
    expect(occurrenceAt(seasonal, at('2026-09-30T12:00:00Z'))).toEqual(occurrence);
  });
});

describe('a union that never closes though some combination of offsets would let it (D3-05)', () => {
  // Chicago changes its clocks an hour after New York. In that hour alone the two leave a gap on Wednesdays, and it is
  // a Sunday.
  const seamless = plan([
    'Mon,Tue,Thu,Fri,Sat,Sun 00:00-24:00 UTC',
    'Tue 19:00-07:00 America/New_York',
    'Wed 06:00-19:00 America/Chicago',
  ]);

  it('is open at every instant, in one occurrence (D3-05)', () => {
    for (const text of ['2026-06-10T11:30:00Z', '2026-03-11T11:00:00Z', '2026-12-02T12:00:00Z']) {
      expect(occurrenceAt(seamless, at(text))).toEqual({ start: beginning, end: 'never' });
    }
    expect(occurrencesBetween(seamless, at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z'))).toEqual([
      { start: beginning, end: 'never' },
    ]);
    expect(nextOccurrence(seamless, at('2026-06-10T00:00:00Z'))).toBeUndefined();
  });
});

describe('what is kept of a calendar (D3-08)', () => {
  const now = at('2026-06-10T00:00:00Z');
  const ask = (day: number) => calendarOf(plan([`Mon 00:00-01:00 UTC`], [exclusionOn(day)]), now);
  const exclusionOn = (day: number): Exclusion => {
    const date = new Date(Date.UTC(2030, 0, 1 + day)).toISOString().slice(0, 10);
    return { timezone: 'UTC', from: date, to: date };
  };

  it('is found again by content, for the latest 64 plans (D3-08)', () => {
    const first = ask(0);
    for (let day = 1; day < 64; day++) ask(day);
    expect(ask(0)).toBe(first);
    for (let day = 64; day < 128; day++) ask(day);
    expect(ask(0)).not.toBe(first);
  });

  it('is what has been looked at, once (D3-08)', () => {
    const calendar = ask(500);
    const before = occurrenceAround(calendar, at('2026-06-08T00:30:00Z'));
    expect(occurrenceAround(calendar, at('2026-06-08T00:30:00Z'))).toBe(before);
    expect(calendar.blocks.size).toBe(1);
  });

  it('is let go of when it is much: 1024 blocks of 16 days (D3-08)', () => {
    const calendar = ask(501);
    const block = days(16);
    countStarts(calendar, instant(0), instant(2 * block - 2));
    expect(calendar.blocks.size).toBe(2);
    countStarts(calendar, instant(0), instant(1_024 * block - 2));
    expect(calendar.blocks.size).toBe(1_024);
    countStarts(calendar, instant(1_024 * block), instant(1_024 * block));
    expect(calendar.blocks.size).toBe(1);
  });
});

describe('exclusions (D3-06)', () => {
  it.each([
    ['2026-06-10', '2026-06-10', '2026-06-10T00:00:00Z 2026-06-11T00:00:00Z'],
    ['2026-06-10', '2026-06-09', 'nothing'],
    ['2026-06-31', '2026-07-01', 'nothing'],
    ['2026-06-10', '2026-06-31', 'nothing'],
    ['soon', 'later', 'nothing'],
  ])('from %s to %s close %s (D3-06)', (from, to, expected) => {
    const closed = closedBy({ timezone: 'UTC', from, to });
    expect(closed === undefined ? 'nothing' : shown(closed)).toBe(expected);
  });

  it('leave nothing of an occurrence that ends with the last of their days (D3-06)', () => {
    const evening = plan(['daily 22:00-24:00 UTC'], [{ timezone: 'UTC', from: '2026-06-10', to: '2026-06-10' }]);
    expect(list(evening, '2026-06-09T12:00:00Z', '2026-06-12T00:00:00Z')).toEqual([
      '2026-06-09T22:00:00Z 2026-06-10T00:00:00Z',
      '2026-06-11T22:00:00Z 2026-06-12T00:00:00Z',
    ]);
  });

  const yearEnd: Exclusion = { timezone: 'Asia/Tokyo', from: '2026-12-29', to: '2027-01-04', reason: 'year end' };

  it('remove whole days of their zone, both ends included (D3-06)', () => {
    expect(
      list(plan(['Wed,Sat 02:00-06:00 Asia/Tokyo'], [yearEnd]), '2026-12-24T00:00:00Z', '2027-01-08T00:00:00Z'),
    ).toEqual(['2026-12-25T17:00:00Z 2026-12-25T21:00:00Z', '2027-01-05T17:00:00Z 2027-01-05T21:00:00Z']);
  });

  it('cut an occurrence that only partly lies in them (D3-06)', () => {
    const newYork = plan(
      ['Mon 20:00-04:00 America/New_York'],
      [{ timezone: 'UTC', from: '2026-06-09', to: '2026-06-09' }],
    );
    const across = plan(['daily 12:00-06:00 UTC'], [{ timezone: 'UTC', from: '2026-06-09', to: '2026-06-09' }]);
    expect(list(newYork, '2026-06-08T00:00:00Z', '2026-06-10T12:00:00Z')).toEqual([]);
    expect(list(across, '2026-06-08T13:00:00Z', '2026-06-10T01:00:00Z')).toEqual([
      '2026-06-08T12:00:00Z 2026-06-09T00:00:00Z',
      '2026-06-10T00:00:00Z 2026-06-10T06:00:00Z',
    ]);
  });

  it('a day without midnight is excluded whole (D3-06)', () => {
    const cairo = plan(
      ['daily 00:00-03:00 Africa/Cairo'],
      [{ timezone: 'Africa/Cairo', from: '2026-04-24', to: '2026-04-24' }],
    );
    expect(list(cairo, '2026-04-23T00:00:00Z', '2026-04-25T12:00:00Z').map((text) => text.slice(0, 20))).toEqual([
      '2026-04-22T22:00:00Z',
      '2026-04-24T21:00:00Z',
    ]);
  });

  it('a very long one is looked across for 400 days only (D3-06)', () => {
    const closed = plan(['Wed 02:00-06:00 UTC'], [{ timezone: 'UTC', from: '2026-01-01', to: '2126-01-01' }]);
    expect(nextOccurrence(closed, at('2026-06-01T00:00:00Z'))).toBeUndefined();
    expect(occurrenceAt(closed, at('2026-06-03T03:00:00Z'))).toBeUndefined();
  });
});
