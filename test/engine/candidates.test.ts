import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../lib/domain/cluster/node-claim.ts';
import { add, days, hours, instant, minutes, subtract } from '../../lib/domain/time.ts';
import { assess, disqualifiers, rank } from '../../lib/engine/candidates.ts';
import { gates, judgeGates } from '../../lib/engine/gates.ts';
import { viewOf } from '../../lib/engine/pool-view.ts';
import { aClaim, aNodeOf, aPolicy, aPool, aSnapshot, at } from '../support/builders.ts';
import { due, windowOpens } from '../support/rotations.ts';

const policy = aPolicy();
const viewing = (claims: readonly NodeClaim[], over: Parameters<typeof aSnapshot>[0] = {}) => {
  const snapshot = aSnapshot({ observedAt: windowOpens, nodeClaims: claims, ...over });
  return viewOf(snapshot, snapshot.nodePools[0] as never);
};
const verdict = (claim: NodeClaim, node: Parameters<typeof aNodeOf>[1] | null = {}) => {
  const nodes = node === null ? [] : [aNodeOf(claim, node)];
  return assess(viewing([claim], { nodes }), policy)[0]?.disqualifier?.code;
};
const annotated = (annotations: Record<string, string>) => ({
  meta: {
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([key, value]) => [`noderotation.io/${key}`, value]),
    ),
  },
});

describe('a claim', () => {
  it('that is due, ready and nobody’s is a candidate (R3.2-01)', () => {
    expect(verdict(due('a'))).toBeUndefined();
  });

  it.each([
    [
      'Unreadable',
      due('a', {
        lifetime: { readable: false, unreadable: [{ path: 'spec.expireAfter', text: '30d', problem: 'use h, m, s' }] },
      }),
      {},
    ],
    ['OptedOut', due('a'), { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }],
    ['Terminating', due('a', { meta: { deleting: true } }), {}],
    ['NoNode', due('a'), null],
    ['NoNode', due('a'), { deleting: true }],
    ['StateMalformed', due('a', annotated({ state: 'odd' })), {}],
    ['StateMalformed', due('a', annotated({ state: 'failed', 'failed-at': 'x' })), {}],
    ['NotReady', due('a', { ready: 'False' }), {}],
    ['NotReady', due('a', { ready: 'Unknown' }), {}],
    ['Disrupting', due('a', { disruptionReason: 'Drifted' }), {}],
    ['Expired', due('a', annotated({ state: 'expired' })), {}],
    ['InFlight', due('a', annotated({ state: 'pending', 'started-at': '2026-06-09T16:00:00Z' })), {}],
    [
      'BackingOff',
      due('a', annotated({ state: 'failed', 'failed-at': '2026-06-09T16:59:00Z', 'retry-count': '1' })),
      {},
    ],
    ['NoDeadline', due('a', { expireAfter: 'Never' }), {}],
    ['NotDue', aClaim('a', { created: at('2026-06-05T00:00:00Z') }), {}],
  ] as const)(
    'is disqualified as %s (D6-05, R3.2-03, R3.2-04, R3.2-05, R3.2-06, R3.2-18, R3.2-52, PR-54, PR-119)',
    (code, claim, node) => {
      expect(verdict(claim, node as never)).toBe(code);
    },
  );

  it('that a surge has just made is not taken again in this occurrence, however short its life, and is counted (D3-09, R3.2-50, PR-87)', () => {
    const weekly = aPolicy({ windows: [{ timezone: 'Asia/Tokyo', days: ['Wed'], start: 120, end: 360 }] });
    const claim = aClaim('fresh', { created: subtract(windowOpens, minutes(-10)), expireAfter: hours(48) });
    const [assessed] = assess(viewing([claim], { observedAt: add(windowOpens, minutes(20)) }), weekly);
    expect(assessed).toMatchObject({
      dueness: { shortLead: true },
      disqualifier: { code: 'NotDue', until: add(windowOpens, hours(4)) },
    });
  });

  it.each([
    [
      due('a', {
        lifetime: {
          readable: false,
          unreadable: [
            { path: 'spec.expireAfter', text: '30d', problem: 'use h, m, s' },
            { path: 'metadata.creationTimestamp', text: 'x', problem: 'is no time' },
          ],
        },
      }),
      {},
      {
        code: 'Unreadable',
        message: 'spec.expireAfter "30d": use h, m, s; metadata.creationTimestamp "x": is no time',
      },
    ],
    [
      due('a'),
      { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
      { code: 'OptedOut', message: 'node node-a has karpenter.sh/do-not-disrupt "true" set by its operator' },
    ],
    [due('a', { meta: { deleting: true } }), {}, { code: 'Terminating', message: 'its deletionTimestamp is set' }],
    [due('a'), null, { code: 'NoNode', message: 'node node-a is gone or going' }],
    [
      due('a', annotated({ state: 'odd' })),
      {},
      { code: 'StateMalformed', message: 'annotation noderotation.io/state cannot be read: "odd"' },
    ],
    [due('a', { ready: 'Unknown' }), {}, { code: 'NotReady', message: 'its condition Ready is Unknown' }],
    [
      due('a', { disruptionReason: 'Drifted' }),
      {},
      { code: 'Disrupting', message: 'Karpenter has already chosen it (Drifted)' },
    ],
    [
      due('a', annotated({ state: 'expired' })),
      {},
      { code: 'Expired', message: 'it expired during a rotation; Karpenter ends it' },
    ],
    [
      due('a', annotated({ state: 'draining', 'started-at': '2026-06-09T16:00:00Z' })),
      {},
      { code: 'InFlight', message: 'its rotation is draining' },
    ],
    [
      due('a', annotated({ state: 'failed', 'failed-at': '2026-06-09T16:59:00Z', 'retry-count': '2' })),
      {},
      {
        code: 'BackingOff',
        message: 'after 2 failures it waits until 2026-06-09T17:59:00Z',
        until: at('2026-06-09T17:59:00Z'),
      },
    ],
    [due('a', { expireAfter: 'Never' }), {}, { code: 'NoDeadline', message: 'it never expires' }],
    [
      aClaim('a', { created: at('2026-06-05T00:00:00Z') }),
      {},
      { code: 'NotDue', message: 'it is due from 2026-06-10T22:43:00Z', until: at('2026-06-10T22:43:00Z') },
    ],
  ] as const)('says why not, and until when (D6-05): %#', (claim, node, expected) => {
    const nodes = node === null ? [] : [aNodeOf(claim, node)];
    expect(assess(viewing([claim], { nodes }), policy)[0]?.disqualifier).toStrictEqual(expected);
  });

  it('without a node yet says so (D6-05)', () => {
    const { nodeName: _, ...launching } = due('a');
    expect(assess(viewing([launching], { nodes: [] }), policy)[0]?.disqualifier).toEqual({
      code: 'NoNode',
      message: 'it has no node yet',
    });
  });

  it('that never expires waits for its age under an explicit ageThreshold (R3.2-19, D6-05)', () => {
    const byAge = aPolicy({ ageThreshold: days(30) });
    const [assessed] = assess(viewing([due('a', { expireAfter: 'Never' })]), byAge);
    expect(assessed?.disqualifier).toMatchObject({ code: 'NotDue', until: at('2026-06-29T17:00:00Z') });
  });

  it('that never expires has its turn under an explicit ageThreshold, after all others (R3.2-18, R3.2-19, D6-05)', () => {
    const byAge = aPolicy({ ageThreshold: days(9) });
    const claims = [
      due('younger', { expireAfter: 'Never', created: at('2026-05-31T00:00:00Z') }),
      due('older', { expireAfter: 'Never', created: at('2026-05-30T00:00:00Z') }),
      due('mortal', { created: at('2026-05-31T12:00:00Z') }),
    ];
    const view = viewing(claims);
    expect(rank(view, assess(view, byAge)).map(({ claim }) => claim.meta.name)).toEqual(['mortal', 'older', 'younger']);
  });

  it('gets the first disqualifier of the list when several apply (D6-05)', () => {
    const everything = due('a', {
      ready: 'False',
      disruptionReason: 'Drifted',
      expireAfter: 'Never',
      meta: { deleting: true, annotations: { 'noderotation.io/state': 'odd' } },
    });
    expect(verdict(everything, { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } })).toBe('OptedOut');
    expect(verdict(everything)).toBe('Terminating');
    expect(disqualifiers).toEqual([
      'Unreadable',
      'OptedOut',
      'Terminating',
      'NoNode',
      'StateMalformed',
      'NotReady',
      'Disrupting',
      'Expired',
      'InFlight',
      'BackingOff',
      'NoDeadline',
      'NotDue',
    ]);
  });

  it('with another do-not-disrupt value, or with ours, is a candidate (R3.2-06, R3.4-04, PR-53)', () => {
    expect(verdict(due('a'), { annotations: { 'karpenter.sh/do-not-disrupt': 'false' } })).toBeUndefined();
    expect(
      verdict(due('a'), {
        annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'noderotation.io/do-not-disrupt-owned': 'true' },
      }),
    ).toBeUndefined();
  });

  it('comes back at the end of its backoff, to the second (R3.2-05, R3.2-08)', () => {
    const failed = (failedAt: string) =>
      verdict(due('a', annotated({ state: 'failed', 'failed-at': failedAt, 'retry-count': '1' })));
    expect(failed('2026-06-09T16:30:01Z')).toBe('BackingOff');
    expect(failed('2026-06-09T16:30:00Z')).toBeUndefined();
  });
});

describe('the order', () => {
  const names = (claims: readonly NodeClaim[], over: Parameters<typeof aSnapshot>[0] = {}) => {
    const view = viewing(claims, over);
    return rank(view, assess(view, policy)).map(({ claim }) => claim.meta.name);
  };

  it('is earliest deadline, then oldest, then name (R3.2-07)', () => {
    const young = due('young', { created: at('2026-06-05T17:00:00Z'), expireAfter: days(6) });
    const old = due('old');
    const twins = [
      due('b', { created: at('2026-05-31T17:00:00Z') }),
      due('a', { created: at('2026-05-31T17:00:00Z') }),
    ];
    const later = due('later', { created: at('2026-05-30T18:00:00Z'), expireAfter: days(15) });
    expect(names([later, ...twins, old, young])).toEqual(['young', 'old', 'a', 'b', 'later']);
  });

  it('of one deadline is by age before name, and holds candidates only (R3.2-07)', () => {
    const older = due('z', { created: at('2026-05-30T17:00:00Z'), expireAfter: days(14) });
    const younger = due('a', { created: at('2026-05-31T17:00:00Z'), expireAfter: days(13) });
    expect(names([younger, aClaim('young', { created: at('2026-06-08T00:00:00Z') }), older])).toEqual(['z', 'a']);
  });

  it('puts a claim whose failure the API would not take down last (D6-05)', () => {
    const pool = aPool({
      meta: { annotations: { 'noderotation.io/last-ended': 'uid-old@2026-06-09T16:00:00Z=failed' } },
    });
    const claims = [due('old'), due('later', { created: at('2026-06-01T17:00:00Z') })];
    expect(names(claims, { nodePools: [pool] })).toEqual(['later', 'old']);
  });

  it('puts it where it belongs once it says failed itself, for this very attempt (D6-05)', () => {
    const pool = aPool({
      meta: { annotations: { 'noderotation.io/last-ended': 'uid-old@2026-06-09T16:00:00Z=failed' } },
    });
    const later = due('later', { created: at('2026-06-01T17:00:00Z') });
    const failed = (startedAt: string) =>
      due(
        'old',
        annotated({
          state: 'failed',
          'failed-at': '2026-06-09T16:15:00Z',
          'retry-count': '1',
          'started-at': startedAt,
        }),
      );
    expect(names([later, failed('2026-06-09T16:00:00Z')], { nodePools: [pool] })).toEqual(['old', 'later']);
    expect(names([later, failed('2026-06-09T15:00:00Z')], { nodePools: [pool] })).toEqual(['later', 'old']);
    const completed = aPool({
      meta: { annotations: { 'noderotation.io/last-ended': 'uid-old@2026-06-09T16:00:00Z=aborted' } },
    });
    expect(names([later, due('old')], { nodePools: [completed] })).toEqual(['old', 'later']);
  });

  it('is total and ignores the order of input (R3.2-07)', () => {
    const aDueClaim = fc.record({
      name: fc.stringMatching(/^[a-z]{1,4}$/),
      age: fc.integer({ min: 8, max: 13 }),
      life: fc.integer({ min: 14, max: 16 }),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(aDueClaim, { selector: ({ name }) => name, maxLength: 8 }),
        fc.gen(),
        (drafts, gen) => {
          const claims = drafts.map(({ name, age, life }) =>
            due(name, { created: instant(windowOpens - age * 86_400_000), expireAfter: days(life) }),
          );
          const shuffled = claims
            .map((claim) => ({ claim, key: gen(fc.double) }))
            .sort((a, b) => a.key - b.key)
            .map(({ claim }) => claim);
          expect(names(shuffled)).toEqual(names(claims));
        },
      ),
    );
  });
});

describe('the gates', () => {
  it('are asked in this order (D6-04)', () => {
    expect(gates.map(({ code }) => code)).toEqual([
      'Infeasible',
      'StaticNodePool',
      'NodePoolNotReady',
      'Frozen',
      'OutOfWindow',
      'CooldownAfter',
      'FailurePause',
    ]);
  });

  it('close on a fatal finding and on a pool that is not Ready (D6-04, D4-01)', () => {
    const judged = (over: Parameters<typeof aPool>[0], findings: Parameters<typeof judgeGates>[0]['findings'] = []) =>
      judgeGates({ view: viewing([], { nodePools: [aPool(over)] }), policy, findings })
        .filter((gate) => !gate.open)
        .map(({ gate }) => gate);
    expect(judged({})).toEqual([]);
    expect(judged({ ready: false })).toEqual(['NodePoolNotReady']);
    expect(judged({}, [{ code: 'ANonPositive', severity: 'fatal', message: '' }])).toEqual(['Infeasible']);
    expect(judged({}, [{ code: 'KBelowTwo', severity: 'warn', message: '' }])).toEqual([]);
  });

  it('say why and until when, each at its own boundary (D6-04)', () => {
    const closed = (over: Parameters<typeof aPool>[0], observedAt = windowOpens, by = policy) =>
      judgeGates({
        view: viewing([], { nodePools: [aPool(over)], observedAt, policies: [{ valid: true, policy: by }] }),
        policy: by,
        findings: [],
      }).filter((gate) => !gate.open);
    const annotatedWith = (key: string, text: string) => ({
      meta: { annotations: { [`noderotation.io/${key}`]: text } },
    });
    expect(closed(annotatedWith('freeze', '2026-06-09T17:00:00.001Z'))).toEqual([
      {
        gate: 'Frozen',
        open: false,
        message: 'frozen until 2026-06-09T17:00:00.001Z',
        until: at('2026-06-09T17:00:00.001Z'),
      },
    ]);
    expect(closed(annotatedWith('freeze', '2026-06-09T17:00:00Z'))).toEqual([]);
    expect(closed(annotatedWith('last-rotation-at', '2026-06-09T16:50:01Z'))).toEqual([
      {
        gate: 'CooldownAfter',
        open: false,
        message: 'settling for 10m after a rotation',
        until: at('2026-06-09T17:00:01Z'),
      },
    ]);
    expect(closed(annotatedWith('last-rotation-at', '2026-06-09T16:50:00Z'))).toEqual([]);
    expect(closed(annotatedWith('last-failure-at', '2026-06-09T16:50:01Z'))).toEqual([
      {
        gate: 'FailurePause',
        open: false,
        message: 'pausing for 10m after a failure',
        until: at('2026-06-09T17:00:01Z'),
      },
    ]);
    expect(closed(annotatedWith('last-failure-at', '2026-06-09T16:50:00Z'))).toEqual([]);
    expect(closed({}, at('2026-06-09T21:00:00Z'))).toEqual([
      {
        gate: 'OutOfWindow',
        open: false,
        message: 'the next window opens at 2026-06-12T17:00:00Z',
        until: at('2026-06-12T17:00:00Z'),
      },
    ]);
    const endlessFreeze = aPolicy({ exclusions: [{ timezone: 'UTC', from: '2026-06-01', to: '2036-06-01' }] });
    expect(closed({}, windowOpens, endlessFreeze)).toEqual([
      { gate: 'OutOfWindow', open: false, message: 'no window opens in the coming year' },
    ]);
  });

  it('take a failure from the claims where the pool was reverted (D5-02)', () => {
    const claim = due('a', annotated({ state: 'failed', 'failed-at': '2026-06-09T16:55:00Z', 'retry-count': '1' }));
    const closed = judgeGates({ view: viewing([claim]), policy, findings: [] }).find((gate) => !gate.open);
    expect(closed).toMatchObject({ gate: 'FailurePause', until: at('2026-06-09T17:05:00Z') });
  });
});
