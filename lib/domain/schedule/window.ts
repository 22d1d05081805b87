/**
 * The recurring week of a policy's windows: how far apart its occurrences are, how long they last, how long it is shut.
 *
 * This is arithmetic on wall clocks, so changes of the clocks do not show in it. Entries in several zones move against
 * each other when one zone changes its clocks and another does not; then the least favourable combination counts.
 */
import type { RotationPolicy, WindowEntry } from '../policy/rotation-policy.ts';
import { weekdays } from '../policy/rotation-policy.ts';
import type { Duration, Instant } from '../time.ts';
import { add, day, days, duration, instant, longer, minute, minutes, shorter, zero } from '../time.ts';
import { offsetCombinations } from '../wall-clock.ts';

/** How often the controller looks, and so the period of a window that never closes. @design R3.1-02, R3.1-11 */
export const tick: Duration = minutes(1);
const week = days(7);
const year = days(366);

export interface WindowPeriods {
  /**
   * P: the longest wait, start to start, between two occurrences; one tick when the union never closes, 0 when it never
   * opens.
   */
  readonly worstCasePeriod: Duration;
  /** D: the length of the shortest occurrence; 7 days when the union never closes. */
  readonly occurrenceLength: Duration;
  /** The shortest closed stretch between two occurrences; null when there is none. */
  readonly idleGap: Duration | null;
  /** The union never closes. */
  readonly endless: boolean;
}

const noOccurrence: WindowPeriods = { worstCasePeriod: zero, occurrenceLength: zero, idleGap: null, endless: false };
const alwaysOpen: WindowPeriods = { worstCasePeriod: tick, occurrenceLength: week, idleGap: null, endless: true };

/**
 * The periods of the union of all entries. Touching and overlapping occurrences are one.
 *
 * For entries in several zones every combination of offsets that occurs in the 12 months after the UTC day of `at` is
 * looked at: P is the largest, D and the gap are the smallest, and the union is endless only if it is so in all.
 *
 * @design R3.1-10, R3.1-11, R3.1-12, D3-02, D3-04, D3-05
 */
export function windowPeriods(windows: RotationPolicy['windows'], at: Instant): WindowPeriods {
  const today = Math.floor(at / day);
  const known = byIdentity.get(windows);
  if (known?.today === today) return known.periods;
  const zones = [...new Set(windows.map(({ timezone }) => timezone))];
  const key = JSON.stringify([zones.length > 1 ? today : null, windows]);
  const periods = byContent.get(key) ?? periodsOf(windows, zones, instant(today * day));
  byIdentity.set(windows, { today, periods });
  byContent.set(key, periods);
  if (byContent.size > kept) byContent.delete(byContent.keys().next().value as string);
  return periods;
}

// The same policy is decoded anew in every tick, so its content is what is recognised; identity only saves the spelling
// out for the thousands of claims within one tick.
const byIdentity = new WeakMap<RotationPolicy['windows'], { today: number; periods: WindowPeriods }>();
const byContent = new Map<string, WindowPeriods>();
const kept = 64;

function periodsOf(windows: readonly WindowEntry[], zones: readonly string[], from: Instant): WindowPeriods {
  const combinations = zones.length < 2 ? [zones.map(() => zero)] : offsetCombinations(zones, from, add(from, year));
  return combinations
    .map((offsets) => periodsOfWeek(unionOfWeek(windows, new Map(zones.map((zone, i) => [zone, offsets[i] ?? zero])))))
    .reduce(leastFavourable);
}

/** A stretch of the week in milliseconds; the last one may reach into the next week. */
interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The merged occurrences of the week in order, their starts inside [0, 7d); one of at least 7 days when never shut. */
function unionOfWeek(windows: readonly WindowEntry[], offsets: ReadonlyMap<string, Duration>): Stretch[] {
  const stretches = windows.flatMap(({ timezone, days: startDays, start, end }) =>
    startDays.map((weekday) => {
      const local = weekdays.indexOf(weekday) * day + start * minute - (offsets.get(timezone) ?? zero);
      const begins = ((local % week) + week) % week;
      return { start: begins, end: begins + windowLength({ start, end }) };
    }),
  );
  const merged = mergeStretches(stretches);
  // What reaches past the end of the week meets the week's beginning.
  while (merged.length > 1) {
    const [first, last] = [merged[0] as Stretch, merged.at(-1) as Stretch];
    if (last.end - week < first.start) break;
    merged.shift();
    merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, first.end + week) };
  }
  return merged;
}

/** The wall-clock length of one occurrence of an entry; an end before the start lies on the next day. @design D3-02 */
const windowLength = ({ start, end }: Pick<WindowEntry, 'start' | 'end'>): Duration =>
  duration((end < start ? end - start + 24 * 60 : end - start) * minute);

/** Sorted by start, with everything that touches or overlaps made one. @design D3-04 */
export function mergeStretches<T extends Stretch>(stretches: readonly T[]): T[] {
  const merged: T[] = [];
  for (const next of stretches.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last === undefined || next.start > last.end) merged.push(next);
    else if (next.end > last.end) merged[merged.length - 1] = { ...last, end: next.end };
  }
  return merged;
}

function periodsOfWeek(union: readonly Stretch[]): WindowPeriods {
  if (union.length === 0) return noOccurrence;
  if (union.some(({ start, end }) => end - start >= week)) return alwaysOpen;
  const following = union.map((_, i) => union[i + 1]?.start ?? (union[0] as Stretch).start + week);
  return {
    worstCasePeriod: duration(Math.max(...union.map(({ start }, i) => (following[i] as number) - start))),
    occurrenceLength: duration(Math.min(...union.map(({ start, end }) => end - start))),
    idleGap: duration(Math.min(...union.map(({ end }, i) => (following[i] as number) - end))),
    endless: false,
  };
}

const leastFavourable = (a: WindowPeriods, b: WindowPeriods): WindowPeriods => ({
  worstCasePeriod: longer(a.worstCasePeriod, b.worstCasePeriod),
  occurrenceLength: shorter(a.occurrenceLength, b.occurrenceLength),
  idleGap: a.idleGap === null ? b.idleGap : b.idleGap === null ? a.idleGap : shorter(a.idleGap, b.idleGap),
  endless: a.endless && b.endless,
});
