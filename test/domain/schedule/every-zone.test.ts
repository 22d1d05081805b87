/** A year of occurrences in every zone that the runtime knows: it ends, and nothing overlaps. */
import { describe, expect, it } from 'vitest';
import { occurrencesBetween } from '../../../lib/domain/schedule/calendar.ts';
import { hours } from '../../../lib/domain/time.ts';
import { at } from '../../support/builders.ts';

describe('every zone of the world (D3-03)', () => {
  it('has its occurrences in order, apart, and of positive length (D3-03, D3-04)', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    expect(zones.length).toBeGreaterThan(400);
    for (const timezone of zones) {
      const found = occurrencesBetween(
        { windows: [{ timezone, days: ['Sat', 'Sun', 'Thu'], start: 23 * 60, end: 60 }], exclusions: [] },
        at('2026-01-01T00:00:00Z'),
        at('2027-01-01T00:00:00Z'),
      );
      expect(found.length, timezone).toBeGreaterThan(150);
      for (const [i, { start, end }] of found.entries()) {
        expect(end === 'never' ? Number.NaN : end - start, timezone).toBeGreaterThanOrEqual(hours(1));
        expect(start, timezone).toBeGreaterThan((found[i - 1]?.end as number | undefined) ?? 0);
      }
    }
  });
});
