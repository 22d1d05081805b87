/**
 * What a start tells an operator, and what keeps a candidate or a pool from one: each as the tick itself decides it.
 */
import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../lib/domain/cluster/node-claim.ts';
import type { Pod } from '../../lib/domain/cluster/pod.ts';
import type { ClusterSnapshot } from '../../lib/domain/cluster/snapshot.ts';
import { add, days, hours, minutes, seconds, subtract, sum } from '../../lib/domain/time.ts';
import type { Decision } from '../../lib/engine/decision.ts';
import { aBudget, amounts, aNode, aPod, aPolicy, aPool, aSnapshot, at } from '../support/builders.ts';
import { decisionOn, due, firstOf, inWords, looked, windowOpens } from '../support/rotations.ts';

type Over = Partial<ClusterSnapshot> & {
  claims?: readonly NodeClaim[];
  node?: Parameters<typeof aNode>[1];
  pods?: readonly Pod[];
  budgets?: readonly ReturnType<typeof aBudget>[];
};

/** A tick at the opening of the window that has looked at every claim's node; all nodes and Pods alike. */
function tick({ claims = [due('old')], node = {}, pods = [aPod('web')], budgets = [], ...over }: Over = {}): Decision {
  const nodes = claims.map((claim) => aNode(claim, node));
  const onNodes = Object.fromEntries(nodes.map((each) => [each.meta.name, pods]));
  return decisionOn(
    aSnapshot({
      observedAt: windowOpens,
      nodeClaims: claims,
      nodes: nodes.map(({ meta }) => ({ meta })),
      inspected: { ...looked({ nodes, pods: onNodes }), disruptionBudgets: budgets },
      ...over,
    }),
  );
}

const asking = (cpu: string, over: Parameters<typeof aPod>[1] = {}): Pod => aPod('web', { requests: { cpu }, ...over });
const daemon = (cpu: string): Pod => aPod('agent', { requests: { cpu }, controllerKind: 'DaemonSet' });

/** Events of the list but the start's own: `Warning HeadroomTight`. */
const said = ({ actions }: Decision): readonly string[] =>
  actions.flatMap((action) =>
    action.kind === 'emitEvent' && action.event.reason !== 'RotationStarted'
      ? [`${action.event.type} ${action.event.reason}`]
      : [],
  );
const noteOf = ({ actions }: Decision, reason: string): string | undefined =>
  actions.flatMap((action) =>
    action.kind === 'emitEvent' && action.event.reason === reason ? [action.event.note] : [],
  )[0];
const requestsIn = (decision: Decision): unknown => {
  const containers = firstOf(decision.actions, 'createPlaceholder')?.pod.spec.containers;
  return (containers as { resources: { requests: unknown } }[] | undefined)?.[0]?.resources.requests;
};

describe('the size of the placeholder', () => {
  const stated = (cpu: string) => [due('old', { allocatable: amounts({ cpu }) })];
  const node = { allocatable: amounts({ cpu: '3920m' }) };

  it.each([
    ['at the limit is said by nobody', '3900m', '3900m', []],
    ['a clamp inside the band is a Normal Event', '3901m', '3900m', ['Normal SurgeClamped']],
    ['a clamp by the whole band, too', '3920m', '3900m', ['Normal SurgeClamped']],
    ['a clamp beyond the band is a warning', '3921m', '3900m', ['Warning SurgeClampBandExceeded']],
  ])('%s, and the rotation starts (R3.3-11, R3.3-15, D8-04)', (_, asked, requested, events) => {
    const decision = tick({ claims: stated('3900m'), node, pods: [asking(asked)] });
    expect([decision.step, requestsIn(decision), said(decision)]).toEqual(['start', { cpu: requested }, events]);
  });

  it('a limit that DaemonSets leave nothing of refuses the clamp, once, and stops nothing (R3.3-14, PR-30)', () => {
    const decision = tick({ claims: stated('940m'), pods: [asking('200m'), daemon('1')] });
    expect([decision.step, requestsIn(decision)]).toEqual(['start', { cpu: '200m' }]);
    expect(said(decision)).toEqual(['Warning SurgeClampRefused']);
    expect(noteOf(decision, 'SurgeClampRefused')).toBe(
      "DaemonSets on the node of old leave no cpu by its NodeClaim's allocatable, so the placeholder keeps the full drain.",
    );
    // One thousandth is left: from there on it is a clamp.
    const barely = tick({ claims: stated('1001m'), node, pods: [asking('200m'), daemon('1')] });
    expect([requestsIn(barely), said(barely)]).toEqual([{ cpu: '1m' }, ['Normal SurgeClamped']]);
  });

  it('a claim that states no allocatable is not clamped, and nothing is said (R3.3-12)', () => {
    const { allocatable: _, ...bare } = due('old');
    const decision = tick({ claims: [bare], node, pods: [asking('9')] });
    expect([requestsIn(decision), said(decision)]).toEqual([{ cpu: '9' }, []]);
  });

  it('comes from the claim of the candidate alone, though its twin states another (R3.3-11, PR-31)', () => {
    const claims = [
      due('first', { allocatable: amounts({ memory: '358859Mi' }) }),
      due('second', { created: at('2026-05-31T17:00:00Z'), allocatable: amounts({ memory: '366000Mi' }) }),
    ];
    const pods = [aPod('web', { requests: { memory: '400000Mi' } })];
    expect(requestsIn(tick({ claims, pods }))).toEqual({ memory: '358859Mi' });
    expect(requestsIn(tick({ claims: claims.slice(1), pods }))).toEqual({ memory: '366000Mi' });
  });
});

describe('the limits of the pool', () => {
  const limited = (limits: Record<string, string>, used: Record<string, string>) => ({
    nodePools: [aPool({ limits: amounts(limits), used: amounts(used) })],
  });

  it.each([
    ['a whole instance fits exactly', { cpu: '8' }, { cpu: '4' }, 'start', []],
    ['the Pods fit, a whole instance does not', { cpu: '8' }, { cpu: '4001m' }, 'start', ['HeadroomTight']],
    ['the Pods fit exactly', { cpu: '8' }, { cpu: '7500m' }, 'start', ['HeadroomTight']],
    ['the Pods do not fit', { cpu: '8' }, { cpu: '7501m' }, 'blocked', ['InsufficientHeadroom']],
    ['a node is left', { nodes: '3' }, { nodes: '2' }, 'start', []],
    ['no node is left', { nodes: '3' }, { nodes: '3' }, 'blocked', ['InsufficientHeadroom']],
  ])('%s (D8-05, R3.3-13, R3.3-20, PR-33)', (_, limits, used, step, codes) => {
    const decision = tick(limited(limits, used));
    // That the pool as a whole has no room for another node is a finding of its own.
    const events = said(decision).filter((line) => line !== 'Warning NoHeadroom');
    expect([decision.step, events]).toEqual([step, codes.map((code) => `Warning ${code}`)]);
  });

  it('test the clamped footprint, not the drain (R3.3-13)', () => {
    const claims = [due('old', { allocatable: amounts({ cpu: '2' }) })];
    const over = { claims, pods: [asking('3')], ...limited({ cpu: '8' }, { cpu: '6' }) };
    expect([tick(over).step, requestsIn(tick(over))]).toEqual(['start', { cpu: '2' }]);
  });

  it('test the whole node where it is reserved (R3.3-20, R3.3-16)', () => {
    const whole = aPolicy({ surge: { wholeNodeReservation: true } });
    const policies = [{ valid: true as const, policy: whole }];
    const room = (used: string) => tick({ policies, ...limited({ cpu: '8' }, { cpu: used }) });
    expect(requestsIn(room('4100m'))).toMatchObject({ cpu: '3900m', memory: '15Gi' });
    expect(room('4101m')).toMatchObject({ step: 'blocked', blocked: { reason: 'InsufficientHeadroom' } });
    // Without a Pod to move nothing is reserved.
    expect(requestsIn(tick({ policies, pods: [], ...limited({ cpu: '8' }, { cpu: '8' }) }))).toEqual({});
  });

  it('that do not fit one candidate let the next be tried (D8-05, D6-06)', () => {
    const large = due('large', { allocatable: amounts({ cpu: '16' }) });
    const small = due('small', { created: at('2026-05-31T17:00:00Z') });
    const nodes = [large, small].map((claim) => aNode(claim));
    const decision = tick({
      ...limited({ cpu: '8' }, { cpu: '7' }),
      claims: [large, small],
      inspected: looked({ nodes, pods: { 'node-large': [asking('2')], 'node-small': [asking('1')] } }),
    });
    expect(decision).toMatchObject({ step: 'start', transition: { claim: 'small' } });
    expect(noteOf(decision, 'InsufficientHeadroom')).toContain('too little cpu for the replacement of large');
  });
});

describe('the keys that a replacement has to share', () => {
  const allowing = (key: string, ...values: string[]) => {
    const pool = aPool();
    return {
      nodePools: [
        { ...pool, template: { ...pool.template, requirements: [{ key, operator: 'In' as const, values }] } },
      ],
    };
  };
  const zone = 'topology.kubernetes.io/zone';

  it('are dropped where the pool no longer allows the node’s value, with a warning of both sides (D8-08, R3.7-02, PR-59)', () => {
    const decision = tick(allowing(zone, 'ap-northeast-1c', 'ap-northeast-1d'));
    expect([decision.step, said(decision)]).toEqual(['start', ['Warning RequirementDropped']]);
    expect(noteOf(decision, 'RequirementDropped')).toBe(
      'The NodePool no longer allows topology.kubernetes.io/zone=ap-northeast-1a (it allows ap-northeast-1c, ap-northeast-1d), so the replacement of old is not held to it. Volumes bound to that zone will not follow.',
    );
    const other = tick(allowing('kubernetes.io/arch', 'amd64'));
    expect(noteOf(other, 'RequirementDropped')).not.toContain('Volumes');
  });

  it('that are all kept say nothing (D8-08)', () => {
    expect(said(tick(allowing(zone, 'ap-northeast-1a')))).toEqual([]);
  });

  it('without the zone are warned of, since zonal volumes may strand (R3.7-05)', () => {
    const required = ['kubernetes.io/arch'];
    const policy = aPolicy({ surge: { matchNodeRequirements: { required, preferred: [zone] } } });
    const decision = tick({ policies: [{ valid: true, policy }] });
    expect([decision.step, said(decision)]).toEqual(['start', ['Warning ZoneNotPinned']]);
  });

  it('pin a reserved node to the reservation that it holds itself: warned of, unless only preferred (D4-03, PR-61)', () => {
    const key = 'karpenter.sh/capacity-type';
    const labels = { 'karpenter.sh/nodepool': 'api', [key]: 'reserved' };
    const claims = [due('old', { meta: { labels } })];
    expect(said(tick({ claims }))).toEqual(['Warning ReservedPinned']);
    const matchNodeRequirements = { required: [zone], preferred: [key] };
    const policy = aPolicy({ surge: { matchNodeRequirements } });
    const decision = tick({ claims, policies: [{ valid: true, policy }] });
    expect(said(decision)).toEqual([]);
  });
});

describe('a drain that cannot proceed', () => {
  const selector = { matchLabels: {}, matchExpressions: [] };
  const never = aBudget('web', {
    selector,
    minAvailable: '1',
    disruptionsAllowed: 0,
    desiredHealthy: 1,
    expectedPods: 1,
  });
  const deferring = [{ valid: true as const, policy: aPolicy({ surge: { deferBlockedDrains: true } }) }];
  // readyTimeout 15m + grace 1h + 2m.
  const rotationBound = sum(minutes(15), hours(1), minutes(2));
  /** The deadline leaves the next opening, Saturday's, exactly its bound, and so much more. */
  const until = (more: number) => {
    const saturday = at('2026-06-12T17:00:00Z');
    const deadline = add(add(saturday, rotationBound), seconds(more));
    return [due('old', { created: subtract(deadline, days(14)) })];
  };

  it.each([
    ['a PDB that can never allow an eviction', [aPod('web')], [never], 'PodDisruptionBudget shop/web'],
    ['a Pod under two PDBs', [aPod('web')], [aBudget('a'), aBudget('b')], 'shop/web is under 2'],
    [
      'a Pod with do-not-disrupt',
      [aPod('job', { meta: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } })],
      [],
      'shop/job carries karpenter.sh/do-not-disrupt',
    ],
    ['a Pod whose grace is the claim’s', [aPod('db', { terminationGracePeriod: hours(1) })], [], 'shop/db asks for 1h'],
  ])(
    'because of %s starts with a warning that names it before the cordon (D6-06, PR-23, PR-50, PR-71)',
    (_, pods, budgets, words) => {
      const decision = tick({ pods, budgets });
      expect([decision.step, said(decision)]).toEqual(['start', ['Warning DrainBlocked']]);
      expect(noteOf(decision, 'DrainBlocked')).toContain(words);
    },
  );

  it.each([
    ['one chance is left after this one', 0, 'blocked'],
    ['a second is missing to it', -1, 'start'],
  ])('is put off where the policy wants that: %s (D6-06, PR-50)', (_, more, step) => {
    const decision = tick({ claims: until(more), budgets: [never], policies: deferring });
    expect(decision.step).toBe(step);
    expect(said(decision).filter((line) => line.includes('DrainBlocked'))).toEqual(['Warning DrainBlocked']);
    if (step === 'blocked') expect(decision.blocked?.reason).toBe('DrainBlocked');
    expect(inWords(decision.actions).includes('protect Node/node-old')).toBe(step === 'start');
  });

  it('is not put off unless the policy wants that, nor where nothing blocks (D6-06)', () => {
    expect(tick({ claims: until(0), budgets: [never] }).step).toBe('start');
    expect(tick({ claims: until(0), policies: deferring }).step).toBe('start');
  });

  it('lets the next candidate go in its place (D6-06)', () => {
    const claims = [due('held'), due('free', { created: at('2026-05-31T17:00:00Z') })];
    const nodes = claims.map((claim) => aNode(claim));
    const held = aPod('db', { terminationGracePeriod: hours(1) });
    const decision = tick({
      claims,
      policies: deferring,
      inspected: looked({ nodes, pods: { 'node-held': [held], 'node-free': [aPod('web')] } }),
    });
    expect(decision).toMatchObject({ step: 'start', transition: { claim: 'free' } });
    expect(noteOf(decision, 'DrainBlocked')).toContain('shop/db');
  });
});

describe('a pool in which nothing starts', () => {
  it.each([
    ['that is not Ready', { ready: false }, 'NodePoolNotReady'],
    ['of a fixed size', { replicas: 2 }, 'StaticNodePool'],
    ['of the fixed size 0', { replicas: 0 }, 'StaticNodePool'],
    ['that is being deleted', { meta: { deleting: true } }, 'NotGoverned'],
  ])('%s has no node cordoned and no Pod made (D6-04, D6-01, R3.3-03, PR-62, PR-63)', (_, over, reason) => {
    const decision = tick({ nodePools: [aPool(over)] });
    expect([decision.step, decision.blocked?.reason]).toEqual(['blocked', reason]);
    expect(inWords(decision.actions).filter((line) => !line.startsWith('annotate NodePool'))).toEqual([]);
  });

  it('because of its fixed size is told which remedies there are (R3.3-03)', () => {
    const note = noteOf(tick({ nodePools: [aPool({ replicas: 2 })] }), 'StaticNodePool');
    expect(note).toContain('dynamic NodePool');
    expect(note).toContain('leave it out of the RotationPolicy selector');
  });

  it('because of its fixed size does not fall back to force either (R3.3-03, D6-07)', () => {
    const policy = aPolicy({ surge: { forcefulFallback: true } });
    const late = [due('old', { created: subtract(windowOpens, subtractDays(14, 1)) })];
    const over = { claims: late, policies: [{ valid: true as const, policy }] };
    expect(tick(over).step).toBe('startFallback');
    expect(tick({ ...over, nodePools: [aPool({ replicas: 2 })] }).blocked?.reason).toBe('StaticNodePool');
  });
});

/** So many days less so many hours. */
const subtractDays = (whole: number, less: number) => sum(days(whole), hours(-less));
