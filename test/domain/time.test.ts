import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  calendarDate,
  daysSinceEpoch,
  formatDuration,
  formatInstant,
  instant,
  parseGoDuration,
  parseInstant,
  parseKarpenterDuration,
  wholeSecond,
} from '../../lib/domain/time.ts';

describe('instants', () => {
  it.each([
    ['2026-06-09T17:00:00Z', Date.UTC(2026, 5, 9, 17)],
    ['2026-06-19T14:17:00-04:00', Date.UTC(2026, 5, 19, 18, 17)],
    ['2026-06-09t17:00:00.5z', Date.UTC(2026, 5, 9, 17, 0, 0, 500)],
    ['2026-06-09T17:00:00.123456789+09:00', Date.UTC(2026, 5, 9, 8, 0, 0, 123)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['1969-12-31T23:59:59Z', -1000],
  ])('reads %s with its offset (PR-78)', (text, ms) => {
    expect(parseInstant(text)).toBe(ms);
  });

  it.each([
    '',
    '2026-06-09',
    '2026-06-09T17:00:00',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-06-09T24:00:00Z',
    '2026-06-09T17:00:60Z',
    '2026-06-09T17:60:00Z',
    '2026-06-09T17:00:00+24:00',
    ' 2026-06-09T17:00:00Z',
    '1780000000',
  ])('refuses %j instead of guessing (D5-06)', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  it('writes what it reads, and agrees with the platform (D5-01)', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1601, 0, 1), max: Date.UTC(9999, 11, 31) }), (ms) => {
        const text = formatInstant(instant(ms));
        expect(parseInstant(text)).toBe(ms);
        expect(Date.parse(text)).toBe(ms);
      }),
    );
  });

  it('counts days like the calendar, both ways (D3-03)', () => {
    fc.assert(
      fc.property(fc.integer({ min: -200_000, max: 2_900_000 }), (dayNumber) => {
        const { year, month, dayOfMonth } = calendarDate(dayNumber);
        expect(daysSinceEpoch(year, month, dayOfMonth)).toBe(dayNumber);
        expect(new Date(dayNumber * 86_400_000).getUTCDate()).toBe(dayOfMonth);
      }),
    );
  });

  it('rounds down to the whole second of a creationTimestamp (D5-01)', () => {
    expect(wholeSecond(instant(1_999))).toBe(1_000);
    expect(wholeSecond(instant(2_000))).toBe(2_000);
    expect(wholeSecond(instant(-1))).toBe(-1_000);
  });
});

describe('durations', () => {
  it.each([
    ['336h', 1_209_600_000],
    ['336h0m0s', 1_209_600_000],
    ['1h30m', 5_400_000],
    ['0s', 0],
    ['90s', 90_000],
  ])("reads Karpenter's %s (PR-119, D2-02)", (text, ms) => {
    expect(parseKarpenterDuration(text)).toBe(ms);
  });

  it.each(['30d', '1hr', 'Never', '', '1.5h', '-1h', '10', 'h', '500ms', '1h ', '99999999999999999999h'])(
    'refuses %j in a Karpenter field (PR-119, D2-02)',
    (text) => {
      expect(parseKarpenterDuration(text)).toBeUndefined();
    },
  );

  it('reads milliseconds in a policy (D2-02)', () => {
    expect(parseGoDuration('1m500ms')).toBe(60_500);
  });

  it.each([
    [4_620_000, '1h17m'],
    [0, '0s'],
    [500, '500ms'],
    [-4_620_000, '-1h17m'],
    [1_209_600_000, '336h'],
    [3_600_001, '1h1ms'],
  ])('prints %i ms without zero units as %s (D2-02)', (ms, text) => {
    expect(formatDuration(ms as never)).toBe(text);
  });

  it('prints what it reads (D2-02)', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 43 }), (ms) => {
        expect(parseGoDuration(formatDuration(ms as never))).toBe(ms);
      }),
    );
  });
});
