import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../lib/domain/cluster/snapshot.ts';
import type { Action } from '../../lib/engine/decision.ts';
import { at } from '../support/builders.ts';
import { anchorOf, decisionOn, due, surgeIsReady } from '../support/rotations.ts';

const onClaim = (actions: readonly Action[]) =>
  actions.flatMap((action) =>
    action.kind === 'annotate' && action.target.kind === 'NodeClaim' ? [action.annotations] : [],
  );

/** The tick before died after the pool knew the host and before the claim did: the claim names one that is gone. */
const stale = (snapshot: ClusterSnapshot): ClusterSnapshot => ({
  ...snapshot,
  nodeClaims: snapshot.nodeClaims.map((claim) => ({
    ...claim,
    meta: {
      ...claim.meta,
      annotations: Object.fromEntries(
        Object.entries(claim.meta.annotations).map(([key, value]) => [key, value === 'host' ? 'former' : value]),
      ),
    },
  })),
});

describe('a claim whose copy of the surge claim is behind the pool', () => {
  it('gets it while the surge is awaited (D5-02, D7-01, R3.8-05)', () => {
    const { snapshot } = surgeIsReady({ placeholder: { phase: 'Pending' } });
    expect(onClaim(decisionOn(snapshot).actions)).toEqual([]);
    expect(onClaim(decisionOn(stale(snapshot)).actions)).toEqual([
      expect.objectContaining({ 'noderotation.io/surge-claim': 'host' }),
    ]);
  });

  it('gets it with the mark of the drain at the latest (D5-02, D7-04)', () => {
    const decision = decisionOn(stale(surgeIsReady().snapshot));
    expect(decision.step).toBe('handOver');
    expect(onClaim(decision.actions)).toEqual([
      {
        'noderotation.io/state': 'draining',
        'noderotation.io/started-at': '2026-06-09T17:00:00Z',
        'noderotation.io/surge-claim': 'host',
      },
    ]);
  });
});

it('a fallback that died before its claim was marked gives it the mode, too (D5-02, D7-05)', () => {
  const { snapshot } = surgeIsReady({ observedAt: '2026-06-09T17:01:00Z' });
  const old = due('old', { created: at('2026-05-26T17:40:00Z') });
  const anchor = anchorOf(old, '2026-06-09T17:00:00Z', {
    'noderotation.io/active-rotation-state': 'draining',
    'noderotation.io/draining-at': '2026-06-09T17:00:00Z',
    'noderotation.io/rotation-mode': 'forceful-fallback',
  });
  const nodePools = snapshot.nodePools.map((pool) => ({ ...pool, meta: { ...pool.meta, annotations: anchor } }));
  const policies = snapshot.policies.map((reading) =>
    reading.valid
      ? { ...reading, policy: { ...reading.policy, surge: { ...reading.policy.surge, forcefulFallback: true } } }
      : reading,
  );
  const decision = decisionOn({ ...snapshot, nodePools, policies, nodeClaims: [old], placeholders: [] });
  expect(decision.step).toBe('repeatDelete');
  expect(onClaim(decision.actions)).toEqual([
    {
      'noderotation.io/state': 'draining',
      'noderotation.io/started-at': '2026-06-09T17:00:00Z',
      'noderotation.io/rotation-mode': 'forceful-fallback',
    },
  ]);
});
