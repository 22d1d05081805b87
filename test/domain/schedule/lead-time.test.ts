import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../../lib/domain/cluster/node-claim.ts';
import type { RotationPolicy } from '../../../lib/domain/policy/rotation-policy.ts';
import type { Dueness } from '../../../lib/domain/schedule/lead-time.ts';
import {
  deadlineBuffer,
  dueness,
  leadTime,
  optedOutWithoutChance,
  rotationBound,
} from '../../../lib/domain/schedule/lead-time.ts';
import { windowPeriods } from '../../../lib/domain/schedule/window.ts';
import type { Instant } from '../../../lib/domain/time.ts';
import { days, formatDuration, formatInstant, hours, minutes, seconds } from '../../../lib/domain/time.ts';
import { aClaim, aPolicy, at, lasting } from '../../support/builders.ts';
import { entries } from './entries.ts';

// Born on Monday 2026-06-01 00:00Z with E 14d and tGP 1h: deadline Monday 2026-06-15 00:00Z, t_rot 1h17m, so the last
// start in time is 2026-06-14T22:43:00Z.
const born = at('2026-06-01T00:00:00Z');
const claim = aClaim('a', { created: born });
const policy = aPolicy();
const weekly = aPolicy({ windows: entries('Sat 02:00-06:00 UTC') });
const always = aPolicy({ windows: entries('daily 00:00-24:00 UTC') });

const ask = (of: NodeClaim, by: RotationPolicy, now: Instant): Dueness => {
  const answer = dueness(of, by, windowPeriods(by.windows, now), now);
  if (answer === undefined) throw new Error('unreadable');
  return answer;
};
const codes = (answer: Dueness): string[] => answer.notices.map(({ code }) => code);
const fromOf = (answer: Dueness): string => (answer.from === null ? 'never' : formatInstant(answer.from));
const excluding = (
  over: Partial<RotationPolicy>,
  ...ranges: readonly (readonly [string, string, string?])[]
): RotationPolicy =>
  aPolicy({
    ...over,
    exclusions: ranges.map(([from, to, reason]) => ({
      timezone: 'UTC',
      from,
      to,
      ...(reason === undefined ? {} : { reason }),
    })),
  });

describe('t_rot and the lead time', () => {
  it.each([
    ['15m', '1h', '1h17m'],
    ['15m', '24h', '24h17m'],
    ['15m', undefined, '1h17m'],
    ['15m', '0s', '17m'],
  ])('t_rot of readyTimeout %s and tGP %s is %s (R3.2-14)', (readyTimeout, grace, expected) => {
    const bound = rotationBound(
      { readyTimeout: lasting(readyTimeout) },
      grace === undefined ? undefined : lasting(grace),
    );
    expect(formatDuration(bound)).toBe(expected);
  });

  it('the buffer is two minutes (R3.2-14)', () => expect(deadlineBuffer).toBe(minutes(2)));

  it('cooldownAfter and failurePause are no part of it (R3.2-17)', () => {
    const patient = aPolicy({ surge: { cooldownAfter: hours(5), failurePause: hours(5) } });
    const periods = windowPeriods(policy.windows, born);
    expect(leadTime(patient, periods, hours(1))).toBe(leadTime(policy, periods, hours(1)));
    expect(formatDuration(leadTime(policy, periods, hours(1)))).toBe('193h17m');
  });
});

describe('due in auto mode', () => {
  // K·P + t_rot = 8d + 1h17m before the deadline.
  const plain = at('2026-06-06T22:43:00Z');

  it.each([
    [-1, false],
    [0, false],
    [1, true],
  ])('only after deadline − leadTime: %i ms (R3.2-01)', (ms, due) => {
    const answer = ask(claim, policy, (plain + ms) as Instant);
    expect(answer).toMatchObject({ deadline: at('2026-06-15T00:00:00Z'), due, from: plain, shortLead: false });
    expect(formatDuration(answer.leadTime)).toBe('193h17m');
  });

  it('by its own expireAfter and grace, whatever the template says (R3.2-16)', () => {
    const longDrain = aClaim('b', { created: born, expireAfter: days(20), terminationGracePeriod: hours(24) });
    expect(fromOf(ask(longDrain, policy, born))).toBe('2026-06-11T23:43:00Z');
    const noGrace = aClaim('c', { created: born, terminationGracePeriod: undefined });
    expect(fromOf(ask(noGrace, policy, born))).toBe('2026-06-06T22:43:00Z');
  });

  it('a claim that never expires is never due (R3.2-18)', () => {
    expect(ask(aClaim('b', { expireAfter: 'Never' }), policy, at('2036-01-01T00:00:00Z'))).toEqual({
      deadline: 'never',
      leadTime: days(8) + hours(1) + minutes(17),
      from: null,
      due: false,
      shortLead: false,
      laterChances: Number.POSITIVE_INFINITY,
      notices: [],
    });
  });

  it('a claim that never expires is not due either once its first window has closed, and has no chance without windows (R3.2-18)', () => {
    const inWindow = aClaim('b', { created: at('2026-06-06T03:00:00Z'), expireAfter: 'Never' });
    expect(ask(inWindow, weekly, at('2026-06-07T00:00:00Z'))).toMatchObject({ from: null, due: false });
    expect(ask(inWindow, aPolicy({ windows: [] }), born)).toMatchObject({ from: null, due: false, laterChances: 0 });
  });

  it('an unreadable lifetime has no answer (D5-06, PR-119)', () => {
    const unreadable = aClaim('b', {
      lifetime: { readable: false, unreadable: [{ path: 'spec.expireAfter', text: '30d', problem: 'no duration' }] },
    });
    expect(dueness(unreadable, policy, windowPeriods(policy.windows, born), born)).toBeUndefined();
  });

  it('while the union never closes, strictly after deadline − (K minutes + t_rot) (R3.1-11, D3-07)', () => {
    const instant = at('2026-06-14T22:41:00Z');
    expect(ask(claim, always, instant)).toMatchObject({ due: false, from: instant });
    expect(ask(claim, always, (instant + 1) as Instant)).toMatchObject({ due: true, from: instant, notices: [] });
  });

  it('changes of the clocks are looked up, not assumed (D3-07)', () => {
    // New York leaves standard time on 8 March: that Sunday's window never opens.
    const skipped = aPolicy({ windows: entries('Sun 02:15-02:45 America/New_York') });
    const early = aClaim('b', { created: at('2026-02-23T12:00:00Z'), expireAfter: days(21) });
    // The plain instant is 2026-03-02T10:43Z, but of the Sundays 1, 8, 15 March the 8th is none.
    const answer = ask(early, skipped, at('2026-03-01T07:15:00Z'));
    expect(answer).toMatchObject({ due: true, from: at('2026-03-01T07:15:00Z'), notices: [] });
    expect(ask(early, skipped, at('2026-03-01T07:14:59Z')).due).toBe(false);
  });
});

describe('chances that exclusions take (D3-07)', () => {
  // Weekly Saturdays and E 28d: Saturdays 6, 13, 20, 27 June; deadline 29 June; plain instant 14 June 22:43Z.
  const old = aClaim('a', { created: born, expireAfter: days(28) });

  it('the K-th chance from the end counts when it is earlier, inclusively (D3-07)', () => {
    const policyWithFreeze = excluding(weekly, ['2026-06-20', '2026-06-20', 'release']);
    const kth = at('2026-06-13T02:00:00Z');
    expect(ask(old, policyWithFreeze, (kth - 1) as Instant)).toMatchObject({ due: false, from: kth, notices: [] });
    expect(ask(old, policyWithFreeze, kth)).toMatchObject({ due: true, from: kth, laterChances: 1, notices: [] });
  });

  it('the K-th chance from the end counts inclusively where it is the plain instant itself (D3-07)', () => {
    // The last start in time is Saturday 20 June 02:00, an opening; it is excluded, so that of 13 June is the last one.
    const exact = aClaim('a', { created: born, expireAfter: (days(19) + lasting('3h17m')) as never });
    const saturday = excluding({ ...weekly, minRotationChances: 1 }, ['2026-06-20', '2026-06-20']);
    const plain = at('2026-06-13T02:00:00Z');
    expect(ask(exact, saturday, plain)).toMatchObject({ due: true, from: plain, notices: [] });
    expect(ask(exact, saturday, (plain - 1) as Instant).due).toBe(false);
    expect(ask(exact, { ...saturday, exclusions: [] }, plain).due).toBe(false);
  });

  it('a chance that opens at the last start in time is one of the K (D3-07)', () => {
    const exact = aClaim('a', {
      created: at('2026-06-06T03:00:00Z'),
      expireAfter: (days(7) + lasting('17m')) as never,
    });
    const once = aPolicy({ windows: weekly.windows, minRotationChances: 1 });
    expect(codes(ask(exact, once, at('2026-06-07T00:00:00Z')))).toEqual(['ShortLead']);
    const sooner = aClaim('a', {
      created: at('2026-06-06T02:59:59Z'),
      expireAfter: (days(7) + lasting('17m')) as never,
    });
    expect(codes(ask(sooner, once, at('2026-06-07T00:00:00Z')))).toEqual(['ShortLead', 'WillExpireForcefully']);
  });

  it('an exclusion outside the last K chances changes nothing (D3-07)', () => {
    const harmless = excluding(weekly, ['2026-06-06', '2026-06-06']);
    expect(fromOf(ask(old, harmless, born))).toBe(fromOf(ask(old, weekly, born)));
  });

  it('fewer than K: from the first one, and ChancesLost names the exclusions (D3-07)', () => {
    const one = excluding(
      weekly,
      ['2026-06-13', '2026-06-20', 'sale'],
      ['2026-06-27', '2026-06-27'],
      ['2026-07-04', '2026-07-04', 'later'],
    );
    const only = at('2026-06-06T02:00:00Z');
    expect(ask(old, one, (only - 1) as Instant)).toMatchObject({ due: false, from: only });
    const answer = ask(old, one, only);
    expect(answer).toMatchObject({ due: true, from: only, laterChances: 0 });
    expect(codes(answer)).toEqual(['ChancesLost']);
    expect(answer.notices[0]).toMatchObject({ severity: 'warn', claim: 'a' });
    expect(answer.notices[0]?.message).toContain('1 of the 2 wanted chances');
    expect(answer.notices[0]?.message).toContain('2026-06-13 to 2026-06-20 (sale), 2026-06-27 to 2026-06-27');
    expect(answer.notices[0]?.message).not.toContain('later');
  });

  it('none: the plain instant, and WillExpireForcefully (D3-07)', () => {
    const none = excluding(weekly, ['2026-06-01', '2026-06-30', 'moving']);
    const plain = at('2026-06-14T22:43:00Z');
    expect(ask(old, none, plain)).toMatchObject({ due: false, from: plain, laterChances: 0 });
    const answer = ask(old, none, (plain + 1) as Instant);
    expect(answer.due).toBe(true);
    expect(codes(answer)).toEqual(['WillExpireForcefully']);
    expect(answer.notices[0]?.message).toContain('2026-06-01 to 2026-06-30 (moving)');
  });

  it.each([
    ['at the last start in time', '2026-06-01T00:00:00Z', 1],
    ['a second after it', '2026-05-31T23:59:59Z', 0],
  ])('a window that opens %s for a claim born %s counts as %i chances (D3-07)', (_, created, count) => {
    const sunday = aPolicy({ windows: entries('Sun 22:43-23:00 UTC'), minRotationChances: 1 });
    expect(ask(aClaim('a', { created: at(created) }), sunday, at('2026-06-14T00:00:00Z')).laterChances).toBe(count);
  });

  it('a chance that starts with the claim itself is none (D3-07)', () => {
    const atBirth = aClaim('a', { created: at('2026-06-06T02:00:00Z'), expireAfter: days(7) });
    expect(codes(ask(atBirth, weekly, at('2026-06-06T02:00:00Z')))).toEqual(['ShortLead', 'WillExpireForcefully']);
  });

  it('while the union never closes, a chance is a minute of open time (D3-07)', () => {
    // The last start in time is 14 June 22:43Z, inside the exclusion: the last two open minutes begin on the 13th at 23:58Z.
    const closed = excluding(always, ['2026-06-14', '2026-06-14']);
    const from = at('2026-06-13T23:58:00Z');
    expect(ask(claim, closed, (from - 1) as Instant)).toMatchObject({ due: false, from });
    expect(ask(claim, closed, from)).toMatchObject({ due: true, from, laterChances: 2, notices: [] });
  });

  it('while the union never closes, an exclusion before the last K open minutes changes nothing (D3-07)', () => {
    const twice = excluding(always, ['2026-06-03', '2026-06-03'], ['2026-06-14', '2026-06-14']);
    expect(fromOf(ask(claim, twice, born))).toBe('2026-06-13T23:58:00Z');
    const longBefore = excluding(always, ['2026-06-03', '2026-06-03']);
    expect(ask(claim, longBefore, born)).toMatchObject({ from: at('2026-06-14T22:41:00Z'), notices: [] });
  });

  it.each([
    ['2026-06-10T23:56:00Z', [], '2026-06-10T23:58:00Z'],
    ['2026-06-10T23:58:00Z', [], '2026-06-10T23:58:00Z'],
    ['2026-06-10T23:58:00.001Z', ['ChancesLost'], '2026-06-10T23:58:00.001Z'],
    ['2026-06-10T23:59:00Z', ['ChancesLost'], '2026-06-10T23:59:00Z'],
    ['2026-06-10T23:59:00.001Z', ['WillExpireForcefully'], '2026-06-15T22:40:00.001Z'],
  ])('while the union never closes, whole minutes count: born %s (D3-07)', (created, expected, from) => {
    const closed = excluding(always, ['2026-06-11', '2026-06-30']);
    const brief = aClaim('a', { created: at(created), expireAfter: days(5) });
    const answer = ask(brief, closed, at('2026-06-10T23:55:00Z'));
    expect(codes(answer)).toEqual(expected);
    expect(fromOf(answer)).toBe(from);
  });

  it('while the union never closes but a whole life is excluded, the plain instant counts (D3-07)', () => {
    const closed = excluding(always, ['2026-06-01', '2026-06-13'], ['2026-06-14', '2026-06-20']);
    const answer = ask(claim, closed, at('2026-06-10T00:00:00Z'));
    expect(answer).toMatchObject({ due: false, from: at('2026-06-14T22:41:00Z'), laterChances: 0 });
    expect(codes(answer)).toEqual(['WillExpireForcefully']);
  });

  it('only under auto (D3-07)', () => {
    const explicit = excluding({ ...weekly, ageThreshold: days(20) }, ['2026-06-20', '2026-06-20']);
    expect(fromOf(ask(old, explicit, born))).toBe('2026-06-21T00:00:00Z');
  });
});

describe('nothing left before the deadline (D4-03)', () => {
  it.each([
    ['while the last window is open', '2026-06-13T05:59:59Z', []],
    ['once it has closed', '2026-06-13T06:00:00Z', ['WillExpireForcefully']],
  ])('%s (D4-03)', (_, now, expected) => {
    const long = aClaim('a', { created: born, expireAfter: days(14) });
    const sparse = aPolicy({ windows: weekly.windows, minRotationChances: 1 });
    expect(codes(ask(long, sparse, at(now)))).toEqual(expected);
  });

  it('without any window the pool says so, not every claim (R3.2-20)', () => {
    expect(ask(claim, aPolicy({ windows: [] }), born)).toMatchObject({ laterChances: 0, notices: [], due: false });
  });

  it('a claim that is being deleted has no notices (R3.2-52)', () => {
    const going = aClaim('a', { created: born, expireAfter: hours(48), meta: { deleting: true } });
    expect(ask(going, weekly, at('2026-06-02T00:00:00Z'))).toMatchObject({ shortLead: true, notices: [] });
  });

  it('opted out with less than one chance left (D4-03)', () => {
    const before = ask(claim, policy, at('2026-06-12T16:59:59Z'));
    const after = ask(claim, policy, at('2026-06-12T17:00:00Z'));
    expect([before.laterChances, after.laterChances]).toEqual([1, 0]);
    expect(optedOutWithoutChance(claim, before)).toBeUndefined();
    expect(optedOutWithoutChance(claim, after)).toMatchObject({
      code: 'WillExpireForcefully',
      severity: 'warn',
      claim: 'a',
    });
  });
});

describe('an explicit ageThreshold', () => {
  const explicit = aPolicy({ ageThreshold: days(5) });

  it.each([
    [0, false],
    [1, true],
  ])('makes a claim due when its age is above it: %i ms (R3.2-19)', (ms, due) => {
    const now = (at('2026-06-06T00:00:00Z') + ms) as Instant;
    expect(ask(claim, explicit, now)).toMatchObject({ due, from: at('2026-06-06T00:00:00Z') });
  });

  it('also one that never expires (R3.2-19, D6-05)', () => {
    expect(ask(aClaim('b', { created: born, expireAfter: 'Never' }), explicit, at('2026-06-06T00:00:01Z')).due).toBe(
      true,
    );
  });

  it('waits for the occurrence of birth to close (D3-09)', () => {
    const young = aPolicy({ ageThreshold: minutes(10), windows: entries('Mon 00:00-06:00 UTC') });
    for (const expireAfter of [days(14), 'Never'] as const) {
      const newborn = aClaim('b', { created: born, expireAfter });
      expect(ask(newborn, young, at('2026-06-01T05:59:59.999Z'))).toMatchObject({
        due: false,
        from: at('2026-06-01T06:00:00Z'),
      });
      expect(ask(newborn, young, at('2026-06-01T06:00:00Z')).due).toBe(true);
    }
  });
});

describe('a claim whose life is shorter than its lead time', () => {
  it.each([
    ['equal', '193h17m', true],
    ['a second longer', '193h17m1s', false],
  ])('is short when E ≤ K·P + t_rot: %s (R3.2-50)', (_, expireAfter, shortLead) => {
    const answer = ask(aClaim('b', { created: born, expireAfter: lasting(expireAfter) }), policy, born);
    expect(answer.shortLead).toBe(shortLead);
    expect(codes(answer).includes('ShortLead')).toBe(shortLead);
  });

  it('says the numbers compared (R3.2-50)', () => {
    const [notice] = ask(aClaim('b', { created: born, expireAfter: hours(100) }), policy, born).notices;
    expect(notice).toMatchObject({ code: 'ShortLead', severity: 'warn', claim: 'b' });
    expect(notice?.message).toContain('expireAfter 100h');
    expect(notice?.message).toContain('2 × 96h + 1h17m = 193h17m');
  });

  it('is due at once, in the first window after its birth (R3.2-51)', () => {
    const short = aClaim('b', { created: at('2026-06-09T12:00:00Z'), expireAfter: hours(100) });
    expect(ask(short, policy, at('2026-06-09T17:00:00Z'))).toMatchObject({ shortLead: true, due: true });
  });

  it('is counted, but not rotated in the occurrence it was born in (D3-09, PR-87)', () => {
    const fresh = aClaim('b', { created: at('2026-06-06T02:10:00Z'), expireAfter: hours(48) });
    const answer = ask(fresh, weekly, at('2026-06-06T02:20:00Z'));
    expect(answer).toMatchObject({ due: false, shortLead: true, from: at('2026-06-06T06:00:00Z') });
    expect(ask(fresh, weekly, at('2026-06-06T05:59:59Z')).due).toBe(false);
    expect(ask(fresh, weekly, at('2026-06-06T06:00:00Z')).due).toBe(true);
  });

  it('is rotated in it all the same from deadline − 2·t_rot, where that comes first (D3-09)', () => {
    const brief = aClaim('b', { created: at('2026-06-06T02:10:00Z'), expireAfter: hours(4) });
    // Deadline 06:10, twice t_rot is 2h34m.
    expect(ask(brief, weekly, at('2026-06-06T03:35:59Z'))).toMatchObject({
      due: false,
      from: at('2026-06-06T03:36:00Z'),
    });
    expect(ask(brief, weekly, at('2026-06-06T03:36:00Z')).due).toBe(true);
  });

  it('in a union that never closes waits for nothing (D3-09)', () => {
    const short = aClaim('b', { created: born, expireAfter: hours(1) });
    expect(ask(short, always, (born + seconds(1)) as Instant)).toMatchObject({ due: true, shortLead: true });
  });
});

describe('every notice says the numbers compared and what to change (D4-01)', () => {
  const messages = (answer: Dueness): string[] => answer.notices.map(({ code, message }) => `${code}: ${message}`);
  const twoSaturdays = aClaim('a', { created: born, expireAfter: days(28) });

  it('ShortLead (R3.2-50, D4-01)', () => {
    expect(messages(ask(aClaim('b', { created: born, expireAfter: hours(100) }), policy, born))).toEqual([
      "ShortLead: its expireAfter 100h is no longer than its lead time K·P + t_rot = 2 × 96h + 1h17m = 193h17m: it is rotated at the first opportunity and may have fewer chances than wanted; raise expireAfter in the NodePool's template, add windows or lower minRotationChances",
    ]);
  });

  it('ChancesLost to exclusions, those in its life only (D3-07, D4-01)', () => {
    // The last start in time is 28 June 22:43Z; the claim was born on 1 June.
    const losing = excluding(
      weekly,
      ['2026-05-31', '2026-05-31', 'before'],
      ['2026-06-06', '2026-06-20', 'sale'],
      ['2026-06-28', '2026-06-28'],
      ['2026-06-29', '2026-06-29', 'after'],
    );
    expect(messages(ask(twoSaturdays, losing, born))).toEqual([
      'ChancesLost: 1 of the 2 wanted chances lie before 2026-06-28T22:43:00Z, the last start in time for its deadline; the others are lost to the exclusions 2026-06-06 to 2026-06-20 (sale), 2026-06-28 to 2026-06-28: shorten the exclusions, add windows, or raise expireAfter',
    ]);
  });

  it('an exclusion counts where it touches the last start in time (D3-07)', () => {
    const midnight = aClaim('a', { created: at('2026-06-01T01:17:00Z'), expireAfter: days(28) });
    const at29 = excluding(weekly, ['2026-06-06', '2026-06-20'], ['2026-06-29', '2026-06-29']);
    const at30 = excluding(weekly, ['2026-06-06', '2026-06-20'], ['2026-06-30', '2026-06-30']);
    expect(messages(ask(midnight, at29, born))[0]).toContain('2026-06-29 to 2026-06-29: shorten');
    expect(messages(ask(midnight, at30, born))[0]).toContain('2026-06-06 to 2026-06-20: shorten');
  });

  it('ChancesLost to changes of the clocks (D3-07, D4-01)', () => {
    const skipped = aPolicy({ windows: entries('Sun 02:15-02:45 America/New_York') });
    // Born after the window of 1 March; that of 8 March never opens.
    const across = aClaim('b', { created: at('2026-03-01T12:00:00Z'), expireAfter: lasting('338h') });
    expect(messages(ask(across, skipped, at('2026-03-02T00:00:00Z')))).toEqual([
      'ChancesLost: 1 of the 2 wanted chances lie before 2026-03-15T12:43:00Z, the last start in time for its deadline; the others are lost to changes of the clocks: shorten the exclusions, add windows, or raise expireAfter',
    ]);
    // A short life is its own explanation, unless an exclusion has its part in it.
    const excluded = excluding({ windows: weekly.windows }, ['2026-06-13', '2026-06-13', 'sale']);
    expect(codes(ask(aClaim('b', { created: born, expireAfter: days(13) }), excluded, born))).toEqual([
      'ShortLead',
      'ChancesLost',
    ]);
    const short = aClaim('b', { created: at('2026-03-01T12:00:00Z'), expireAfter: lasting('337h17m') });
    expect(codes(ask(short, skipped, at('2026-03-02T00:00:00Z')))).toEqual(['ShortLead']);
  });

  it('WillExpireForcefully, with and without exclusions (D4-01, D4-03)', () => {
    const text = (considered: string) =>
      `WillExpireForcefully: no maintenance window is left in which its rotation (up to 1h17m) could end before its deadline 2026-06-29T00:00:00Z${considered}: Karpenter will expire it by force; open a window, shorten the exclusions, or rotate it by a manual run`;
    const late = at('2026-06-28T23:00:00Z');
    expect(messages(ask(twoSaturdays, weekly, late))).toEqual([text('')]);
    const closed = excluding(weekly, ['2026-06-01', '2026-06-30', 'moving']);
    expect(messages(ask(twoSaturdays, closed, born))).toEqual([
      text(', the exclusions 2026-06-01 to 2026-06-30 (moving) considered'),
    ]);
  });

  it('WillExpireForcefully for an opted-out claim (D4-01, PR-104)', () => {
    expect(optedOutWithoutChance(claim, ask(claim, policy, at('2026-06-13T00:00:00Z')))?.message).toBe(
      'it is opted out by its operator (karpenter.sh/do-not-disrupt) and no maintenance window opens in time before its deadline 2026-06-15T00:00:00Z: remove the annotation or replace the node by hand before then',
    );
    const endless = aClaim('n', { expireAfter: 'Never' });
    expect(optedOutWithoutChance(endless, ask(endless, aPolicy({ windows: [] }), born))).toBeUndefined();
  });
});

describe('odd claims and policies do not stop a tick', () => {
  it.each([
    ['a life of 292 years', lasting('2562047h')],
    ['a life of one second', seconds(1)],
    ['a life of zero', seconds(0)],
  ])('%s (D5-06)', (_, expireAfter) => {
    const closed = excluding(weekly, ['2026-01-01', '9999-12-31']);
    for (const by of [policy, weekly, always, closed])
      expect(ask(aClaim('b', { expireAfter }), by, born).due).toBeTypeOf('boolean');
  });

  it('a K below one counts as none (R3.2-21)', () => {
    expect(fromOf(ask(claim, aPolicy({ minRotationChances: -7 }), born))).toBe('2026-06-14T22:43:00Z');
  });
});
