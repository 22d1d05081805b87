/**
 * What the recurring week promises, held against ten years of the real calendar.
 *
 * P is arithmetic on wall clocks. A change of the clocks moves one wait by its shift; two things it can do besides are
 * left out here and looked up on the calendar by D3-07: an entry that lies wholly in the skipped hour is missing that
 * day, and entries no further apart than the shift may become one occurrence.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WindowEntry } from '../../../lib/domain/policy/rotation-policy.ts';
import { weekdays } from '../../../lib/domain/policy/rotation-policy.ts';
import type { Occurrence } from '../../../lib/domain/schedule/calendar.ts';
import { occurrencesBetween } from '../../../lib/domain/schedule/calendar.ts';
import { windowPeriods } from '../../../lib/domain/schedule/window.ts';
import type { Instant } from '../../../lib/domain/time.ts';
import { hours, minutes } from '../../../lib/domain/time.ts';
import { at } from '../../support/builders.ts';
import { runs } from '../../support/properties.ts';

const steady = ['UTC', 'Asia/Tokyo', 'Asia/Kathmandu'];
const changing = [
  'America/New_York',
  'Europe/London',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'America/Santiago',
  'Asia/Tokyo',
];
const shift = hours(1);
const years = Array.from({ length: 10 }, (_, i) => 2026 + i);
const newYear = (year: number): Instant => at(`${year}-01-01T00:00:00Z`);

const lengthOf = ({ start, end }: WindowEntry): number => minutes(end > start ? end - start : end - start + 1440);
const entryIn = (zones: readonly string[]): fc.Arbitrary<WindowEntry> =>
  fc
    .record({
      timezone: fc.constantFrom(...zones),
      days: fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }),
      start: fc.integer({ min: 0, max: 1439 }),
      end: fc.integer({ min: 1, max: 1440 }),
    })
    .filter(({ start, end }) => start !== end);

/** The longest wait from one start to the next. */
const longestWait = (found: readonly Occurrence[]): number =>
  Math.max(...found.slice(1).map(({ start }, i) => start - (found[i]?.start as number)));

describe('P over ten years', () => {
  it('is the longest wait there is, where clocks never change (R3.1-10)', () => {
    let looked = 0;
    fc.assert(
      fc.property(fc.array(entryIn(steady), { minLength: 1, maxLength: 3 }), (windows) => {
        const { worstCasePeriod, endless } = windowPeriods(windows, newYear(2026));
        if (endless) return;
        looked++;
        const found = occurrencesBetween({ windows, exclusions: [] }, newYear(2026), newYear(2036));
        expect(longestWait(found)).toBe(worstCasePeriod);
      }),
      runs(40),
    );
    expect(looked).toBeGreaterThan(0);
  });

  it('is exceeded by no more than the shift, where they change (R3.1-12, D3-05)', () => {
    let looked = 0;
    let exceeded = 0;
    const entries = fc.array(
      entryIn(changing).filter((entry) => lengthOf(entry) > shift),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(entries, (windows) => {
        for (const year of years) {
          const { worstCasePeriod, idleGap, endless } = windowPeriods(windows, newYear(year));
          if (endless || idleGap === null || idleGap <= shift) continue;
          looked++;
          const found = occurrencesBetween({ windows, exclusions: [] }, newYear(year), newYear(year + 1));
          expect(longestWait(found)).toBeLessThanOrEqual(worstCasePeriod + shift);
          if (longestWait(found) > worstCasePeriod) exceeded++;
        }
      }),
      runs(40),
    );
    expect(looked).toBeGreaterThan(0);
    // Otherwise the bound would be looser than need be.
    expect(exceeded).toBeGreaterThan(0);
  });
});
