import { describe, expect, it } from 'vitest';
import type { WindowPeriods } from '../../../lib/domain/schedule/window.ts';
import { windowPeriods } from '../../../lib/domain/schedule/window.ts';
import { formatDuration } from '../../../lib/domain/time.ts';
import { at } from '../../support/builders.ts';
import { entries } from './entries.ts';

const june = at('2026-06-10T00:00:00Z');
const shown = ({ worstCasePeriod, occurrenceLength, idleGap, endless }: WindowPeriods): string =>
  [worstCasePeriod, occurrenceLength].map(formatDuration).join(' ') +
  ` ${idleGap === null ? 'none' : formatDuration(idleGap)} ${endless}`;
const periods = (...texts: readonly string[]): string => shown(windowPeriods(entries(...texts), june));

describe('P, D and the gap of the recurring week (R3.1-10, D3-05)', () => {
  it.each([
    ['twice a week (R3.1-10)', ['Wed,Sat 02:00-06:00 Asia/Tokyo'], '96h 4h 68h false'],
    ['once a week (R3.1-10)', ['Sat 02:00-06:00 Asia/Tokyo'], '168h 4h 164h false'],
    ['four days in a row, PR-02 (R3.1-10)', ['Mon,Tue,Wed,Thu 10:00-18:00 UTC'], '96h 8h 16h false'],
    ['touching entries, PR-75 (D3-04)', ['Sat 22:00-24:00 UTC', 'Sun 00:00-04:00 UTC'], '168h 6h 162h false'],
    ['overlapping entries, PR-76 (D3-04)', ['Thu 17:00-20:00 UTC', 'Thu 18:50-23:00 UTC'], '168h 6h 162h false'],
    ['across midnight, PR-73 (D3-02)', ['Fri 22:00-02:00 Asia/Tokyo'], '168h 4h 164h false'],
    ['across the end of the week (D3-02)', ['Sun 22:00-02:00 UTC', 'Mon 01:00-03:00 UTC'], '168h 5h 163h false'],
    ['touching at the end of the week (D3-04)', ['Sun 22:00-24:00 UTC', 'Mon 00:00-02:00 UTC'], '168h 4h 164h false'],
    ['of the same end (D3-04)', ['Thu 17:00-20:00 UTC', 'Thu 18:00-20:00 UTC'], '168h 3h 165h false'],
    [
      'across the end of the week, met by several (D3-04)',
      ['Sun 22:00-21:00 UTC', 'Mon 01:00-02:00 UTC', 'Mon 20:00-23:00 UTC'],
      '168h 25h 143h false',
    ],
    ['the shortest of several occurrences (D3-05)', ['Mon 00:00-01:00 UTC', 'Thu 00:00-08:00 UTC'], '96h 1h 71h false'],
    ['24/7 in one entry (R3.1-11, D3-02)', ['daily 00:00-24:00 Europe/Berlin'], '1m 168h none true'],
    ['24/7 in two entries (R3.1-11)', ['daily 00:00-12:00 UTC', 'daily 12:00-24:00 UTC'], '1m 168h none true'],
    ['24/7 across midnight (R3.1-11)', ['daily 06:00-05:00 UTC', 'daily 04:00-07:00 UTC'], '1m 168h none true'],
    ['one minute short of 24/7 (R3.1-11)', ['daily 00:00-23:59 UTC'], '24h 23h59m 1m false'],
    ['all but one day (R3.1-10)', ['Mon,Tue,Wed,Thu,Fri,Sat 00:00-24:00 UTC'], '168h 144h 24h false'],
  ] as const)('%s', (_, texts, expected) => expect(periods(...texts)).toBe(expected));

  it('no windows have no period (R3.2-20)', () => expect(periods()).toBe('0s 0s none false'));

  it('one zone has the same periods all year, however its clocks change (R3.1-12)', () => {
    const windows = entries('Sun 01:00-04:00 America/New_York', 'Wed 01:00-04:00 America/New_York');
    for (const text of ['2026-03-07T00:00:00Z', '2026-03-09T00:00:00Z', '2026-11-02T00:00:00Z']) {
      expect(shown(windowPeriods(windows, at(text)))).toBe('96h 3h 69h false');
    }
  });

  it('entries in two zones count with the least favourable offsets of the next 12 months (D3-05)', () => {
    // Tokyo 02:00–04:00 is 17:00–19:00Z; New York 13:00–15:00 is 17:00–19:00Z in summer, 18:00–20:00Z in winter.
    const windows = entries('Wed 02:00-04:00 Asia/Tokyo', 'Tue 13:00-15:00 America/New_York');
    expect(shown(windowPeriods(windows, june))).toBe('168h 2h 165h false');
    const apart = entries('Wed 02:00-04:00 Asia/Tokyo', 'Sun 13:00-15:00 America/New_York');
    // Winter moves the Sunday an hour later: the wait until it grows, the wait after it shrinks.
    expect(shown(windowPeriods(apart, june))).toBe('121h 2h 45h false');
    expect(shown(windowPeriods(apart, at('2026-12-01T00:00:00Z')))).toBe('121h 2h 45h false');
  });

  it('a union in two zones that closes in winter is not endless in summer (D3-05)', () => {
    const windows = entries('daily 20:00-08:00 America/New_York', 'daily 21:00-09:00 Asia/Tokyo');
    expect(shown(windowPeriods(windows, june))).toBe('24h 23h 1h false');
    expect(shown(windowPeriods(windows, at('2026-12-01T00:00:00Z')))).toBe('24h 23h 1h false');
  });

  it('no more than 64 answers are kept (D3-05)', () => {
    const ask = (minute: number) => windowPeriods([{ timezone: 'UTC', days: ['Mon'], start: minute, end: 1440 }], june);
    const first = ask(0);
    for (let minute = 1; minute < 64; minute++) ask(minute);
    expect(ask(0)).toBe(first);
    for (let minute = 64; minute < 128; minute++) ask(minute);
    expect(ask(0)).not.toBe(first);
    expect(ask(0)).toEqual(first);
  });

  it('the answer is kept for the UTC day and the content of the windows (D3-05)', () => {
    const texts = ['Wed 02:00-04:00 Asia/Tokyo', 'Sun 13:00-15:00 America/New_York'];
    const first = windowPeriods(entries(...texts), at('2026-06-10T00:00:00Z'));
    expect(windowPeriods(entries(...texts), at('2026-06-10T23:59:59.999Z'))).toBe(first);
    expect(windowPeriods(entries(...texts), at('2026-06-11T00:00:00Z'))).not.toBe(first);
    const oneZone = ['Wed 02:00-04:00 Asia/Tokyo'];
    expect(windowPeriods(entries(...oneZone), at('2027-06-11T00:00:00Z'))).toBe(
      windowPeriods(entries(...oneZone), june),
    );
  });
});
