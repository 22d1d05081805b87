import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../lib/domain/cluster/node-claim.ts';
import type { ClusterSnapshot } from '../../lib/domain/cluster/snapshot.ts';
import { aPod, aPolicy, aPool, at } from '../support/builders.ts';
import { anchorOf, decisionOn, events, inWords, looked, surgeIsReady } from '../support/rotations.ts';

const mirror = {
  'noderotation.io/active-rotation-state': 'draining',
  'noderotation.io/draining-at': '2026-06-09T17:03:00Z',
  'noderotation.io/surge-wait': '2m',
  'noderotation.io/surge-path': 'provisioned',
};

const startedThen = { 'noderotation.io/started-at': '2026-06-09T17:00:00Z' };

/** The same rotation a step later: handed over, the placeholder gone. */
function draining(
  over: Parameters<typeof surgeIsReady>[0] = {},
  old?: Partial<NodeClaim['meta']>,
): ClusterSnapshot & { claims: readonly NodeClaim[] } {
  const { snapshot } = surgeIsReady({ ...over, pool: { ...mirror, ...over.pool } });
  const claims = snapshot.nodeClaims.map((claim) =>
    claim.meta.name === 'old'
      ? {
          ...claim,
          meta: {
            ...claim.meta,
            annotations: { ...claim.meta.annotations, 'noderotation.io/state': 'draining' },
            ...old,
          },
        }
      : claim,
  );
  return { ...snapshot, nodeClaims: claims, placeholders: [], claims };
}
const deleting = (deletionTimestamp = '2026-06-09T17:03:00Z') => ({
  deleting: true,
  deletionTimestamp: at(deletionTimestamp),
});

describe('a drain', () => {
  it('is waited for, through a freeze and without a policy (R3.1-09, D6-01, D7-05)', () => {
    const going = draining({ pool: { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' } }, deleting());
    expect(decisionOn(going)).toMatchObject({ step: 'awaitDrain', actions: [] });
    expect(decisionOn({ ...going, policies: [] }).step).toBe('awaitDrain');
    expect(decisionOn({ ...going, policies: [{ valid: true, policy: aPolicy({ mode: 'Observe' }) }] }).step).toBe(
      'awaitDrain',
    );
  });

  it('cannot be reversed when the host turns NotReady (R3.8-02, PR-72)', () => {
    expect(decisionOn(draining({ hostNode: { ready: false } }, deleting())).step).toBe('awaitDrain');
  });

  it('removes a placeholder that is still there (D7-05)', () => {
    const going = draining({}, deleting());
    const { placeholder } = surgeIsReady();
    expect(inWords(decisionOn({ ...going, placeholders: [placeholder] }).actions)).toEqual([
      'deletePlaceholder Pod/noderotation-surge-old',
    ]);
  });

  it('that outlasts its grace is reported once with what blocks it (D7-05, PR-51, PR-52)', () => {
    const inTime = draining({ observedAt: '2026-06-09T18:05:00Z' }, deleting());
    expect(decisionOn(inTime).notices.map((notice) => notice.code)).not.toContain('DrainStuck');
    const blocked = aPod('db-0', { meta: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
    const late = {
      ...draining({ observedAt: '2026-06-09T18:05:01Z' }, deleting()),
      inspected: looked({ pods: { 'node-old': [blocked] } }),
    };
    const decision = decisionOn(late);
    expect(events(decision.actions)).toContain('DrainStuck');
    expect(decision.notices.find((notice) => notice.code === 'DrainStuck')?.message).toContain('shop/db-0');
    const said = {
      ...late,
      nodePools: late.nodePools.map((pool) => ({
        ...pool,
        meta: { ...pool.meta, annotations: { ...pool.meta.annotations, 'noderotation.io/warnings': 'DrainStuck' } },
      })),
    };
    expect(decisionOn(said).actions).toEqual([]);
  });

  it('ends in success when the old claim is gone (D7-06, R3.3-09)', () => {
    const done = draining({ observedAt: '2026-06-09T17:06:00Z' });
    const decision = decisionOn({ ...done, nodeClaims: done.claims.filter((claim) => claim.meta.name !== 'old') });
    expect(decision.step).toBe('finish');
    expect(inWords(decision.actions)).toEqual([
      'unprotect Node/node-old',
      'unprotect Node/node-host',
      'annotate NodePool/api',
    ]);
    expect(decision.transition).toMatchObject({
      step: 'completed',
      surgePath: 'provisioned',
      surgeWait: 120_000,
      drain: 180_000,
    });
    expect(decision.actions.find((action) => action.kind === 'annotate')).toMatchObject({
      annotations: {
        'noderotation.io/active-rotation': null,
        'noderotation.io/last-rotation-at': '2026-06-09T17:06:00Z',
        'noderotation.io/last-ended': 'uid-old@2026-06-09T17:00:00Z=completed',
      },
    });
    const completed = decision.actions.find((action) => action.kind === 'emitEvent');
    expect(completed?.kind === 'emitEvent' && completed.event).toMatchObject({
      reason: 'RotationCompleted',
      type: 'Normal',
      note: expect.stringContaining('surgePath=provisioned'),
    });
  });

  it('of a claim made again under the same name is over (D5-05)', () => {
    const again = draining({}, { uid: 'another' });
    expect(decisionOn(again).step).toBe('finish');
  });
});

describe('a delete that never landed', () => {
  it('is repeated while the placeholder still holds the room (D7-05)', () => {
    const { placeholder } = surgeIsReady();
    const decision = decisionOn({ ...draining(), placeholders: [placeholder] });
    expect(decision.step).toBe('repeatDelete');
    expect(inWords(decision.actions)).toEqual([
      'annotate NodePool/api',
      'deletePlaceholder Pod/noderotation-surge-old',
      'deleteNodeClaim NodeClaim/old',
    ]);
    expect(decision.actions[0]).toMatchObject({
      annotations: { 'noderotation.io/draining-at': '2026-06-09T17:05:00Z' },
    });
  });

  it('is repeated without the placeholder while the drain fits beside what runs on the host (D7-05)', () => {
    const pods = {
      'node-old': [aPod('web-1')],
      'node-host': [aPod('other', { requests: { cpu: '3', memory: '1Gi' } })],
    };
    const fits = draining();
    const inspected = { ...fits.inspected, podsOnNode: new Map(Object.entries(pods)) };
    expect(decisionOn({ ...fits, inspected }).step).toBe('repeatDelete');
    const crowded = { ...pods, 'node-host': [aPod('other', { requests: { cpu: '3500m', memory: '1Gi' } })] };
    expect(
      decisionOn({ ...fits, inspected: { ...fits.inspected, podsOnNode: new Map(Object.entries(crowded)) } }).step,
    ).toBe('leaveDraining');
  });

  it.each([
    ['the pool is frozen', { pool: { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' } }],
    ['the host is cordoned', { hostNode: { unschedulable: true } }],
    ['the host is not Ready', { hostNode: { ready: false } }],
    ['the host lost its marks', { hostNode: { meta: { annotations: {} } } }],
  ])('goes back to pending with the same start when %s (D7-05)', (_why, over) => {
    const { placeholder } = surgeIsReady();
    const decision = decisionOn({ ...draining(over as never), placeholders: [placeholder] });
    expect(decision.step).toBe('leaveDraining');
    expect(inWords(decision.actions)).toEqual(['annotate NodeClaim/old', 'annotate NodePool/api']);
    expect(decision.actions[1]).toMatchObject({
      annotations: {
        'noderotation.io/active-rotation-state': null,
        'noderotation.io/started-at': '2026-06-09T17:00:00Z',
      },
    });
  });

  it('is given up on the claim first once governance is lost, and undone from pending (D6-01, D7-05)', () => {
    const decision = decisionOn({ ...draining(), policies: [] });
    expect(decision.step).toBe('leaveDraining');
    expect(inWords(decision.actions)).toEqual(['annotate NodeClaim/old', 'annotate NodePool/api']);
    expect(decision.actions[0]).toMatchObject({ annotations: { 'noderotation.io/state': 'pending' } });
  });

  it('is repeated under the name of the host that the placeholder is on (D7-05, R3.3-09)', () => {
    const { placeholder } = surgeIsReady();
    const former = draining({ pool: { 'noderotation.io/surge-claim': 'former' } });
    const decision = decisionOn({ ...former, placeholders: [placeholder] });
    expect(decision.step).toBe('repeatDelete');
    expect(decision.actions.find(({ kind }) => kind === 'annotate')).toMatchObject({
      annotations: { 'noderotation.io/surge-claim': 'host', 'noderotation.io/surge-path': 'provisioned' },
    });
  });
});

describe('a hand-over that was refused', () => {
  const refused = {
    'noderotation.io/active-rotation-state': 'failing',
    'noderotation.io/last-refusal': 'denied by policy',
  };

  it('is a drain like any other where the delete of another tick landed (D7-04, D7-05, R3.1-09)', () => {
    const going = draining({ pool: refused }, deleting());
    const claims = going.claims.map((claim) => ({
      ...claim,
      meta: { ...claim.meta, annotations: { ...claim.meta.annotations, ...startedThen } },
    }));
    expect(decisionOn({ ...going, nodeClaims: claims }).step).toBe('awaitDrain');
    const gone = decisionOn({ ...going, nodeClaims: going.claims.filter(({ meta }) => meta.name !== 'old') });
    expect(gone.transition).toMatchObject({ step: 'completed' });
  });

  it('lets go on the claim first, then on the pool, before anything is undone (D7-07, D5-05)', () => {
    const decision = decisionOn(draining({ pool: refused }));
    expect(decision.step).toBe('rollBack');
    expect(decision.actions.slice(0, 2)).toMatchObject([
      { target: { kind: 'NodeClaim' }, annotations: { 'noderotation.io/state': 'pending' } },
      { target: { kind: 'NodePool' }, annotations: { 'noderotation.io/draining-at': null } },
    ]);
  });

  it('that nobody waits for any more has expired with its claim (D7-02)', () => {
    const going = draining({ pool: { ...refused, 'noderotation.io/draining-at': '' } }, deleting());
    expect(decisionOn(going).step).toBe('expire');
  });
});

describe('a fallback whose delete never landed', () => {
  const policy = aPolicy({ surge: { forcefulFallback: true } });
  const fallback = (over: Parameters<typeof surgeIsReady>[0] = {}) => ({
    ...draining({ ...over, pool: { ...over.pool, 'noderotation.io/rotation-mode': 'forceful-fallback' } }),
    policies: [{ valid: true as const, policy }],
  });

  it('is repeated while its gates are open (D7-05)', () => {
    expect(inWords(decisionOn(fallback()).actions)).toEqual(['annotate NodePool/api', 'deleteNodeClaim NodeClaim/old']);
  });

  it('is aborted outside the window and while frozen (D7-05)', () => {
    expect(decisionOn(fallback({ observedAt: '2026-06-09T21:00:00Z' })).step).toBe('abort');
    expect(decisionOn(fallback({ pool: { 'noderotation.io/freeze': '2027-01-01T00:00:00Z' } })).step).toBe('abort');
  });

  it('is aborted on the claim first, so that a delete still on its way is refused (D7-05, D5-05)', () => {
    const decision = decisionOn({ ...fallback(), policies: [] });
    const claimPatches = decision.actions.filter(
      (action) => action.kind === 'annotate' && action.target.kind === 'NodeClaim',
    );
    expect(inWords(decision.actions)[0]).toBe('annotate NodeClaim/old');
    expect(claimPatches).toMatchObject([
      { annotations: { 'noderotation.io/state': 'pending', 'noderotation.io/started-at': '2026-06-09T17:00:00Z' } },
      { annotations: { 'noderotation.io/state': null, 'noderotation.io/started-at': null } },
    ]);
  });
});

describe('a NodePool that somebody reverted', () => {
  const without = (snapshot: ClusterSnapshot, annotations: Record<string, string> = {}) => ({
    ...snapshot,
    nodePools: [aPool({ meta: { annotations } })],
  });

  it('gets its anchor back from the claim, pending or draining, window or not (D5-02)', () => {
    const { snapshot } = surgeIsReady({ observedAt: '2026-06-09T22:00:00Z', startedAt: '2026-06-09T20:55:00Z' });
    const decision = decisionOn(without(snapshot));
    expect(decision.step).toBe('restore');
    expect(decision.actions).toHaveLength(1);
    expect(decision.actions[0]).toMatchObject({
      annotations: {
        ...anchorOf(snapshot.nodeClaims[0] as NodeClaim, '2026-06-09T20:55:00Z'),
        'noderotation.io/surge-claim': 'host',
        'noderotation.io/active-rotation-state': null,
      },
    });
    const drained = decisionOn(without(draining({}, deleting())));
    expect(drained.actions[0]).toMatchObject({
      annotations: {
        'noderotation.io/active-rotation-state': 'draining',
        'noderotation.io/draining-at': '2026-06-09T17:03:00Z',
      },
    });
  });

  it('does not get back an attempt that has ended: the claim gets what it missed (D5-02, D6-03)', () => {
    const { snapshot } = surgeIsReady({ observedAt: '2026-06-09T22:00:00Z' });
    const failed = decisionOn(
      without(snapshot, {
        'noderotation.io/last-ended': 'uid-old@2026-06-09T17:00:00Z=failed',
        'noderotation.io/last-failure-at': '2026-06-09T17:16:00Z',
      }),
    );
    expect(failed.step).toBe('blocked');
    expect(
      failed.actions.find((action) => action.kind === 'annotate' && action.target.kind === 'NodeClaim'),
    ).toMatchObject({
      annotations: {
        'noderotation.io/state': 'failed',
        'noderotation.io/failed-at': '2026-06-09T17:16:00Z',
        'noderotation.io/retry-count': '1',
      },
    });
    const aborted = decisionOn(
      without(snapshot, { 'noderotation.io/last-ended': 'uid-old@2026-06-09T17:00:00Z=aborted' }),
    );
    expect(
      aborted.actions.find((action) => action.kind === 'annotate' && action.target.kind === 'NodeClaim'),
    ).toMatchObject({ annotations: { 'noderotation.io/state': null } });
  });

  it('gets nothing back while no policy governs it (D5-02)', () => {
    const { snapshot } = surgeIsReady();
    expect(decisionOn({ ...without(snapshot), policies: [] }).step).toBe('blocked');
  });
});
