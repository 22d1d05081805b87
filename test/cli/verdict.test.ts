import { describe, expect, test } from 'vitest';
import { leftovers } from '../../lib/cli/local/leftovers.ts';
import { type Outcome, shortcomings } from '../../lib/cli/local/verdict.ts';
import type { RotationStory } from '../../lib/report/rotation-story.ts';
import { buildFleet } from '../../lib/simulator/fleet.ts';
import type { ClaimLife, RotationLife } from '../../lib/simulator/timeline.ts';
import { World } from '../../lib/simulator/world.ts';
import { at } from '../support/builders.ts';

const [from, to] = [at('2026-06-01T00:00:00Z'), at('2026-06-15T00:00:00Z')];
const startedAt = at('2026-06-02T17:00:00Z');
const claim: ClaimLife = {
  nodeClaim: 'api-1',
  nodePool: 'api',
  uid: 'u1',
  created: from,
  deadline: at('2026-06-10T00:00:00Z'),
};
const seen: RotationLife = {
  nodePool: 'api',
  nodeClaim: 'api-1',
  claimUid: 'u1',
  startedAt,
  mode: 'surge',
  outcome: 'completed',
  surgePath: 'provisioned',
  claimsCreated: 1,
};
const told: RotationStory = { nodePool: 'api', nodeClaim: 'api-1', uid: 'u1', startedAt, outcome: 'completed' };

const good: Outcome = {
  timeline: { from, to, nodeClaims: [claim], rotations: [seen], forcefulExpirations: [] },
  stories: [told],
  leftovers: [],
  failedTicks: 0,
  deadLetters: 0,
};

describe('the verdict on a local run', () => {
  test('finds nothing where all is as it should be (D13-01)', () => {
    expect(shortcomings(good)).toEqual([]);
  });

  test('does not expect a claim to be rotated whose deadline is still to come (D13-01)', () => {
    const young = { ...claim, uid: 'u2', deadline: at('2026-06-15T00:00:01Z') };
    expect(shortcomings({ ...good, timeline: { ...good.timeline, nodeClaims: [claim, young] } })).toEqual([]);
  });

  test.each<{ what: string; changed: Partial<Outcome>; says: RegExp }>([
    {
      what: 'a forceful expiration',
      changed: {
        timeline: { ...good.timeline, forcefulExpirations: [{ nodeClaim: 'api-9', nodePool: 'api', at: to }] },
      },
      says: /^NodeClaim api-9 of NodePool api was expired by force\.$/,
    },
    {
      what: 'a missed deadline',
      changed: {
        timeline: { ...good.timeline, nodeClaims: [claim, { ...claim, nodeClaim: 'api-2', uid: 'u2', deadline: to }] },
      },
      says: /^NodeClaim api-2 reached its deadline/,
    },
    {
      what: 'a failed rotation',
      changed: {
        stories: [told, { ...told, nodeClaim: 'api-3', uid: 'u3', outcome: 'failed', reason: 'ReadyTimeout' }],
        timeline: { ...good.timeline, rotations: [seen, { ...seen, claimUid: 'u3' }] },
      },
      says: /^The rotation of NodeClaim api-3 is failed \(ReadyTimeout\)\.$/,
    },
    {
      what: 'a rotation without rows',
      changed: { timeline: { ...good.timeline, rotations: [seen, { ...seen, nodeClaim: 'api-4', claimUid: 'u4' }] } },
      says: /^The audit table does not know the rotation of NodeClaim api-4\.$/,
    },
    {
      what: 'rows without a rotation',
      changed: { stories: [told, { ...told, nodeClaim: 'api-5', uid: 'u5' }] },
      says: /^The audit table tells a rotation of NodeClaim api-5 that nobody saw\.$/,
    },
    {
      what: 'a second new node',
      changed: { timeline: { ...good.timeline, rotations: [{ ...seen, claimsCreated: 2 }] } },
      says: /^The rotation of NodeClaim api-1 \(provisioned\) brought 2 new NodeClaims, not 1\.$/,
    },
    {
      what: 'a new node for Pods that fitted on another one',
      changed: { timeline: { ...good.timeline, rotations: [{ ...seen, surgePath: 'absorbed' }] } },
      says: /\(absorbed\) brought 1 new NodeClaims, not 0\.$/,
    },
    {
      what: 'something left behind',
      changed: { leftovers: ['Node ip-1: cordon'] },
      says: /^Left behind: Node ip-1: cordon\.$/,
    },
    { what: 'failed ticks', changed: { failedTicks: 2 }, says: /^2 ticks failed\.$/ },
    { what: 'dead letters', changed: { deadLetters: 1 }, says: /^1 messages ended in the dead-letter queue\.$/ },
    {
      what: 'nothing at all',
      changed: { stories: [], timeline: { ...good.timeline, nodeClaims: [], rotations: [] } },
      says: /^Nothing was rotated\.$/,
    },
  ])('names $what (D7-04, D13-01)', ({ changed, says }) => {
    const problems = shortcomings({ ...good, ...changed });
    expect(problems).toEqual([expect.stringMatching(says)]);
  });
});

test('what a rotation in flight has put on objects is found on each of them (D6-03)', () => {
  const world = new World({ startsAt: from });
  buildFleet(world);
  const { store } = world;
  expect(leftovers(store)).toEqual([]);
  const [pool, claimObject, node] = [store.all('NodePool')[0], store.all('NodeClaim')[0], store.all('Node')[0]];
  if (!pool || !claimObject || !node) throw new Error('the fleet is empty');
  const annotate = (annotations: Record<string, string>) => ({ metadata: { annotations } });
  store.update(
    pool,
    annotate({ 'noderotation.io/active-rotation': 'x', 'noderotation.io/last-rotation-at': '2026-06-01T00:00:00Z' }),
  );
  store.update(claimObject, annotate({ 'noderotation.io/state': 'pending' }));
  store.update(node, { ...annotate({ 'karpenter.sh/do-not-disrupt': 'true' }), spec: { unschedulable: true } });
  store.create({
    kind: 'Pod',
    metadata: { name: 'placeholder', namespace: 'node-rotation', labels: { 'noderotation.io/surge-for': 'x' } },
    spec: { containers: [{ name: 'pause' }] },
  });
  expect(leftovers(store)).toEqual([
    `NodePool ${pool.metadata.name}: noderotation.io/active-rotation`,
    `NodeClaim ${claimObject.metadata.name}: noderotation.io/state`,
    `Node ${node.metadata.name}: karpenter.sh/do-not-disrupt`,
    `Node ${node.metadata.name}: cordon`,
    'Pod placeholder: placeholder',
  ]);
});
