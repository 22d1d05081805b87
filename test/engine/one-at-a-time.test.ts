import { describe, expect, it } from 'vitest';
import { decide } from '../../lib/engine/decide.ts';
import { viewOf } from '../../lib/engine/pool-view.ts';
import { fallbackApplies } from '../../lib/engine/start.ts';
import { aNode, aPolicy, aSnapshot, at } from '../support/builders.ts';
import { decisionOn, due, firstOf, looked, surgeIsReady } from '../support/rotations.ts';

describe('one node at a time', () => {
  it('further due nodes wait, uncordoned, while the first one surges or drains (R3.3-01, PR-19)', () => {
    const others = ['b', 'c'].map((name) => due(name));
    const nodes = others.map((claim) => aNode(claim));
    const { snapshot } = surgeIsReady({ hostNode: { ready: false } });
    const crowded = {
      ...snapshot,
      nodeClaims: [...snapshot.nodeClaims, ...others],
      nodes: [...snapshot.nodes, ...nodes.map((node) => ({ meta: node.meta }))],
    };
    const draining = {
      ...crowded,
      nodeClaims: crowded.nodeClaims.map((claim) =>
        claim.meta.name === 'old'
          ? { ...claim, meta: { ...claim.meta, deleting: true, deletionTimestamp: at('2026-06-09T17:04:00Z') } }
          : claim,
      ),
      nodePools: surgeIsReady({ pool: { 'noderotation.io/active-rotation-state': 'draining' } }).snapshot.nodePools,
    };
    for (const seen of [crowded, draining]) {
      const cordoned = decide(seen).flatMap((decision) =>
        decision.actions.flatMap((action) => (action.kind === 'protect' ? [action.target.name] : [])),
      );
      expect(cordoned.filter((name) => name === 'node-b' || name === 'node-c')).toEqual([]);
    }
  });
});

describe('what is written on objects', () => {
  it('the owned marker stands only where the protection is ours (R3.4-02, R3.4-03)', () => {
    const operators = { 'karpenter.sh/do-not-disrupt': 'true' };
    const { snapshot } = surgeIsReady({ hostNode: { meta: { annotations: operators } } });
    const protect = firstOf(decisionOn(snapshot).actions, 'protect');
    expect(protect?.target.name).toBe('node-host');
    expect(protect?.annotations).toEqual({ 'noderotation.io/surge-for': 'old' });
  });

  it('a host is protected in the very tick that first sees it (D7-02, PR-04)', () => {
    const { snapshot } = surgeIsReady({ hostNode: { meta: { annotations: {} } } });
    expect(firstOf(decisionOn(snapshot).actions, 'protect')).toMatchObject({
      target: { name: 'node-host' },
      annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'noderotation.io/do-not-disrupt-owned': 'true' },
    });
  });

  it('no list touches a NodeClaim but by its metadata or its deletion (R3.9-03)', () => {
    const snapshots = [
      surgeIsReady().snapshot,
      surgeIsReady({ observedAt: '2026-06-09T17:16:00Z', placeholder: { phase: 'Pending' } }).snapshot,
      aSnapshot({
        nodeClaims: [due('old')],
        inspected: looked({ nodes: [aNode(due('old'))], pods: { 'node-old': [] } }),
      }),
    ];
    for (const action of snapshots.flatMap((snapshot) => decisionOn(snapshot).actions)) {
      if (!('target' in action) || action.target.kind !== 'NodeClaim') continue;
      expect(['annotate', 'deleteNodeClaim']).toContain(action.kind);
      expect(action).not.toHaveProperty('unschedulable');
    }
  });
});

it('a claim without a deadline is never taken by force (R3.6-03)', () => {
  const policy = aPolicy({ surge: { forcefulFallback: true }, ageThreshold: 1 as never });
  const never = due('old', { expireAfter: 'Never' });
  const snapshot = aSnapshot({ policies: [{ valid: true, policy }], nodeClaims: [never] });
  expect(fallbackApplies(viewOf(snapshot, snapshot.nodePools[0] as never), policy, never)).toBe(false);
});
