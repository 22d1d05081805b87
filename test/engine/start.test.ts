import { describe, expect, it } from 'vitest';
import { decide } from '../../lib/engine/decide.ts';
import { survey } from '../../lib/engine/survey.ts';
import { amounts, aNode, aPod, aPolicy, aPool, aSnapshot, at } from '../support/builders.ts';
import { decisionOn, due, events, firstOf, inWords, looked } from '../support/rotations.ts';

const claim = due('old');
const node = aNode(claim);
const pods = { 'node-old': [aPod('web-1'), aPod('web-2')] };
const ready = aSnapshot({ nodeClaims: [claim], inspected: looked({ nodes: [node], pods }) });

describe('a start', () => {
  it('writes the anchor, then marks and cordon, then the claim, then the placeholder (D7-01, R3.4-07)', () => {
    const decision = decisionOn(ready);
    expect(decision.step).toBe('start');
    expect(inWords(decision.actions)).toEqual([
      'annotate NodePool/api',
      'protect Node/node-old',
      'annotate NodeClaim/old',
      'createPlaceholder noderotation-surge-old',
    ]);
    expect(firstOf(decision.actions, 'protect')).toMatchObject({
      annotations: {
        'karpenter.sh/do-not-disrupt': 'true',
        'noderotation.io/do-not-disrupt-owned': 'true',
        'noderotation.io/surge-for': 'old',
        'noderotation.io/cordoned': 'true',
      },
      unschedulable: true,
    });
    expect(events(decision.actions)).toContain('RotationStarted');
    expect(decision.transition).toMatchObject({ step: 'started', claim: 'old', uid: 'uid-old', node: 'node-old' });
  });

  it('is not begun before the candidate, its Pods and the PDBs were looked at (D15-03)', () => {
    const blind = { ...ready, inspected: { nodes: new Map(), podsOnNode: new Map(), dryRuns: new Map() } };
    expect(survey(blind)).toMatchObject({ nodes: ['node-old'], podsOnNodes: ['node-old'], disruptionBudgets: true });
    expect(decisionOn(blind)).toMatchObject({ step: 'blocked', blocked: { reason: 'NotInspected' }, actions: [] });
  });

  it('leaves an operator’s cordon to its operator (R3.4-08, R3.4-09)', () => {
    const cordoned = aNode(claim, { unschedulable: true });
    const decision = decisionOn({ ...ready, inspected: looked({ nodes: [cordoned], pods }) });
    const protect = firstOf(decision.actions, 'protect');
    expect(protect).not.toHaveProperty('unschedulable');
    expect(protect?.annotations).not.toHaveProperty('noderotation.io/cordoned');
  });

  it('takes over a do-not-disrupt whose value is not "true" (R3.4-04, PR-53)', () => {
    const other = aNode(claim, { meta: { annotations: { 'karpenter.sh/do-not-disrupt': 'false' } } });
    const decision = decisionOn({
      ...ready,
      nodes: [{ meta: other.meta }],
      inspected: looked({ nodes: [other], pods }),
    });
    expect(firstOf(decision.actions, 'protect')?.annotations).toMatchObject({
      'karpenter.sh/do-not-disrupt': 'true',
      'noderotation.io/do-not-disrupt-owned': 'true',
    });
  });

  it('passes over a candidate whose replacement spec.limits leave no room for, and says so (R3.3-20, D8-05, PR-33)', () => {
    const pool = aPool({ limits: amounts({ nodes: '3' }), used: amounts({ nodes: '3' }) });
    const decision = decisionOn({ ...ready, nodePools: [pool] });
    expect(decision).toMatchObject({ step: 'blocked', blocked: { reason: 'InsufficientHeadroom' } });
    expect(inWords(decision.actions)).toEqual(['annotate NodePool/api']);
    expect(events(decision.actions)).toContain('InsufficientHeadroom');
    expect(
      decisionOn({ ...ready, nodePools: [aPool({ limits: amounts({ nodes: '3' }), used: amounts({ nodes: '2' }) })] })
        .step,
    ).toBe('start');
  });

  it('takes one node of a pool and one of every pool (R3.3-01, PR-16)', () => {
    const claims = ['a', 'b', 'c'].map((name) => due(name));
    const other = due('d', { nodePool: 'batch' });
    const all = [...claims, other];
    const nodes = all.map((each) => aNode(each));
    const snapshot = aSnapshot({
      policies: [{ valid: true, policy: aPolicy({ nodePoolSelector: { matchLabels: {}, matchExpressions: [] } }) }],
      nodePools: [aPool(), aPool({ name: 'batch' })],
      nodeClaims: all,
      inspected: looked({ nodes, pods: Object.fromEntries(nodes.map((each) => [each.meta.name, []])) }),
    });
    const ofPools = decide(snapshot).filter(({ nodePool }) => nodePool !== '');
    const cordons = ofPools.map(
      (decision) =>
        decision.actions.filter((action) => action.kind === 'protect' && action.unschedulable === true).length,
    );
    expect(cordons).toEqual([1, 1]);
  });

  it('has nothing to do outside the window, and names the next opening (R3.1-03, R3.1-02, PR-09)', () => {
    const early = decisionOn({ ...ready, observedAt: at('2026-06-09T16:59:59Z') });
    expect(early).toMatchObject({
      step: 'blocked',
      blocked: { reason: 'OutOfWindow', until: at('2026-06-09T17:00:00Z') },
    });
    expect(inWords(early.actions)).toEqual([]);
    expect(decisionOn({ ...ready, observedAt: at('2026-06-09T20:59:59Z') }).step).toBe('start');
    expect(decisionOn({ ...ready, observedAt: at('2026-06-09T21:00:00Z') }).blocked?.reason).toBe('OutOfWindow');
  });

  it('needs no edge: a tick that comes late finds the window open (PR-86)', () => {
    expect(decisionOn({ ...ready, observedAt: at('2026-06-09T17:05:00Z') }).step).toBe('start');
  });

  it('does not happen in a static pool, which is told so once (R3.3-03, PR-62, PR-63)', () => {
    const decision = decisionOn({ ...ready, nodePools: [aPool({ replicas: 0 })] });
    expect(decision).toMatchObject({ step: 'blocked', blocked: { reason: 'StaticNodePool' } });
    expect(events(decision.actions)).toEqual(['StaticNodePool']);
    const told = aPool({ replicas: 0, meta: { annotations: { 'noderotation.io/warnings': 'StaticNodePool' } } });
    expect(decisionOn({ ...ready, nodePools: [told] }).actions).toEqual([]);
  });

  it('does not happen while frozen, and a freeze that cannot be read holds (R3.1-05, D5-06)', () => {
    const frozen = (text: string) =>
      decisionOn({ ...ready, nodePools: [aPool({ meta: { annotations: { 'noderotation.io/freeze': text } } })] });
    expect(frozen('2026-06-09T17:00:01Z').blocked).toMatchObject({
      reason: 'Frozen',
      until: at('2026-06-09T17:00:01Z'),
    });
    expect(frozen('2026-06-09T17:00:00Z').step).toBe('start');
    const unreadable = frozen('next week');
    expect(unreadable.blocked?.reason).toBe('Frozen');
    expect(events(unreadable.actions)).toEqual(['FreezeMalformed']);
  });

  it('does not happen in a pool that no policy governs, that is being deleted, or that is only observed (R3.2-02, D6-01, D2-08)', () => {
    expect(decisionOn({ ...ready, policies: [] }).blocked?.reason).toBe('NotGoverned');
    expect(decisionOn({ ...ready, nodePools: [aPool({ meta: { deleting: true } })] }).blocked?.reason).toBe(
      'NotGoverned',
    );
    expect(
      decisionOn({ ...ready, policies: [{ valid: true, policy: aPolicy({ mode: 'Observe' }) }] }).blocked?.reason,
    ).toBe('NotGoverned');
    expect(decisionOn({ ...ready, retired: true }).blocked?.reason).toBe('NotGoverned');
  });

  it.each([
    ['cooldownAfter', 'last-rotation-at', 'CooldownAfter'],
    ['failurePause', 'last-failure-at', 'FailurePause'],
  ])('waits for %s to pass, to the second (D6-04)', (_setting, key, gate) => {
    const endedAt = (text: string) =>
      decisionOn({ ...ready, nodePools: [aPool({ meta: { annotations: { [`noderotation.io/${key}`]: text } } })] });
    expect(endedAt('2026-06-09T16:50:01Z').blocked?.reason).toBe(gate);
    expect(endedAt('2026-06-09T16:50:00Z').step).toBe('start');
  });
});

describe('a forceful fallback', () => {
  const policy = aPolicy({ surge: { forcefulFallback: true } });
  // t_rot is 1h17m.
  const withDeadlineIn = (minutes: number) =>
    due('old', { created: at('2026-05-26T17:00:00Z'), expireAfter: (14 * 86_400_000 + minutes * 60_000) as never });
  const snapshotFor = (minutes: number, over = policy) => {
    const short = withDeadlineIn(minutes);
    return aSnapshot({
      policies: [{ valid: true, policy: over }],
      nodeClaims: [short],
      inspected: looked({ nodes: [aNode(short)], pods }),
    });
  };

  it('deletes the claim without a surge when less than t_rot is left (R3.6-01, R3.6-05, R3.6-06)', () => {
    const decision = decisionOn(snapshotFor(76));
    expect(decision.step).toBe('startFallback');
    expect(inWords(decision.actions)).toEqual([
      'annotate NodePool/api',
      'annotate NodeClaim/old',
      'deleteNodeClaim NodeClaim/old',
    ]);
    expect(decision.transition).toMatchObject({ step: 'fallbackStarted', node: 'node-old' });
    expect(events(decision.actions)).toContain('ForcefulFallback');
  });

  it('leaves the surge its chance while exactly t_rot is left (R3.6-01)', () => {
    expect(decisionOn(snapshotFor(77)).step).toBe('start');
  });

  it('is off unless asked for (R3.6-04)', () => {
    expect(decisionOn(snapshotFor(76, aPolicy())).step).toBe('start');
  });

  it('stays inside the window and out of a freeze (R3.6-02, D6-07)', () => {
    expect(decisionOn({ ...snapshotFor(76), observedAt: at('2026-06-09T16:59:00Z') }).blocked?.reason).toBe(
      'OutOfWindow',
    );
    expect(
      decisionOn({
        ...snapshotFor(76),
        nodePools: [aPool({ meta: { annotations: { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' } } })],
      }).blocked?.reason,
    ).toBe('Frozen');
  });
});
