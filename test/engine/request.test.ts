import { describe, expect, it } from 'vitest';
import type { RotateRequest } from '../../lib/domain/cluster/snapshot.ts';
import { minutes, subtract } from '../../lib/domain/time.ts';
import { violations } from '../../lib/engine/invariants.ts';
import { viewOf } from '../../lib/engine/pool-view.ts';
import { answerRequest } from '../../lib/engine/request.ts';
import { aClaim, aNode, aPod, aPolicy, aPool, aSnapshot, at } from '../support/builders.ts';
import { decisionOn, due, firstOf, looked } from '../support/rotations.ts';

const young = aClaim('young', { created: at('2026-06-08T00:00:00Z') });
const node = aNode(young);
const inspected = looked({ nodes: [node], pods: { 'node-young': [aPod('web-1')] } });
const request: RotateRequest = {
  nodeClaim: 'young',
  ignoreWindow: false,
  reason: 'manual run 1 (alice): kernel fix',
  requestedAt: at('2026-06-09T16:59:00Z'),
};
const asked = aSnapshot({ nodeClaims: [young], inspected, request });
const closed = at('2026-06-09T12:00:00Z');

const refusal = (over: Partial<typeof asked>) => {
  const snapshot = { ...asked, ...over };
  const decision = decisionOn(snapshot);
  return answerRequest(snapshot, snapshot.request ?? request, [{ decision, landed: decision.step === 'start' }]);
};

describe('a request for one NodeClaim', () => {
  it('starts it now though it is not due, and the row says who asked (D12-02)', () => {
    expect(decisionOn({ ...asked, nodeClaims: [young] }).step).toBe('start');
    expect(decisionOn(asked).transition).toMatchObject({ step: 'started', claim: 'young', reason: request.reason });
    expect(refusal({})).toMatchObject({ outcome: 'started' });
  });

  it('goes before the claim that is due, and no other starts in that tick (D12-02)', () => {
    const old = due('old');
    const both = { ...asked, nodeClaims: [old, young] };
    expect(decisionOn(both).transition).toMatchObject({ claim: 'young' });
    const optedOut = aNode(young, { meta: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
    const decision = decisionOn({ ...both, nodes: [{ meta: aNode(old).meta }, { meta: optedOut.meta }] });
    expect(decision).toMatchObject({ step: 'blocked', blocked: { reason: 'OptedOut' } });
  });

  it('waits neither for the cooldown nor for a failure’s pause nor for its own backoff (D12-02)', () => {
    const justNow = '2026-06-09T17:00:00Z';
    const pool = aPool({
      meta: {
        annotations: { 'noderotation.io/last-rotation-at': justNow, 'noderotation.io/last-failure-at': justNow },
      },
    });
    const failed = aClaim('young', {
      created: at('2026-06-08T00:00:00Z'),
      meta: {
        annotations: {
          'noderotation.io/state': 'failed',
          'noderotation.io/failed-at': justNow,
          'noderotation.io/retry-count': '3',
        },
      },
    });
    const observedAt = at('2026-06-09T17:01:00Z');
    expect(decisionOn({ ...asked, observedAt, nodePools: [pool], nodeClaims: [failed] }).step).toBe('start');
  });

  it('rotates what never expires (D12-02)', () => {
    const never = aClaim('young', { expireAfter: 'Never' });
    expect(decisionOn({ ...asked, nodeClaims: [never] }).step).toBe('start');
  });

  it('outside the window names the next opening, unless it ignores the window (D12-02, D7-10)', () => {
    expect(refusal({ observedAt: closed })).toMatchObject({
      outcome: 'refused',
      reason: 'OutOfWindow',
      message: expect.stringContaining('2026-06-09T17:00:00Z'),
      until: at('2026-06-09T17:00:00Z'),
    });
    const ignoring = { ...asked, observedAt: closed, request: { ...request, ignoreWindow: true } };
    const decision = decisionOn(ignoring);
    expect(decision.step).toBe('start');
    const view = viewOf(ignoring, ignoring.nodePools[0] ?? aPool());
    expect(violations(view, decision)).toEqual([]);
    const unasked = { ...ignoring, request };
    expect(violations(viewOf(unasked, view.pool), decision)).toEqual(['an anchor is written outside the window']);
  });

  it('outside the window never falls back to force (D12-02, R3.6-02)', () => {
    const policy = aPolicy({ surge: { forcefulFallback: true } });
    const late = aClaim('young', { created: subtract(closed, minutes(14 * 24 * 60 - 30)) });
    const over = { policies: [{ valid: true as const, policy }], nodeClaims: [late], observedAt: closed };
    const decision = decisionOn({ ...asked, ...over, request: { ...request, ignoreWindow: true } });
    expect(decision.step).toBe('start');
    expect(firstOf(decision.actions, 'deleteNodeClaim')).toBeUndefined();
  });

  const frozen = { 'noderotation.io/freeze': '2026-12-31T00:00:00Z' };
  const observe = aPolicy({ mode: 'Observe' });
  const inFlight = {
    'noderotation.io/active-rotation': 'other',
    'noderotation.io/rotation-claim-uid': 'uid-other',
    'noderotation.io/started-at': '2026-06-09T17:00:00Z',
  };
  it.each([
    ['Frozen', { nodePools: [aPool({ meta: { annotations: frozen } })] }],
    ['StaticNodePool', { nodePools: [aPool({ replicas: 3 })] }],
    ['NodePoolNotReady', { nodePools: [aPool({ ready: false })] }],
    ['NotGoverned', { policies: [{ valid: true as const, policy: observe }] }],
    ['NotGoverned', { retired: true }],
    ['Infeasible', { policies: [{ valid: true as const, policy: aPolicy({ windows: [] }) }] }],
    ['NotReady', { nodeClaims: [aClaim('young', { ready: 'False' })] }],
    ['InProgress', { nodePools: [aPool({ meta: { annotations: inFlight } })] }],
    ['UnknownNodeClaim', { request: { ...request, nodeClaim: 'elsewhere' } }],
    ['OtherNodePool', { request: { ...request, nodePool: 'batch' } }],
    ['UnknownNodePool', { nodeClaims: [aClaim('young', { nodePool: 'gone' })] }],
  ])('is refused as %s, the first reason why (D12-02)', (reason, over) => {
    expect(refusal(over)).toMatchObject({ outcome: 'refused', reason });
  });

  const ours = (startedAt: string) => ({
    'noderotation.io/active-rotation': 'young',
    'noderotation.io/rotation-claim-uid': 'uid-young',
    'noderotation.io/started-at': startedAt,
  });
  it.each([
    ['began after the request, by a tick that could not answer', '2026-06-09T16:59:00Z', { outcome: 'started' }],
    ['was under way before it', '2026-06-09T16:58:59Z', { outcome: 'refused', reason: 'InProgress' }],
  ])('whose rotation %s is told so (D12-03)', (_, startedAt, expected) => {
    expect(refusal({ nodePools: [aPool({ meta: { annotations: ours(startedAt) } })] })).toMatchObject(expected);
  });

  it('that could not be written is refused, not started (D7-09, D12-02)', () => {
    const decision = decisionOn(asked);
    const stopped = 'conflict: moved';
    expect(answerRequest(asked, request, [{ decision, landed: false, stopped }])).toEqual({
      outcome: 'refused',
      reason: 'NotWritten',
      message: `the start could not be written: ${stopped}`,
    });
  });
});

describe('what a pool measures', () => {
  it('is told with each decision: candidates, windows, chances and bounds (D11-01)', () => {
    const { gauges } = decisionOn(aSnapshot({ nodeClaims: [due('old'), young], inspected }));
    expect(gauges).toMatchObject({ candidates: 1, inProgress: false, windowOpen: true, policyConflict: false });
    expect(gauges).toMatchObject({
      rotationBound: expect.any(Number),
      rotationEstimate: expect.any(Number),
      windowPeriod: expect.any(Number),
      throughputCapacity: expect.any(Number),
    });
  });
});

describe('findings', () => {
  it('are told as they begin and as they end, with the object they are about (D10-02)', () => {
    const pool = aPool({ meta: { annotations: { 'noderotation.io/warnings': 'FreezeMalformed' } }, replicas: 2 });
    const { findings = [] } = decisionOn(aSnapshot({ nodePools: [pool] }));
    expect(findings).toContainEqual({
      change: 'closed',
      on: { kind: 'NodePool', name: 'api' },
      code: 'FreezeMalformed',
    });
    expect(findings).toContainEqual({
      change: 'opened',
      on: { kind: 'NodePool', name: 'api' },
      code: 'StaticNodePool',
      severity: 'warn',
      message: expect.stringContaining('spec.replicas'),
    });
  });
});
