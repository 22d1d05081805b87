import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../../lib/domain/cluster/node-claim.ts';
import type { NodePool } from '../../../lib/domain/cluster/node-pool.ts';
import type { RotationPolicy } from '../../../lib/domain/policy/rotation-policy.ts';
import type { Finding } from '../../../lib/domain/schedule/feasibility.ts';
import { deriveSchedule, poolFindings } from '../../../lib/domain/schedule/feasibility.ts';
import { policyFindings } from '../../../lib/domain/schedule/policy-findings.ts';
import type { Duration } from '../../../lib/domain/time.ts';
import { days, formatDuration, hours, minutes, zero } from '../../../lib/domain/time.ts';
import { aClaim, amounts, aPolicy, aPool, at, lasting } from '../../support/builders.ts';
import { entries } from './entries.ts';

const now = at('2026-06-10T00:00:00Z');

function aPoolLiving(
  expireAfter: Duration | 'Never',
  terminationGracePeriod: Duration | undefined = hours(1),
  over: Partial<NodePool> = {},
): NodePool {
  const pool = aPool();
  const grace = terminationGracePeriod === undefined ? {} : { terminationGracePeriod };
  return { ...pool, template: { ...pool.template, lifetime: { readable: true, expireAfter, ...grace } }, ...over };
}
const withoutGrace = (expireAfter: Duration): NodePool => {
  const pool = aPool();
  return { ...pool, template: { ...pool.template, lifetime: { readable: true, expireAfter } } };
};
const claims = (count: number, over: Parameters<typeof aClaim>[1] = {}): NodeClaim[] =>
  Array.from({ length: count }, (_, i) => aClaim(`c${i}`, over));

interface Case {
  policy?: RotationPolicy;
  pool?: NodePool;
  claims?: readonly NodeClaim[];
  optedOut?: readonly string[];
}
const find = ({ policy = aPolicy(), pool = aPool(), claims: present = [], optedOut = [] }: Case): readonly Finding[] =>
  poolFindings(policy, pool, present, now, new Set(optedOut));
const codes = (of: Case): string[] => find(of).map(({ code, severity }) => `${severity} ${code}`);
const message = (of: Case, code: string): string =>
  find(of).find((finding) => finding.code === code)?.message ?? 'not found';
const schedule = (policy: RotationPolicy, pool: NodePool, nodes = 3) => deriveSchedule(policy, pool, nodes, now);

describe('the worked examples of the document', () => {
  it('{Wed, Sat}, E 14d, tGP 1h, K 2: P = 4d, t_rot = 1h17m, A = 5d22h43m, C = 10 (R3.2-13, R3.2-14, R3.2-15, R3.2-40)', () => {
    expect(schedule(aPolicy(), aPool())).toEqual({
      expireAfter: days(14),
      terminationGracePeriod: hours(1),
      worstCasePeriod: days(4),
      occurrenceLength: hours(4),
      idleGap: hours(68),
      endless: false,
      rotationBound: lasting('1h17m'),
      rotationEstimate: minutes(15),
      minRotationChances: 2,
      ageThreshold: days(5) + lasting('22h43m'),
      guaranteedChances: 2,
      capacity: 10,
      nodes: 3,
    });
    expect(codes({})).toEqual([]);
  });

  it('one window a week: P = 7d, A = −1h17m, fatal (R3.2-23)', () => {
    const policy = aPolicy({ windows: entries('Sat 02:00-06:00 Asia/Tokyo') });
    const numbers = schedule(policy, aPool());
    expect(numbers?.worstCasePeriod).toBe(days(7));
    expect(formatDuration(numbers?.ageThreshold as Duration)).toBe('-1h17m');
    expect(codes({ policy })).toEqual(['fatal ANonPositive']);
  });

  it('the stock grace of 24h: t_rot = 24h17m, t_rot_est and C as before (R3.2-15)', () => {
    const numbers = schedule(aPolicy(), aPoolLiving(days(14), hours(24)));
    expect(numbers).toMatchObject({ rotationBound: lasting('24h17m'), rotationEstimate: minutes(15), capacity: 10 });
  });
});

describe('public reports', () => {
  it('a weekly window cannot beat E 336h with tGP 24h: A = −24h17m, fatal (PR-01)', () => {
    const policy = aPolicy({ windows: entries('Sat 02:00-06:00 Asia/Tokyo') });
    const pool = aPoolLiving(hours(336), hours(24));
    expect(formatDuration(schedule(policy, pool)?.ageThreshold as Duration)).toBe('-24h17m');
    expect(codes({ policy, pool })).toEqual(['fatal ANonPositive']);
  });

  it('E 48h against windows from Monday to Thursday is fatal, and the sentence says what to do (PR-02)', () => {
    const policy = aPolicy({ windows: entries('Mon,Tue,Wed,Thu 10:00-18:00 UTC') });
    const pool = aPoolLiving(hours(48));
    expect(schedule(policy, pool)?.worstCasePeriod).toBe(hours(96));
    expect(codes({ policy, pool })).toEqual(['fatal ANonPositive']);
    const text = message({ policy, pool }, 'ANonPositive');
    for (const part of ['raise E', 'add windows or days', 'lower K', '48h', '2 × 96h + 1h17m = 193h17m', '-145h17m'])
      expect(text).toContain(part);
  });

  it.each([
    [20, false],
    [21, true],
  ])('%i nodes with one deadline against K·C = 20 (PR-16, R3.2-42)', (nodes, expected) => {
    expect(codes({ claims: claims(nodes) }).includes('warn ThroughputBurstShortfall')).toBe(expected);
  });
});

describe('fatal findings', () => {
  it('no windows: nothing else is evaluated (R3.2-20)', () => {
    const policy = aPolicy({ windows: [], minRotationChances: 0, ageThreshold: zero });
    expect(codes({ policy, pool: withoutGrace(days(30)) })).toEqual(['fatal NoWindows']);
    expect(schedule(policy, aPool())).toMatchObject({
      worstCasePeriod: zero,
      ageThreshold: null,
      guaranteedChances: 0,
      capacity: 0,
    });
  });

  it.each([
    [0, ['fatal KBelowOne', 'warn ThroughputBurstShortfall']],
    [1, ['warn KBelowTwo']],
    [2, []],
  ])('K = %i (R3.2-21, R3.2-22)', (minRotationChances, expected) => {
    expect(codes({ policy: aPolicy({ minRotationChances }), claims: claims(1) })).toEqual(expected);
  });

  it.each([
    ['193h17m', ['fatal ANonPositive']],
    ['193h17m1s', ['warn AVeryAggressive']],
    ['289h16m59s', ['warn AVeryAggressive']],
    ['289h17m', []],
  ])('E = %s: A ≤ 0 is fatal, 0 < A < P is a warning (R3.2-23, R3.2-24)', (expireAfter, expected) => {
    expect(codes({ pool: aPoolLiving(lasting(expireAfter)) })).toEqual(expected);
  });

  // E 14d: E − t_rot = 334h43m, P = 96h.
  it.each([
    ['0s', ['fatal OverrideNonPositive']],
    ['1ms', ['warn AVeryAggressive']],
    ['95h59m59s', ['warn AVeryAggressive']],
    ['96h', []],
    ['142h43m', []],
    ['142h43m1s', ['warn OverrideGBelowK']],
    ['238h43m', ['warn OverrideGBelowK']],
    ['238h43m1s', ['fatal OverrideGBelowOne']],
    ['9000h', ['fatal OverrideGBelowOne']],
  ])('explicit ageThreshold %s (R3.2-25, R3.2-26)', (age, expected) => {
    expect(codes({ policy: aPolicy({ ageThreshold: lasting(age) }) })).toEqual(expected);
  });

  it('an ageThreshold of zero is its own finding, whatever else the pool lacks (D4-03, R3.2-25, R3.2-41)', () => {
    const policy = aPolicy({ ageThreshold: zero });
    // No whole period fits before the deadline, and no number of starts could do.
    expect(codes({ policy, pool: aPoolLiving(hours(90)), claims: claims(1) })).toEqual(['fatal OverrideNonPositive']);
    expect(codes({ policy, claims: claims(3) })).toEqual(['fatal OverrideNonPositive']);
    // Auto, A = 0.
    expect(codes({ pool: aPoolLiving(lasting('193h17m')), claims: claims(3) })).toEqual(['fatal ANonPositive']);
  });

  it('G is what a claim really has (R3.2-25)', () => {
    const given = (age: string) => schedule(aPolicy({ ageThreshold: lasting(age) }), aPool())?.guaranteedChances;
    expect(['142h43m', '142h43m1s', '238h43m', '238h43m1s', '9000h'].map(given)).toEqual([2, 1, 1, 0, 0]);
    expect(message({ policy: aPolicy({ ageThreshold: lasting('142h43m1s') }) }, 'OverrideGBelowK')).toContain(
      '96h) = 1)',
    );
    expect(message({ policy: aPolicy({ ageThreshold: hours(200) }) }, 'OverrideGBelowK')).toContain(
      'G = floor((336h − 1h17m − 200h) / 96h) = 1',
    );
  });
});

describe('warnings about lifetimes', () => {
  it.each([
    ['480h', '24h', []],
    ['480h', '24h1s', ['warn HardCapExceeded']],
  ])('E %s + tGP %s against 21 days (R3.2-27)', (expireAfter, grace, expected) => {
    expect(codes({ pool: aPoolLiving(lasting(expireAfter), lasting(grace)) })).toEqual(expected);
  });

  it.each([
    ['480h', ['warn TGPUnset']],
    ['480h1s', ['warn HardCapExceeded', 'warn TGPUnset']],
  ])(
    'an unset tGP counts 24h against the cap, and is a warning itself: E %s (R3.2-28, D4-02)',
    (expireAfter, expected) => {
      expect(codes({ pool: withoutGrace(lasting(expireAfter)) })).toEqual(expected);
    },
  );

  it('with E = Never there is neither A nor G, and no finding on A, throughput or the cap (D4-02)', () => {
    const pool = aPoolLiving('Never');
    expect(schedule(aPolicy(), pool)).toMatchObject({
      expireAfter: 'Never',
      ageThreshold: null,
      guaranteedChances: null,
      capacity: 10,
    });
    expect(schedule(aPolicy({ ageThreshold: days(5) }), pool)).toMatchObject({
      ageThreshold: null,
      guaranteedChances: null,
    });
    expect(codes({ pool, claims: claims(500) })).toEqual([]);
    expect(codes({ pool, policy: aPolicy({ ageThreshold: zero }) })).toEqual(['fatal OverrideNonPositive']);
  });

  it('a template without a grace has none in its schedule (R3.2-14, D4-02)', () => {
    const numbers = schedule(aPolicy(), withoutGrace(days(14)));
    expect(numbers).toMatchObject({ rotationBound: lasting('1h17m'), rotationEstimate: minutes(15) });
    expect('terminationGracePeriod' in (numbers ?? {})).toBe(false);
  });

  it('an unreadable template has no schedule; what does not depend on it is still found (D5-06)', () => {
    const unreadable = aPool();
    const pool = {
      ...unreadable,
      template: {
        ...unreadable.template,
        lifetime: {
          readable: false as const,
          unreadable: [{ path: 'spec.template.spec.expireAfter', text: '30d', problem: 'no duration' }],
        },
      },
    };
    expect(schedule(aPolicy(), pool)).toBeUndefined();
    expect(codes({ pool, policy: aPolicy({ minRotationChances: 1 }), claims: claims(900) })).toEqual([
      'warn KBelowTwo',
    ]);
  });
});

describe('warnings about settings', () => {
  it.each([
    ['retryBackoff equal to readyTimeout', { retryBackoff: minutes(15) }, []],
    ['retryBackoff below it', { retryBackoff: lasting('14m59s') }, ['warn RetryBackoffShort']],
    ['readyTimeout of 1m', { readyTimeout: minutes(1), provisioningEstimate: minutes(1) }, []],
    [
      'readyTimeout below 1m',
      { readyTimeout: lasting('59s'), provisioningEstimate: lasting('59s') },
      ['warn ReadyTimeoutShort'],
    ],
    ['provisioningEstimate equal to readyTimeout', { provisioningEstimate: minutes(15) }, []],
    [
      'provisioningEstimate above it',
      { provisioningEstimate: lasting('15m1s') },
      ['warn ProvisioningEstimateAboveReadyTimeout'],
    ],
    ['drainEstimate equal to tGP', { drainEstimate: hours(1) }, []],
    ['drainEstimate above it', { drainEstimate: lasting('1h1s') }, ['warn DrainEstimateAboveTGP']],
    [
      'the zone not required',
      { matchNodeRequirements: { required: ['kubernetes.io/arch'], preferred: ['topology.kubernetes.io/zone'] } },
      ['warn ZoneNotPinned'],
    ],
  ])('%s (D4-03, R3.2-29, R3.7-05)', (_, surge, expected) =>
    expect(codes({ policy: aPolicy({ surge }) })).toEqual(expected),
  );

  it('drainEstimate without a tGP has nothing to exceed (D4-03)', () => {
    expect(codes({ pool: withoutGrace(days(14)), policy: aPolicy({ surge: { drainEstimate: hours(9) } }) })).toEqual([
      'warn TGPUnset',
    ]);
  });

  it('what the policy alone tells needs no pool (D13-02)', () => {
    const policy = aPolicy({ minRotationChances: 1, surge: { retryBackoff: minutes(1) } });
    expect(policyFindings(policy, now).map(({ code }) => code)).toEqual(['KBelowTwo', 'RetryBackoffShort']);
  });
});

describe('warnings about throughput', () => {
  // C = 10, P = 4d = 96h, A = 142h43m: 10 starts suffice for N ≤ 14.8.
  it.each([
    [14, []],
    [15, ['warn ThroughputBelowArrival']],
  ])('%i nodes against C = 10 (R3.2-41)', (nodes, expected) => {
    expect(codes({ policy: aPolicy({ minRotationChances: 2 }), claims: claims(nodes) })).toEqual(expected);
  });

  it('equality is enough: C = N·P/A exactly (R3.2-41)', () => {
    // A = 192h, P = 96h, C = 10: 20 nodes.
    const policy = aPolicy({ ageThreshold: hours(192) });
    const pool = aPoolLiving(days(17));
    expect(codes({ policy, pool, claims: claims(20) })).toEqual([]);
    expect(codes({ policy, pool, claims: claims(21) })).toEqual([
      'warn ThroughputBelowArrival',
      'warn ThroughputBurstShortfall',
    ]);
  });

  it.each([
    ['20m', []],
    ['20m1s', ['warn RotationSpansNextWindow']],
  ])('a rotation with cooldown %s against a gap of 35m (R3.2-43)', (cooldown, expected) => {
    const policy = aPolicy({
      windows: entries('daily 00:00-01:00 UTC', 'daily 01:35-02:00 UTC'),
      surge: { cooldownAfter: lasting(cooldown) },
    });
    expect(codes({ policy, claims: claims(1) })).toEqual(expected);
    expect(codes({ policy, claims: [] })).toEqual([]);
  });

  it('a union that never closes has no gap to span (D3-02)', () => {
    const policy = aPolicy({ windows: entries('daily 00:00-24:00 UTC'), surge: { cooldownAfter: days(30) } });
    expect(codes({ policy, claims: claims(1) })).toEqual([]);
    expect(schedule(policy, aPool())).toMatchObject({
      worstCasePeriod: minutes(1),
      occurrenceLength: hours(168),
      idleGap: null,
      endless: true,
    });
  });

  it('claims that are being deleted do not count (D4-02)', () => {
    expect(codes({ claims: [...claims(14), ...claims(10, { meta: { deleting: true } })] })).toEqual([]);
  });
});

describe('room for a surge (R3.2-30, D4-03)', () => {
  const limited = (limits: Record<string, string>, used: Record<string, string>) =>
    aPoolLiving(days(14), hours(1), { limits: amounts(limits), used: amounts(used) });
  const small = aClaim('small', { capacity: amounts({ cpu: '2', memory: '8Gi' }) });
  const large = aClaim('large');

  it.each([
    ['no limits', {}, {}, []],
    ['exactly enough for the smallest', { cpu: '10' }, { cpu: '8' }, []],
    ['a thousandth too little', { cpu: '10' }, { cpu: '8001m' }, ['warn NoHeadroom']],
    [
      'enough cpu, too little memory',
      { cpu: '100', memory: '31Gi' },
      { cpu: '6', memory: '24Gi' },
      ['warn NoHeadroom'],
    ],
    ['one more node', { nodes: '3' }, { nodes: '2' }, []],
    ['no more node', { nodes: '2' }, { nodes: '2' }, ['warn NoHeadroom']],
    ['over the limit already', { cpu: '4' }, { cpu: '6' }, ['warn NoHeadroom']],
    ['a resource that no node has', { 'nvidia.com/gpu': '0' }, {}, []],
  ])('%s (R3.2-30)', (_, limits, used, expected) => {
    expect(codes({ pool: limited(limits, used), claims: [large, small] })).toEqual(expected);
  });

  it('says what is short (R3.2-30)', () => {
    expect(message({ pool: limited({ cpu: '10' }, { cpu: '8001m' }), claims: [large, small] }, 'NoHeadroom')).toContain(
      'cpu needs 2, 1999m of 10 are left',
    );
  });

  it.each([
    ['ephemeral-storage', '10Gi', 'ephemeral-storage needs 20Gi, 10Gi of 10Gi are left'],
    ['example.com/tapes', '1', 'example.com/tapes needs 2048, 1 of 1 are left'],
  ])('spells %s as people do (R3.2-30)', (name, limit, expected) => {
    const claim = aClaim('a', { capacity: amounts({ 'ephemeral-storage': '20Gi', 'example.com/tapes': '2048' }) });
    expect(message({ pool: limited({ [name]: limit }, {}), claims: [claim] }, 'NoHeadroom')).toContain(expected);
  });

  it('names what the claim that comes closest is short of, the first of equals (R3.2-30)', () => {
    const pool = limited({ cpu: '10', memory: '40Gi' }, { cpu: '9', memory: '40Gi' });
    expect(message({ pool, claims: [large, small] }, 'NoHeadroom')).toContain(
      'smallest of the pool: cpu needs 2, 1 of 10 are left, memory needs 8Gi, 0 of 40Gi are left; raise',
    );
    const [other, same] = [
      aClaim('o', { capacity: amounts({ cpu: '3' }) }),
      aClaim('s', { capacity: amounts({ cpu: '2', pods: '1' }) }),
    ];
    const both = limited({ cpu: '1', pods: '0' }, {});
    // Both lack two units: the first one is described.
    expect(message({ pool: both, claims: [other, same] }, 'NoHeadroom')).toContain(': cpu needs 3, 1 of 1 are left;');
    expect(message({ pool: both, claims: [same, other] }, 'NoHeadroom')).toContain(
      ': cpu needs 2, 1 of 1 are left, pods needs 1, 0 of 0 are left;',
    );
  });

  it('is not judged without any claim, or before one is launched (R3.2-30)', () => {
    const pool = limited({ cpu: '0' }, {});
    const { capacity: _, ...launching } = large;
    expect(codes({ pool, claims: [] })).toEqual([]);
    expect(codes({ pool, claims: [launching] })).toEqual([]);
  });

  it('a node on reserved capacity cannot surge with the capacity type pinned (D4-03, PR-61)', () => {
    const reserved = aClaim('r', { meta: { labels: { 'karpenter.sh/capacity-type': 'reserved' } } });
    const byRequirement = aClaim('q', {
      requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['reserved'] }],
    });
    const flexible = aClaim('f', {
      requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['reserved', 'spot'] }],
    });
    expect(codes({ claims: [large, reserved] })).toEqual(['warn ReservedPinned']);
    expect(codes({ claims: [byRequirement] })).toEqual(['warn ReservedPinned']);
    expect(codes({ claims: [flexible, large] })).toEqual([]);
    const labelled = aClaim('l', {
      meta: { labels: { 'karpenter.sh/capacity-type': 'spot' } },
      requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['reserved'] }],
    });
    const unlike = [
      { key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: [] },
      { key: 'karpenter.sh/capacity-type', operator: 'NotIn' as const, values: ['reserved'] },
      { key: 'example.com/capacity-type', operator: 'In' as const, values: ['reserved'] },
    ].map((requirement, i) => aClaim(`u${i}`, { requirements: [requirement] }));
    expect(codes({ claims: [labelled, ...unlike] })).toEqual([]);
    const policy = aPolicy({
      surge: { matchNodeRequirements: { required: ['topology.kubernetes.io/zone'], preferred: [] } },
    });
    expect(codes({ policy, claims: [reserved] })).toEqual([]);
  });
});

describe('opted out (D4-03, PR-53)', () => {
  it.each([
    ['all', ['c0', 'c1'], ['warn PoolOptedOut']],
    ['all but one', ['c0'], []],
    ['names of other pools', ['x', 'y'], []],
  ])('%s (D4-03)', (_, optedOut, expected) => expect(codes({ claims: claims(2), optedOut })).toEqual(expected));

  it('a pool without nodes is not opted out (D4-03)', () => expect(codes({ claims: [], optedOut: [] })).toEqual([]));

  it('a deleting node need not be (D4-03)', () => {
    expect(codes({ claims: [aClaim('a'), aClaim('b', { meta: { deleting: true } })], optedOut: ['a'] })).toEqual([
      'warn PoolOptedOut',
    ]);
  });
});

describe('every finding says the numbers compared and what to change (D4-01)', () => {
  const reservedClaims = (count: number) =>
    claims(count).map((claim) => ({
      ...claim,
      meta: { ...claim.meta, labels: { 'karpenter.sh/capacity-type': 'reserved' } },
    }));
  const full = aPoolLiving(days(14), hours(1), {
    limits: amounts({ cpu: '8', memory: '40Gi', nodes: '2' }),
    used: amounts({ cpu: '6', memory: '32Gi', nodes: '2' }),
  });
  const daily = entries('daily 00:00-01:00 UTC', 'daily 01:35-02:00 UTC');

  it.each<[string, Case, string]>([
    [
      'NoWindows',
      { policy: aPolicy({ windows: [] }) },
      'the maintenance windows never open (P = 0): nothing can be rotated; add an entry to maintenanceWindows',
    ],
    [
      'KBelowOne',
      { policy: aPolicy({ minRotationChances: 0 }) },
      'minRotationChances 0 is below 1: set it to 2 or more',
    ],
    [
      'KBelowTwo',
      { policy: aPolicy({ minRotationChances: 1 }) },
      'minRotationChances is 1: a node has no second chance when a window is missed; set it to 2 or more',
    ],
    [
      'ANonPositive',
      { pool: aPoolLiving(hours(100)) },
      "expireAfter 100h leaves no room for K·P + t_rot = 2 × 96h + 1h17m = 193h17m (A = -93h17m): raise E (expireAfter in the NodePool's template), add windows or days, or lower K (minRotationChances)",
    ],
    [
      'AVeryAggressive',
      { pool: aPoolLiving(hours(200)) },
      'nodes are rotated from an age of 6h43m, less than one window period 96h: raise expireAfter or add windows, or every node goes at its first window',
    ],
    [
      'OverrideNonPositive',
      { policy: aPolicy({ ageThreshold: zero }) },
      'ageThreshold 0s is not above 0: every node would be due at once; raise it or use auto',
    ],
    [
      'OverrideGBelowOne',
      { policy: aPolicy({ ageThreshold: hours(330) }) },
      'ageThreshold 330h guarantees no chance before the deadline (G = floor((336h − 1h17m − 330h) / 96h) = 0): lower ageThreshold, use auto, raise expireAfter or add windows',
    ],
    [
      'OverrideGBelowK',
      { policy: aPolicy({ ageThreshold: hours(200) }) },
      'ageThreshold 200h guarantees fewer chances than minRotationChances 2 (G = floor((336h − 1h17m − 200h) / 96h) = 1): lower ageThreshold, use auto, raise expireAfter or add windows',
    ],
    [
      'HardCapExceeded',
      { pool: aPoolLiving(hours(500), hours(5)) },
      'expireAfter 500h + terminationGracePeriod 5h exceeds the 21 days (504h) that EKS Auto Mode allows: lower one of them',
    ],
    [
      'HardCapExceeded',
      { pool: withoutGrace(hours(500)) },
      'expireAfter 500h + terminationGracePeriod 24h (unset counts as 24h) exceeds the 21 days (504h) that EKS Auto Mode allows: lower one of them',
    ],
    [
      'TGPUnset',
      { pool: withoutGrace(days(14)) },
      'the template has no terminationGracePeriod: a drain may last without bound, and 1h is assumed for deadlines; set it',
    ],
    [
      'RetryBackoffShort',
      { policy: aPolicy({ surge: { retryBackoff: minutes(5) } }) },
      'retryBackoff 5m is below readyTimeout 15m: a retry comes faster than an attempt may take; raise retryBackoff',
    ],
    [
      'ReadyTimeoutShort',
      { policy: aPolicy({ surge: { readyTimeout: lasting('59s') } }) },
      'readyTimeout 59s is below 1m, the time between two looks: no node can be ready in it; raise it',
    ],
    [
      'DrainEstimateAboveTGP',
      { policy: aPolicy({ surge: { drainEstimate: hours(2) } }) },
      'drainEstimate 2h exceeds terminationGracePeriod 1h and is clamped to it: lower it or raise terminationGracePeriod',
    ],
    [
      'ProvisioningEstimateAboveReadyTimeout',
      { policy: aPolicy({ surge: { provisioningEstimate: minutes(20) } }) },
      'provisioningEstimate 20m exceeds readyTimeout 15m and is clamped to it: lower it or raise readyTimeout',
    ],
    [
      'ZoneNotPinned',
      { policy: aPolicy({ surge: { matchNodeRequirements: { required: [], preferred: [] } } }) },
      'matchNodeRequirements.required does not name topology.kubernetes.io/zone: Pods with zonal volumes may be left without a node in their zone; add it',
    ],
    [
      'ThroughputBelowArrival',
      { claims: claims(15) },
      '15 nodes come due at 15 × 96h / 142h43m per window period, more than the 10 that can start in one occurrence: widen or add windows, or raise expireAfter',
    ],
    [
      'ThroughputBurstShortfall',
      { claims: claims(21) },
      '21 nodes with one shared deadline need more than the K·C = 2 × 10 = 20 starts before it: widen or add windows, or spread the ages of the nodes',
    ],
    [
      'RotationSpansNextWindow',
      { policy: aPolicy({ windows: daily, surge: { cooldownAfter: minutes(21) } }), claims: claims(1) },
      'a rotation and its cooldown (36m) outlast the shortest gap between windows (35m): adjacent occurrences do not each hold 1 starts; join the windows or move them apart',
    ],
    [
      'ReservedPinned',
      { claims: [...reservedClaims(3), aClaim('x')] },
      '3 of 4 nodes run on reserved capacity (c0, c1, c2) and karpenter.sh/capacity-type is a required key: their replacement needs the very reservation that they hold; move the key to matchNodeRequirements.preferred',
    ],
    [
      'ReservedPinned',
      { claims: reservedClaims(4) },
      '4 of 4 nodes run on reserved capacity (c0, c1, c2, …) and karpenter.sh/capacity-type is a required key: their replacement needs the very reservation that they hold; move the key to matchNodeRequirements.preferred',
    ],
    [
      'NoHeadroom',
      { pool: full, claims: claims(1) },
      'spec.limits leave no room for another node, not even the smallest of the pool: cpu needs 4, 2 of 8 are left, memory needs 16Gi, 8Gi of 40Gi are left, nodes needs 1, 0 of 2 are left; raise the limits or no surge is possible',
    ],
    [
      'PoolOptedOut',
      { claims: claims(2), optedOut: ['c0', 'c1'] },
      'all 2 nodes of the pool are opted out by their operator (karpenter.sh/do-not-disrupt): nothing is rotated and all expire by force; remove the annotation where it is not meant',
    ],
  ])('%s (D4-01, D4-03)', (code, of, expected) => expect(message(of, code)).toBe(expected));
});
