import { describe, expect, it } from 'vitest';
import { decide } from '../../lib/engine/decide.ts';
import { violations } from '../../lib/engine/invariants.ts';
import { viewOf } from '../../lib/engine/pool-view.ts';
import { aClaim, aNodeOf, aPool, aSnapshot, at } from '../support/builders.ts';
import { aPlaceholder, decisionOn, inWords, marks, surgeIsReady } from '../support/rotations.ts';

const closed = at('2026-06-09T12:00:00Z');

describe('the sweep', () => {
  const claim = aClaim('nc-1', { created: at('2026-06-08T00:00:00Z') });

  it('undoes our marks and our cordon with no rotation behind them (R3.9-02, D6-03, PR-21)', () => {
    const node = aNodeOf(claim, { annotations: { ...marks('gone', true), team: 'shop' } });
    const decision = decisionOn(aSnapshot({ observedAt: closed, nodeClaims: [claim], nodes: [node] }));
    expect(decision.actions).toEqual([
      {
        kind: 'unprotect',
        target: expect.objectContaining({ kind: 'Node', name: 'node-nc-1' }),
        annotations: {
          'noderotation.io/do-not-disrupt-owned': null,
          'noderotation.io/surge-for': null,
          'noderotation.io/cordoned': null,
          'karpenter.sh/do-not-disrupt': null,
        },
        unschedulable: null,
        whenRefused: 'goOn',
      },
    ]);
  });

  it('never touches an operator’s do-not-disrupt or cordon (R3.4-03, R3.4-05, PR-21)', () => {
    const own = aNodeOf(claim, { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    expect(
      decisionOn(aSnapshot({ observedAt: closed, nodeClaims: [claim], nodes: [own] })).actions.filter(
        (action) => action.kind === 'unprotect',
      ),
    ).toEqual([]);
    const attributed = aNodeOf(claim, {
      annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'noderotation.io/surge-for': 'gone' },
    });
    const [undone] = decisionOn(aSnapshot({ observedAt: closed, nodeClaims: [claim], nodes: [attributed] })).actions;
    expect(undone).toMatchObject({ kind: 'unprotect', annotations: { 'noderotation.io/surge-for': null } });
    expect(undone?.kind === 'unprotect' && Object.keys(undone.annotations)).toEqual(['noderotation.io/surge-for']);
    expect(undone).not.toHaveProperty('unschedulable');
  });

  it('leaves the marks of a rotation in flight, in any pool (D6-03, R3.4-06)', () => {
    const { snapshot } = surgeIsReady({ observedAt: '2026-06-09T17:02:00Z', hostNode: { ready: false } });
    expect(inWords(decisionOn(snapshot).actions)).toEqual([]);
  });

  it('reaches nodes of pools that are gone or governed by nobody, and stray placeholders (D6-03)', () => {
    const node = aNodeOf(claim, { labels: { 'karpenter.sh/nodepool': 'deleted' }, annotations: marks('gone') });
    const snapshot = aSnapshot({
      observedAt: closed,
      policies: [],
      nodeClaims: [claim],
      nodes: [node],
      placeholders: [aPlaceholder(aClaim('gone'))],
    });
    const rest = decide(snapshot).find((decision) => decision.nodePool === '');
    expect(inWords(rest?.actions ?? [])).toEqual([
      'unprotect Node/node-nc-1',
      'deletePlaceholder Pod/noderotation-surge-gone',
    ]);
  });

  it('takes the state of a rotation off the claims of a pool that is gone, unless they are going themselves (D6-03)', () => {
    const state = { 'noderotation.io/state': 'pending', 'noderotation.io/started-at': '2026-06-09T11:00:00Z' };
    const kept = {
      'noderotation.io/state': 'failed',
      'noderotation.io/failed-at': '2026-06-09T11:00:00Z',
      'noderotation.io/retry-count': '1',
    };
    const of = (name: string, annotations: Record<string, string>, deleting = false) =>
      aClaim(name, { nodePool: 'deleted', created: at('2026-06-08T00:00:00Z'), meta: { annotations, deleting } });
    const snapshot = aSnapshot({
      observedAt: closed,
      nodeClaims: [
        of('left', state),
        of('going', { ...state, 'noderotation.io/state': 'draining' }, true),
        of('failed', kept),
      ],
    });
    const rest = decide(snapshot).find((decision) => decision.nodePool === '');
    expect(rest?.actions.filter(({ kind }) => kind !== 'writeStatus')).toEqual([
      expect.objectContaining({
        kind: 'annotate',
        target: expect.objectContaining({ kind: 'NodeClaim', name: 'left' }),
        annotations: { 'noderotation.io/state': null, 'noderotation.io/started-at': null },
        whenRefused: 'goOn',
      }),
    ]);
    expect(rest && violations(undefined, rest)).toEqual([]);
  });

  it('clears fragments of an anchor (D6-03)', () => {
    const pool = aPool({
      meta: {
        annotations: {
          'noderotation.io/surge-claim': 'nc-9',
          'noderotation.io/last-rotation-at': '2026-06-01T00:00:00Z',
        },
      },
    });
    expect(decisionOn(aSnapshot({ observedAt: closed, nodePools: [pool] })).actions).toEqual([
      expect.objectContaining({
        kind: 'annotate',
        annotations: { 'noderotation.io/surge-claim': null },
        whenRefused: 'goOn',
      }),
    ]);
  });
});

describe('the invariants', () => {
  const { snapshot, oldNode } = surgeIsReady();
  const pool = snapshot.nodePools[0];
  if (!pool) throw new Error('no pool');
  const handOver = decisionOn(snapshot);

  it.each([
    [
      'a drain before the surge is ready',
      surgeIsReady({ hostNode: { ready: false } }).snapshot,
      handOver,
      'before its surge is ready',
    ],
    [
      'a drain while frozen',
      surgeIsReady({ pool: { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' } }).snapshot,
      handOver,
      'while frozen',
    ],
    [
      'a drain before its durable mark',
      snapshot,
      { ...handOver, actions: handOver.actions.filter((action) => action.kind === 'deleteNodeClaim') },
      'before the pool says that it drains',
    ],
    [
      'a delete of another claim',
      { ...snapshot, nodeClaims: snapshot.nodeClaims.slice(1) },
      handOver,
      'not the one on the anchor',
    ],
    [
      'a second rotation',
      {
        ...snapshot,
        nodePools: [
          aPool({ meta: { annotations: { ...pool.meta.annotations, 'noderotation.io/active-rotation': 'other' } } }),
        ],
      },
      handOver,
      'already rotates other',
    ],
    [
      'a reap without its guards',
      snapshot,
      {
        ...handOver,
        step: 'rollBack',
        actions: [
          {
            kind: 'deleteNodeClaim',
            because: 'reapSurge',
            target: { kind: 'NodeClaim', name: 'host', uid: 'uid-host', resourceVersion: '1' },
            whenRefused: 'goOn',
          },
        ],
      },
      'without its guards',
    ],
    [
      'a foreign annotation',
      snapshot,
      {
        ...handOver,
        actions: [
          {
            kind: 'annotate',
            target: handOver.actions[0] && 'target' in handOver.actions[0] ? handOver.actions[0].target : undefined,
            annotations: { team: 'x' },
            whenRefused: 'stop',
          },
        ],
      },
      'is not ours',
    ],
    [
      'an operator’s mark taken away',
      { ...snapshot, nodes: [{ meta: { ...oldNode.meta, annotations: {} } }] },
      {
        ...handOver,
        actions: [
          {
            kind: 'unprotect',
            target: { kind: 'Node', name: 'node-old', uid: 'u', resourceVersion: '1' },
            annotations: { 'karpenter.sh/do-not-disrupt': null },
            unschedulable: null,
            whenRefused: 'goOn',
          },
        ],
      },
      'not ours to remove',
    ],
    ['a step that the table does not declare', snapshot, { ...handOver, step: 'finish' }, 'may not lead from pending'],
  ])('refuse %s (D7-10)', (_what, seen, decision, words) => {
    const view = viewOf(seen, seen.nodePools[0] as never);
    expect(violations(view, decision as never).join('; ')).toContain(words);
  });

  it.each([
    ['outside the window', { observedAt: closed }, 'outside the window'],
    [
      'while frozen',
      { nodePools: [aPool({ meta: { annotations: { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' } } })] },
      'while frozen',
    ],
    ['in a static pool', { nodePools: [aPool({ replicas: 2 })] }, 'static pool'],
    ['in a pool that nobody governs', { policies: [] }, 'not governed'],
  ])('refuse an anchor %s (D7-10)', (_what, over, words) => {
    const seen = { ...aSnapshot(), ...over };
    const decision = {
      nodePool: 'api',
      step: 'start',
      notices: [],
      grounds: {},
      actions: [
        {
          kind: 'annotate',
          target: { kind: 'NodePool', name: 'api', uid: 'u', resourceVersion: '1' },
          annotations: {
            'noderotation.io/active-rotation': 'nc',
            'noderotation.io/rotation-claim-uid': 'u',
            'noderotation.io/started-at': '2026-06-09T17:00:00Z',
          },
          whenRefused: 'stop',
        },
      ],
    };
    expect(violations(viewOf(seen, seen.nodePools[0] as never), decision as never).join('; ')).toContain(words);
  });
});
