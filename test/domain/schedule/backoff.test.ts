import { describe, expect, it } from 'vitest';
import { retryAt } from '../../../lib/domain/schedule/backoff.ts';
import { formatInstant } from '../../../lib/domain/time.ts';
import { aPolicy, at, lasting } from '../../support/builders.ts';
import { entries } from './entries.ts';

const policy = (retryBackoff: string, ...windows: readonly string[]) =>
  aPolicy({
    surge: { retryBackoff: lasting(retryBackoff) },
    windows: entries(...(windows.length > 0 ? windows : ['Wed 02:00-06:00 UTC'])),
  });
const wednesday = (time: string) => at(`2026-06-10T${time}Z`);

describe('the wait after a failure', () => {
  it.each([
    ['first', 1, '03:00:00'],
    ['second', 2, '03:10:00'],
    ['third', 3, '03:30:00'],
    ['fourth', 4, '04:10:00'],
    ['fifth, no longer than the fourth', 5, '04:10:00'],
    ['hundredth', 100, '04:10:00'],
  ])('doubles up to eight times retryBackoff: %s failure (R3.2-08)', (_, count, expected) => {
    const retry = retryAt(policy('10m'), wednesday('02:50:00'), count, wednesday('02:50:00'));
    expect(formatInstant(retry)).toBe(`2026-06-10T${expected}Z`);
  });

  it.each([
    ['the escalated wait fits', '05:19:59', 3, '05:59:59'],
    ['it would land at the close', '05:20:00', 3, '05:40:00'],
    ['05:35 after two earlier failures', '05:35:00', 3, '05:55:00'],
    ['only the first step lands before the close', '05:49:59', 4, '05:59:59'],
    ['not even retryBackoff fits: it lands at the close', '05:50:00', 3, '06:30:00'],
    ['05:52', '05:52:00', 3, '06:32:00'],
  ])('is the longest that ends inside the occurrence: %s (R3.2-09, R3.2-10, PR-64)', (_, failedAt, count, expected) => {
    const retry = retryAt(policy('10m'), wednesday(failedAt), count, wednesday('05:55:00'));
    expect(formatInstant(retry)).toBe(`2026-06-10T${expected}Z`);
  });

  it('is not shortened while the window is shut (R3.2-11)', () => {
    expect(formatInstant(retryAt(policy('10m'), wednesday('05:35:00'), 3, wednesday('06:00:00')))).toBe(
      '2026-06-10T06:15:00Z',
    );
  });

  it('is not shortened for a failure outside the present occurrence (R3.2-11)', () => {
    const daily = policy('1h', 'daily 02:00-06:00 UTC');
    expect(formatInstant(retryAt(daily, at('2026-06-10T01:59:59Z'), 4, wednesday('02:00:00')))).toBe(
      '2026-06-10T09:59:59Z',
    );
    expect(formatInstant(retryAt(daily, at('2026-06-10T02:00:00Z'), 4, wednesday('02:00:00')))).toBe(
      '2026-06-10T04:00:00Z',
    );
    expect(formatInstant(retryAt(daily, at('2026-06-09T05:00:00Z'), 4, wednesday('02:00:00')))).toBe(
      '2026-06-09T13:00:00Z',
    );
  });

  it('is judged by the schedule as it is now: joined occurrences shorten it, split ones do not (R3.2-11)', () => {
    const failedAt = wednesday('03:00:00');
    const now = wednesday('05:00:00');
    const joined = policy('1h', 'Wed 02:00-06:00 UTC');
    const split = policy('1h', 'Wed 02:00-04:00 UTC', 'Wed 04:30-06:00 UTC');
    expect(formatInstant(retryAt(joined, failedAt, 4, now))).toBe('2026-06-10T05:00:00Z');
    expect(formatInstant(retryAt(split, failedAt, 4, now))).toBe('2026-06-10T11:00:00Z');
  });

  it('stands in full after a failure that the clocks put at the close, or past it (R3.2-11)', () => {
    for (const failedAt of ['06:00:00', '06:10:00']) {
      const retry = retryAt(policy('10m'), wednesday(failedAt), 3, wednesday('05:59:59'));
      expect(retry - wednesday(failedAt)).toBe(lasting('40m'));
    }
  });

  it('is shortened for a failure at the very opening (R3.2-11)', () => {
    expect(formatInstant(retryAt(policy('1h'), wednesday('02:00:00'), 4, wednesday('02:00:00')))).toBe(
      '2026-06-10T04:00:00Z',
    );
  });

  it.each([0, -1])('counts at least one failure: %i (R3.2-08)', (count) => {
    expect(formatInstant(retryAt(policy('10m'), wednesday('02:50:00'), count, wednesday('02:50:00')))).toBe(
      '2026-06-10T03:00:00Z',
    );
  });

  it('stands in full in a window that never closes (R3.2-09)', () => {
    expect(
      formatInstant(retryAt(policy('10m', 'daily 00:00-24:00 UTC'), wednesday('05:35:00'), 4, wednesday('05:35:00'))),
    ).toBe('2026-06-10T06:55:00Z');
  });

  it('counts failures whatever the clamp did (R3.2-12)', () => {
    const clamped = retryAt(policy('10m'), wednesday('05:35:00'), 4, wednesday('05:40:00'));
    const nextWeek = retryAt(policy('10m'), at('2026-06-17T02:00:00Z'), 5, at('2026-06-17T02:00:00Z'));
    expect([formatInstant(clamped), formatInstant(nextWeek)]).toEqual(['2026-06-10T05:55:00Z', '2026-06-17T03:20:00Z']);
  });
});
