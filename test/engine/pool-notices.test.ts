import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../lib/domain/cluster/node-claim.ts';
import { hours } from '../../lib/domain/time.ts';
import { decide } from '../../lib/engine/decide.ts';
import { poolNotices } from '../../lib/engine/pool-notices.ts';
import { viewOf } from '../../lib/engine/pool-view.ts';
import { aClaim, aNode, aNodeOf, aPolicy, aPool, aSnapshot, at, meta } from '../support/builders.ts';
import { decisionOn, due, events, looked } from '../support/rotations.ts';

const optOut = { 'karpenter.sh/do-not-disrupt': 'true' };
const viewing = (over: Parameters<typeof aSnapshot>[0]) => {
  const snapshot = aSnapshot(over);
  return viewOf(snapshot, snapshot.nodePools[0] as never);
};
const notices = (over: Parameters<typeof aSnapshot>[0]) => poolNotices(viewing(over));
const codes = (over: Parameters<typeof aSnapshot>[0]) =>
  notices(over).map(({ code, claim }) => (claim === undefined ? code : `${code} ${claim}`));

describe('what people should know about a pool', () => {
  it('nothing, when all is well (D4-03)', () => {
    expect(codes({ nodeClaims: [aClaim('a')] })).toEqual([]);
    expect(codes({ nodeClaims: [aClaim('a')], policies: [] })).toEqual([]);
  });

  it('an opted-out node that only force will end, once (D4-03, R3.2-06, R3.9-01, PR-104)', () => {
    // Saturday 06:00 in Tokyo has passed; the deadline comes two days later, before Wednesday.
    const claim = due('old', { created: at('2026-05-31T00:00:00Z') });
    const observedAt = at('2026-06-12T22:00:00Z');
    const young = aClaim('young', { created: at('2026-06-08T00:00:00Z') });
    const told = { observedAt, nodeClaims: [claim, young], nodes: [aNodeOf(claim, { annotations: optOut })] };
    expect(codes(told)).toEqual(['WillExpireForcefully old']);
    const snapshot = aSnapshot(told);
    expect(events(decisionOn(snapshot).actions)).toEqual(['WillExpireForcefully']);
    const again = {
      ...claim,
      meta: { ...claim.meta, annotations: { 'noderotation.io/warnings': 'WillExpireForcefully' } },
    };
    expect(events(decisionOn({ ...snapshot, nodeClaims: [again, young] }).actions)).toEqual([]);
  });

  it('an opted-out node with a chance left to withdraw it, not yet (D4-03)', () => {
    const claim = due('old');
    expect(codes({ nodeClaims: [claim, aClaim('young')], nodes: [aNodeOf(claim, { annotations: optOut })] })).toEqual(
      [],
    );
  });

  it('a pool whose template opts every node out, once for the pool (D4-03, PR-53)', () => {
    const nodeClaims = [aClaim('a'), aClaim('b')];
    const nodes = nodeClaims.map((claim) => aNodeOf(claim, { annotations: optOut }));
    expect(codes({ nodeClaims, nodes })).toEqual(['PoolOptedOut']);
    const ours = nodeClaims.map((claim) =>
      aNodeOf(claim, { annotations: { ...optOut, 'noderotation.io/do-not-disrupt-owned': 'true' } }),
    );
    expect(codes({ nodeClaims, nodes: ours })).toEqual([]);
  });

  it('a claim whose lifetime cannot be read is skipped with a warning, and the others go on (D5-06, PR-119)', () => {
    const unreadable = (name: string, text: string): NodeClaim =>
      due(name, {
        lifetime: { readable: false, unreadable: [{ path: 'spec.expireAfter', text, problem: 'use h, m, s' }] },
      });
    const good = due('good');
    const nodeClaims = [unreadable('days', '30d'), unreadable('typo', '1hr'), good];
    expect(notices({ nodeClaims })).toEqual([
      {
        code: 'Unreadable',
        severity: 'warn',
        claim: 'days',
        message:
          'NodeClaim days is left alone because its lifetime cannot be read: spec.expireAfter "30d": use h, m, s',
      },
      {
        code: 'Unreadable',
        severity: 'warn',
        claim: 'typo',
        message:
          'NodeClaim typo is left alone because its lifetime cannot be read: spec.expireAfter "1hr": use h, m, s',
      },
    ]);
    const node = aNode(good);
    const snapshot = aSnapshot({ nodeClaims, inspected: looked({ nodes: [node], pods: { 'node-good': [] } }) });
    expect(decisionOn(snapshot)).toMatchObject({ step: 'start', transition: { claim: 'good' } });
  });

  it('a template whose lifetime cannot be read (D5-06)', () => {
    const pool = aPool();
    const unreadable = [{ path: 'spec.template.spec.expireAfter', text: '30d', problem: 'use h, m, s' }];
    const odd = { ...pool, template: { ...pool.template, lifetime: { readable: false as const, unreadable } } };
    expect(notices({ nodePools: [odd] })).toMatchObject([
      {
        code: 'Unreadable',
        message: 'The template of NodePool api cannot be read: spec.template.spec.expireAfter "30d": use h, m, s',
      },
    ]);
  });

  it('a short lead, for a claim that stays only (R3.2-50, R3.2-52)', () => {
    const short = aClaim('short', { expireAfter: hours(400), terminationGracePeriod: hours(300) });
    expect(codes({ observedAt: at('2026-06-02T00:00:00Z'), nodeClaims: [short] })).toEqual(['ShortLead short']);
    const going = { ...short, meta: { ...short.meta, deleting: true } };
    expect(codes({ observedAt: at('2026-06-02T00:00:00Z'), nodeClaims: [going] })).toEqual([]);
  });

  it('annotations that cannot be read, and a freeze that holds for it (D5-06, PR-78)', () => {
    const pool = aPool({ meta: { annotations: { 'noderotation.io/freeze': '1 July' } } });
    const claim = aClaim('a', { meta: { annotations: { 'noderotation.io/state': 'odd' } } });
    expect(codes({ nodePools: [pool], nodeClaims: [claim] })).toEqual(['FreezeMalformed', 'StateMalformed a']);
    const policy = aPolicy({ meta: { annotations: { 'noderotation.io/freeze': 'always' } } });
    expect(notices({ policies: [{ valid: true, policy }] })).toMatchObject([
      {
        code: 'FreezeMalformed',
        message: 'The freeze on RotationPolicy api is no RFC 3339 time, so it holds: "always".',
      },
    ]);
  });

  it('a static pool, and policies that match equally (D6-04, D2-06, PR-62, PR-63)', () => {
    expect(codes({ nodePools: [aPool({ replicas: 0 })] })).toEqual(['StaticNodePool']);
    const tied = ['a', 'b'].map((name) => ({ valid: true as const, policy: aPolicy({ name }) }));
    expect(notices({ policies: tied })).toMatchObject([
      { code: 'PolicyConflict', message: expect.stringContaining('a, b') },
    ]);
    const invalid = { valid: false as const, meta: meta('x'), generation: 1, problems: [] };
    expect(codes({ policies: [invalid] })).toEqual([]);
  });
});

describe('when the window opens on many nodes that are due (PR-16, R3.3-01)', () => {
  it('one is cordoned in the first tick (PR-16)', () => {
    const nodeClaims = Array.from({ length: 21 }, (_, i) => due(`n${i}`));
    const nodes = nodeClaims.map((claim) => aNode(claim));
    const pods = Object.fromEntries(nodes.map((node) => [node.meta.name, []]));
    const [decision] = decide(aSnapshot({ nodeClaims, inspected: looked({ nodes, pods }) }));
    const cordons = decision?.actions.filter((action) => action.kind === 'protect' && action.unschedulable === true);
    expect(cordons).toHaveLength(1);
    expect(decision?.notices.map(({ code }) => code)).toContain('ThroughputBurstShortfall');
  });
});
