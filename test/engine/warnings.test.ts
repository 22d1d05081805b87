import { describe, expect, it } from 'vitest';
import { aNodeOf, aPolicy, aPool, aSnapshot, at } from '../support/builders.ts';
import { decisionOn, due } from '../support/rotations.ts';

const warned = { 'noderotation.io/warnings': 'StaticNodePool' };
const odd = due('odd', {
  meta: { annotations: { 'noderotation.io/state': 'pendign', 'noderotation.io/warnings': 'StateMalformed' } },
});
const snapshot = aSnapshot({
  observedAt: at('2026-06-09T17:00:00Z'),
  nodePools: [aPool({ replicas: 2, meta: { annotations: warned } })],
  nodeClaims: [odd],
  nodes: [aNodeOf(odd)],
});
const annotated = (over: Partial<typeof snapshot>) =>
  decisionOn({ ...snapshot, ...over }).actions.map((action) =>
    action.kind === 'annotate' ? { on: action.target.kind, ...action.annotations } : action.kind,
  );
const taken = [
  { on: 'NodePool', 'noderotation.io/warnings': null },
  { on: 'NodeClaim', 'noderotation.io/warnings': null },
];

describe('warnings that were given', () => {
  it('are not given again while they hold (D11-03)', () => {
    expect(annotated({})).toEqual([]);
  });

  it('are taken off pool and claims under Observe, where the status has them (D2-08, D11-03)', () => {
    expect(annotated({ policies: [{ valid: true, policy: aPolicy({ mode: 'Observe' }) }] })).toEqual(taken);
  });

  it('are taken off a retired cluster, and no new one is given there (D9-03, D11-03)', () => {
    expect(annotated({ retired: true })).toEqual(taken);
    const untold = { nodePools: [aPool({ replicas: 2 })], nodeClaims: [], retired: true };
    expect(annotated(untold)).toEqual([]);
  });
});
