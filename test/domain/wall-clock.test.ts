import { describe, expect, it } from 'vitest';
import { formatInstant, hours, minutes } from '../../lib/domain/time.ts';
import {
  closesAt,
  isKnownZone,
  offsetAt,
  offsetCombinations,
  opensAt,
  parseDate,
  wallTimeAt,
  weekdayOf,
} from '../../lib/domain/wall-clock.ts';
import { at } from '../support/builders.ts';

const date = (text: string): number => parseDate(text) as number;
const wall = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

describe('zones', () => {
  it.each([
    ['Asia/Tokyo', true],
    ['UTC', true],
    ['Europe/Kyiv', true],
    ['Europe/Kiev', true],
    ['Etc/GMT+9', true],
    ['America/Argentina/Buenos_Aires', true],
    ['Asia/Tokio', false],
    ['+09:00', false],
    ['+0900', false],
    ['-03', false],
    ['UTC+9', false],
    ['local', false],
    ['', false],
    ['__proto__', false],
  ])('%s is a known zone: %s (D2-04, PR-81, PR-82)', (name, known) => expect(isKnownZone(name)).toBe(known));

  it('an old and a new name mean the same clock (PR-82)', () => {
    for (const text of ['2026-01-15T00:00:00Z', '2026-07-15T00:00:00Z']) {
      expect(offsetAt('Europe/Kyiv', at(text))).toBe(offsetAt('Europe/Kiev', at(text)));
    }
  });

  it('combinations of offsets are those that occur at one and the same instant (D3-05)', () => {
    const found = offsetCombinations(
      ['America/New_York', 'Europe/London'],
      at('2026-06-01T00:00:00Z'),
      at('2027-06-01T00:00:00Z'),
    );
    // Summer in both, London back before New York, winter in both, and New York ahead of London in March.
    expect(found.map((offsets) => offsets.map((offset) => offset / hours(1)).join()).sort()).toEqual([
      '-4,0',
      '-4,1',
      '-5,0',
    ]);
  });

  it('a shorter range holds fewer combinations (D3-05)', () => {
    const found = offsetCombinations(
      ['America/New_York', 'Europe/London'],
      at('2026-06-01T00:00:00Z'),
      at('2026-07-01T00:00:00Z'),
    );
    expect(found).toEqual([[hours(-4), hours(1)]]);
  });
});

describe('dates', () => {
  it.each([
    ['2026-06-09', 'Tue'],
    ['1970-01-01', 'Thu'],
    ['1969-12-31', 'Wed'],
    ['2024-02-29', 'Thu'],
  ])('%s is a %s (D3-01)', (text, weekday) => expect(weekdayOf(date(text))).toBe(weekday));

  it.each(['2026-02-29', '2026-13-01', '2026-00-10', '2026-6-9', '20260609', ''])('%s is no date (D2-04)', (text) =>
    expect(parseDate(text)).toBeUndefined(),
  );

  it('weekday and time come from the same zone (D3-01, PR-77)', () => {
    expect(wallTimeAt('America/Chicago', at('2026-06-13T02:59:59Z'))).toEqual({
      date: date('2026-06-12'),
      weekday: 'Fri',
      timeOfDay: hours(21) + minutes(59) + 59_000,
    });
  });
});

describe('wall times on real instants (D3-03)', () => {
  it.each([
    ['an ordinary night', 'Asia/Tokyo', '2026-06-10', '02:00', '2026-06-09T17:00:00Z', '2026-06-09T17:00:00Z'],
    ['a skipped time', 'America/New_York', '2026-03-08', '02:30', '2026-03-08T07:00:00Z', '2026-03-08T07:00:00Z'],
    [
      'the first skipped minute',
      'America/New_York',
      '2026-03-08',
      '02:00',
      '2026-03-08T07:00:00Z',
      '2026-03-08T07:00:00Z',
    ],
    [
      'the first minute after the gap',
      'America/New_York',
      '2026-03-08',
      '03:00',
      '2026-03-08T07:00:00Z',
      '2026-03-08T07:00:00Z',
    ],
    ['a repeated time', 'America/New_York', '2026-11-01', '01:30', '2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z'],
    [
      'the start of the repeated hour',
      'America/New_York',
      '2026-11-01',
      '01:00',
      '2026-11-01T05:00:00Z',
      '2026-11-01T05:00:00Z',
    ],
    [
      'the end of the repeated hour',
      'America/New_York',
      '2026-11-01',
      '02:00',
      '2026-11-01T07:00:00Z',
      '2026-11-01T07:00:00Z',
    ],
    [
      'a repeated half hour',
      'Australia/Lord_Howe',
      '2026-04-05',
      '01:45',
      '2026-04-04T14:45:00Z',
      '2026-04-04T15:15:00Z',
    ],
    [
      'a midnight that does not exist',
      'Africa/Cairo',
      '2026-04-24',
      '00:00',
      '2026-04-23T22:00:00Z',
      '2026-04-23T22:00:00Z',
    ],
    [
      'a date that does not exist',
      'Pacific/Apia',
      '2011-12-30',
      '12:00',
      '2011-12-30T10:00:00Z',
      '2011-12-30T10:00:00Z',
    ],
    ['the end of a day', 'Asia/Tokyo', '2026-06-10', '24:00', '2026-06-10T15:00:00Z', '2026-06-10T15:00:00Z'],
  ])('%s: %s %s %s', (_, zone, day, time, opens, closes) => {
    expect(formatInstant(opensAt(zone, date(day), wall(time)))).toBe(opens);
    expect(formatInstant(closesAt(zone, date(day), wall(time)))).toBe(closes);
  });
});
