import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exclusion, WindowEntry } from '../../../lib/domain/policy/rotation-policy.ts';
import { weekdays } from '../../../lib/domain/policy/rotation-policy.ts';
import { nextOccurrence, occurrenceAt, occurrencesBetween } from '../../../lib/domain/schedule/calendar.ts';
import { poolFindings } from '../../../lib/domain/schedule/feasibility.ts';
import { dueness, rotationBound } from '../../../lib/domain/schedule/lead-time.ts';
import { windowPeriods } from '../../../lib/domain/schedule/window.ts';
import type { Duration, Instant } from '../../../lib/domain/time.ts';
import { add, days, formatDay, hours, instant, latest, minutes, subtract, times } from '../../../lib/domain/time.ts';
import { parseDate, wallTimeAt } from '../../../lib/domain/wall-clock.ts';
import { aClaim, aPolicy, aPool, at } from '../../support/builders.ts';
import { runs } from '../../support/properties.ts';

const start2026 = at('2026-01-01T00:00:00Z');
const zones = [
  'UTC',
  'Asia/Tokyo',
  'America/New_York',
  'Europe/London',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'America/Santiago',
  'Asia/Kathmandu',
];
const steadyZones = ['UTC', 'Asia/Tokyo', 'Asia/Kathmandu'];

const instants = fc.integer({ min: 0, max: 364 * 24 * 60 }).map((minute) => instant(start2026 + minute * 60_000));
const entryIn = (from: readonly string[]): fc.Arbitrary<WindowEntry> =>
  fc
    .record({
      timezone: fc.constantFrom(...from),
      days: fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }),
      start: fc.integer({ min: 0, max: 1439 }),
      end: fc.integer({ min: 1, max: 1440 }),
    })
    .filter(({ start, end }) => start !== end);
const exclusions: fc.Arbitrary<Exclusion[]> = fc.array(
  fc
    .record({ timezone: fc.constantFrom(...zones), first: instants, length: fc.integer({ min: 0, max: 20 }) })
    .map(({ timezone, first, length }) => ({
      timezone,
      from: formatDay(first),
      to: formatDay(add(first, days(length))),
    })),
  { maxLength: 3 },
);
const plans = fc.record({ windows: fc.array(entryIn(zones), { minLength: 1, maxLength: 4 }), exclusions });

const excludedAt = (excluded: readonly Exclusion[], now: Instant): boolean =>
  excluded.some(({ timezone, from, to }) => {
    const { date } = wallTimeAt(timezone, now);
    return date >= (parseDate(from) as number) && date <= (parseDate(to) as number);
  });

/** Membership straight from the definition: the entry's own weekday and time of day. */
function shows(entry: WindowEntry, now: Instant): boolean {
  const { weekday, timeOfDay } = wallTimeAt(entry.timezone, now);
  const dayBefore = weekdays[(weekdays.indexOf(weekday) + 6) % 7] as (typeof weekdays)[number];
  const [start, end] = [minutes(entry.start), minutes(entry.end)];
  if (start < end) return entry.days.includes(weekday) && timeOfDay >= start && timeOfDay < end;
  return (entry.days.includes(weekday) && timeOfDay >= start) || (entry.days.includes(dayBefore) && timeOfDay < end);
}

describe('the calendar', () => {
  it('is open whenever the wall clock of an entry says so and no excluded day does (D3-01, D3-02, D3-06)', () => {
    fc.assert(
      fc.property(plans, instants, (plan, now) => {
        const byWallClock = plan.windows.some((entry) => shows(entry, now)) && !excludedAt(plan.exclusions, now);
        if (byWallClock) expect(occurrenceAt(plan, now)).toBeDefined();
      }),
      runs(1_000),
    );
  });

  it('is open at no other time where clocks never change (D3-01, D3-06)', () => {
    const steady = fc.record({
      windows: fc.array(entryIn(steadyZones), { minLength: 1, maxLength: 4 }),
      exclusions: exclusions.map((list) => list.map((exclusion) => ({ ...exclusion, timezone: 'Asia/Tokyo' }))),
    });
    fc.assert(
      fc.property(steady, instants, (plan, now) => {
        const byWallClock = plan.windows.some((entry) => shows(entry, now)) && !excludedAt(plan.exclusions, now);
        expect(occurrenceAt(plan, now) !== undefined).toBe(byWallClock);
      }),
      runs(1_000),
    );
  });

  it('tells the same whether asked for an instant, for a range, or for what comes next (D3-04)', () => {
    fc.assert(
      fc.property(plans, instants, fc.integer({ min: 1, max: 60 }), (plan, from, length) => {
        const to = add(from, days(length));
        const found = occurrencesBetween(plan, from, to);
        expect(found.filter(({ start }) => start <= from)).toEqual([occurrenceAt(plan, from)].filter(Boolean));
        const later = found.filter(({ start }) => start > from);
        const next = nextOccurrence(plan, from);
        if (next !== undefined && next.start < to) expect(later[0]).toEqual(next);
        else expect(later).toEqual([]);
        for (const [i, occurrence] of found.entries()) {
          expect(occurrenceAt(plan, latest(occurrence.start, from))).toEqual(occurrence);
          if (occurrence.end !== 'never') {
            expect(occurrence.end).toBeGreaterThan(occurrence.start);
            expect(occurrenceAt(plan, subtract(occurrence.end, 1 as Duration))).toEqual(occurrence);
            expect(found[i + 1]?.start ?? Number.POSITIVE_INFINITY).toBeGreaterThan(occurrence.end);
          }
        }
      }),
      runs(300),
    );
  });

  it('does not depend on the order of entries and exclusions (D3-04, D3-08)', () => {
    fc.assert(
      fc.property(plans, instants, (plan, from) => {
        const reversed = { windows: plan.windows.toReversed(), exclusions: plan.exclusions.toReversed() };
        const to = add(from, days(30));
        expect(occurrencesBetween(reversed, from, to)).toEqual(occurrencesBetween(plan, from, to));
        expect(windowPeriods(reversed.windows, from)).toEqual(windowPeriods(plan.windows, from));
      }),
      runs(200),
    );
  });
});

describe('the recurring week', () => {
  it('bounds what the real calendar shows where clocks never change (R3.1-10, D3-05)', () => {
    fc.assert(
      fc.property(fc.array(entryIn(steadyZones), { minLength: 1, maxLength: 4 }), instants, (windows, from) => {
        const { worstCasePeriod, occurrenceLength, idleGap, endless } = windowPeriods(windows, from);
        if (endless) return;
        const found = occurrencesBetween({ windows, exclusions: [] }, from, add(from, days(22)));
        const waits = found.slice(1).map(({ start }, i) => start - (found[i]?.start as number));
        const gaps = found.slice(1).map(({ start }, i) => start - (found[i]?.end as number));
        const lengths = found.map(({ start, end }) => (end as number) - start);
        expect(Math.max(...waits)).toBe(worstCasePeriod);
        expect(Math.min(...lengths)).toBe(occurrenceLength);
        expect(Math.min(...gaps)).toBe(idleGap);
      }),
      runs(500),
    );
  });
});

describe('dueness', () => {
  const claims = fc.record({
    created: instants,
    expireAfter: fc.integer({ min: 1, max: 60 * 24 }).map((count) => hours(count)),
    terminationGracePeriod: fc.constantFrom(hours(0), hours(1), hours(24)),
  });
  const wanted = fc.integer({ min: 1, max: 4 });

  it('is exactly the document’s rule for feasible claims where nothing is excluded and no clock changes (R3.2-01, D3-07)', () => {
    const seen = { due: 0, early: 0 };
    fc.assert(
      fc.property(
        fc.array(entryIn(steadyZones), { minLength: 1, maxLength: 3 }),
        claims,
        wanted,
        fc.nat(),
        (windows, life, minRotationChances, later) => {
          const policy = aPolicy({ windows, minRotationChances });
          const periods = windowPeriods(windows, life.created);
          const now = add(life.created, (later % (life.expireAfter + 1)) as Duration);
          const answer = dueness(aClaim('a', life), policy, periods, now);
          if (answer === undefined || answer.shortLead) return;
          const plain = add(life.created, (life.expireAfter - answer.leadTime) as Duration);
          const birth = periods.endless ? undefined : occurrenceAt(policy, life.created);
          const settled = birth === undefined || birth.end === 'never' || now >= birth.end;
          if (settled) expect(answer.due).toBe(now > plain);
          if (settled) seen[answer.due ? 'due' : 'early']++;
          else if (answer.due) expect(now).toBeGreaterThan(plain);
          expect(answer.notices.filter(({ code }) => code !== 'WillExpireForcefully')).toEqual([]);
        },
      ),
      runs(1_000),
    );
    expect(Math.min(seen.due, seen.early)).toBeGreaterThan(0);
  });

  it('leaves K starts before deadline − t_rot once a feasible claim is due, where nothing is excluded (R3.2-01, R3.2-13)', () => {
    fc.assert(
      fc.property(
        fc.array(entryIn(steadyZones), { minLength: 1, maxLength: 3 }),
        claims,
        wanted,
        (windows, life, minRotationChances) => {
          const policy = aPolicy({ windows, minRotationChances });
          const periods = windowPeriods(windows, life.created);
          const answer = dueness(aClaim('a', life), policy, periods, life.created);
          if (answer === undefined || answer.shortLead || answer.from === null || periods.endless) return;
          const last = add(
            life.created,
            (life.expireAfter - answer.leadTime + times(minRotationChances, periods.worstCasePeriod)) as Duration,
          );
          const plain = subtract(last, times(minRotationChances, periods.worstCasePeriod));
          const chances = occurrencesBetween(policy, plain, add(last, 1 as Duration)).filter(
            ({ start }) => start > plain,
          );
          expect(chances.length).toBeGreaterThanOrEqual(minRotationChances);
        },
      ),
      runs(500),
    );
  });

  it('begins at least K chances before deadline − t_rot, whatever clocks and exclusions do, or says so (R3.2-01, D3-07, D3-09)', () => {
    let [kept, lost] = [0, 0];
    fc.assert(
      fc.property(plans, claims, wanted, (plan, life, minRotationChances) => {
        const policy = aPolicy({ ...plan, minRotationChances });
        const claim = aClaim('a', life);
        const periods = windowPeriods(policy.windows, life.created);
        if (periods.endless) return;
        const ask = (now: Instant) => dueness(claim, policy, periods, now);
        const bound = rotationBound(policy.surge, life.terminationGracePeriod);
        const last = subtract(add(life.created, life.expireAfter), bound);
        const chances = occurrencesBetween(policy, life.created, add(last, 1 as Duration))
          .map(({ start }) => start)
          .filter((start) => start > life.created && ask(start)?.due);
        const codes = ask(life.created)?.notices.map(({ code }) => code) ?? [];
        const told = ['ShortLead', 'ChancesLost', 'WillExpireForcefully'].some((code) => codes.includes(code));
        if (!told) expect(chances.length).toBeGreaterThanOrEqual(minRotationChances);
        if (told) lost++;
        else kept++;
      }),
      runs(500),
    );
    expect(kept).toBeGreaterThan(0);
    expect(lost).toBeGreaterThan(0);
  });

  it('of a pool without a fatal finding begins at least K chances before deadline − t_rot (R3.2-13, R3.2-23)', () => {
    let feasible = 0;
    fc.assert(
      fc.property(
        fc.array(entryIn(steadyZones), { minLength: 1, maxLength: 3 }),
        claims,
        wanted,
        (windows, life, minRotationChances) => {
          const policy = aPolicy({ windows, minRotationChances });
          const pool = aPool();
          const template = { ...pool.template, lifetime: { readable: true as const, ...life } };
          const findings = poolFindings(policy, { ...pool, template }, [], life.created);
          const periods = windowPeriods(windows, life.created);
          if (periods.endless || findings.some(({ severity }) => severity === 'fatal')) return;
          feasible++;
          const claim = aClaim('a', life);
          const last = subtract(
            add(life.created, life.expireAfter),
            rotationBound(policy.surge, life.terminationGracePeriod),
          );
          const chances = occurrencesBetween(policy, life.created, add(last, 1 as Duration)).filter(
            ({ start }) => start > life.created && dueness(claim, policy, periods, start)?.due,
          );
          expect(chances.length).toBeGreaterThanOrEqual(minRotationChances);
        },
      ),
      runs(500),
    );
    expect(feasible).toBeGreaterThan(0);
  });

  it('never ends once it has begun, and `from` is where it begins (D3-07, D3-09)', () => {
    fc.assert(
      fc.property(plans, claims, wanted, (plan, life, minRotationChances) => {
        const policy = aPolicy({ ...plan, minRotationChances });
        const claim = aClaim('a', life);
        const periods = windowPeriods(policy.windows, life.created);
        const ask = (now: Instant) => dueness(claim, policy, periods, now);
        const from = ask(life.created)?.from;
        if (from === undefined || from === null) throw new Error('a deadline has an instant from which it is due');
        expect(ask(subtract(from, 1 as Duration))?.due).toBe(false);
        expect(ask(add(from, 1 as Duration))?.due).toBe(true);
        expect(ask(add(from, days(3)))?.due).toBe(true);
      }),
      runs(500),
    );
  });

  it('comes no later with more exclusions, whatever they take, unless they take everything (D3-07)', () => {
    fc.assert(
      fc.property(plans, claims, wanted, (plan, life, minRotationChances) => {
        const claim = aClaim('a', life);
        const periods = windowPeriods(plan.windows, life.created);
        const answer = (excluded: readonly Exclusion[]) =>
          dueness(claim, aPolicy({ ...plan, exclusions: excluded, minRotationChances }), periods, life.created);
        const [without, withThem] = [answer([]), answer(plan.exclusions)];
        if (without?.from == null || withThem?.from == null)
          throw new Error('a deadline has an instant from which it is due');
        const bornOpen = occurrenceAt({ ...plan, exclusions: [] }, life.created) !== undefined;
        const nothingLeft = withThem.notices.some(({ code }) => code === 'WillExpireForcefully');
        if (!bornOpen && !nothingLeft) expect(withThem.from).toBeLessThanOrEqual(without.from);
      }),
      runs(500),
    );
  });
});
