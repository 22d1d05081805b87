import { describe, expect, test } from 'vitest';
import { add, hours, seconds } from '../../lib/domain/time.ts';
import { annotationOf, isDeleting } from '../../lib/simulator/kube-object.ts';
import { hasTaint, terminationTimestamp } from '../../lib/simulator/node-claims.ts';
import type { World } from '../../lib/simulator/world.ts';
import {
  addBudget,
  addDeployment,
  addPod,
  addPool,
  claims,
  create,
  emptyWorld,
  nodes,
  only,
  pass,
  pod,
  start,
} from '../support/small-world.ts';

const deleteClaim = (world: World) =>
  world.store.delete({ kind: 'NodeClaim', name: only(claims(world)).metadata.name });
const leaving = (world: World) =>
  world.store
    .all('Pod')
    .filter(isDeleting)
    .map((object) => object.metadata.name);

function oneNode(shape: Parameters<typeof addPool>[1] = {}): World {
  const world = emptyWorld();
  addPool(world, shape);
  return world;
}

describe('expiry', () => {
  test('at creation + expireAfter the claim is deleted, and it counts as forceful (D14-02)', () => {
    const world = oneNode({ expireAfter: '2h' });
    addPod(world, 'a');
    pass(world, '1m');
    const claim = only(claims(world));
    const deadline = add(start, hours(2));
    world.advance(deadline);
    expect(world.forcefulExpirations).toEqual([]);
    pass(world, '1s');
    expect(world.forcefulExpirations).toEqual([
      { nodeClaim: claim.metadata.name, nodePool: 'api', at: add(start, seconds(2 * 3600 + 1)) },
    ]);
  });

  test('do-not-disrupt on the Node and a budget of nothing do not stop it (D14-02)', () => {
    const world = oneNode({ expireAfter: '2h' });
    addDeployment(world, 'web', 1);
    addBudget(world, 'web', { maxUnavailable: 0 });
    pass(world, '1m');
    world.store.update(only(nodes(world)), { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
    pass(world, '2h');
    expect([world.forcefulExpirations.length, isDeleting(only(claims(world)))]).toEqual([1, true]);
  });

  test('Never is never (D14-02)', () => {
    const world = oneNode({ expireAfter: 'Never' });
    addPod(world, 'a');
    pass(world, '10000h');
    expect([world.forcefulExpirations, claims(world).length]).toEqual([[], 1]);
  });
});

describe('draining', () => {
  test('the claim gets its termination time and the Node its taint at once (D14-02)', () => {
    const world = oneNode();
    addPod(world, 'a');
    pass(world, '1m');
    deleteClaim(world);
    pass(world, '1s');
    expect(annotationOf(only(claims(world)), terminationTimestamp)).toBe('2026-06-01T01:01:00Z');
    expect(hasTaint(only(nodes(world)), 'karpenter.sh/disrupted')).toBe(true);
  });

  test('a budget lets go one Pod at a time, each when its successor is Ready (D14-02)', () => {
    const world = oneNode();
    addDeployment(world, 'web', 3);
    addBudget(world, 'web', { maxUnavailable: 1 });
    pass(world, '1m');
    deleteClaim(world);
    pass(world, '1s');
    expect(leaving(world).length).toBe(1);
    pass(world, '20s');
    expect(leaving(world)).toEqual([]);
    expect(world.store.podsOn(only(nodes(world).filter(isDeleting)).metadata.name).length).toBe(2);
    pass(world, '2m');
    expect([claims(world).length, only(nodes(world)).metadata.deletionTimestamp]).toEqual([1, undefined]);
    expect(world.store.podsOn(only(nodes(world)).metadata.name).length).toBe(3);
  });

  test('a budget of nothing holds until the grace of the claim is reached, then it is passed over (D14-02)', () => {
    const world = oneNode();
    addDeployment(world, 'web', 1);
    addBudget(world, 'web', { maxUnavailable: 0 });
    pass(world, '1m');
    deleteClaim(world);
    const old = only(nodes(world)).metadata.name;
    pass(world, '59m');
    expect(world.store.podsOn(old).filter((object) => !isDeleting(object)).length).toBe(1);
    pass(world, '1m');
    expect(world.store.get('Node', old)).toBeUndefined();
  });

  test('a Pod under two budgets is never evicted (D14-02)', () => {
    const world = oneNode();
    addDeployment(world, 'web', 2);
    addBudget(world, 'web', { maxUnavailable: 1 });
    create(world, {
      kind: 'PodDisruptionBudget',
      metadata: { name: 'again', namespace: 'shop' },
      spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 1 },
    });
    pass(world, '1m');
    deleteClaim(world);
    pass(world, '10m');
    expect(leaving(world)).toEqual([]);
  });

  test('a Pod with do-not-disrupt is waited for and not evicted (D14-02)', () => {
    const world = oneNode();
    addPod(world, 'a', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    pass(world, '1m');
    deleteClaim(world);
    pass(world, '30m');
    expect([leaving(world), claims(world).length]).toEqual([[], 1]);
    pass(world, '31m');
    expect(claims(world)).toEqual([]);
  });

  test("a Pod whose own grace is at least the claim's is deleted as soon as the drain starts (D14-02)", () => {
    const world = oneNode({ terminationGracePeriod: '5m' });
    addPod(world, 'a', { spec: { terminationGracePeriodSeconds: 300 }, labels: { app: 'a' } });
    addBudget(world, 'a', { maxUnavailable: 0 });
    pass(world, '1m');
    deleteClaim(world);
    pass(world, '2s');
    expect(leaving(world)).toEqual(['a']);
  });

  test('a Pod that tolerates the taint is not waited for (D14-02)', () => {
    const world = oneNode();
    addPod(world, 'a', { spec: { tolerations: [{ operator: 'Exists' }] }, labels: { app: 'a' } });
    addBudget(world, 'a', { maxUnavailable: 0 });
    pass(world, '1m');
    deleteClaim(world);
    pass(world, '30s');
    expect([claims(world), pod(world, 'a')]).toEqual([[], undefined]);
  });

  test('a claim without a node goes at once (D14-02)', () => {
    const world = oneNode();
    addPod(world, 'a');
    pass(world, '5s');
    const first = only(claims(world)).metadata.name;
    deleteClaim(world);
    pass(world, '1s');
    expect(world.store.get('NodeClaim', first)).toBeUndefined();
  });

  test('deleting the Node ends in the same way (D14-02)', () => {
    const world = oneNode();
    addPod(world, 'a');
    pass(world, '1m');
    world.store.delete({ kind: 'Node', name: only(nodes(world)).metadata.name });
    pass(world, '1m');
    expect([claims(world), nodes(world)]).toEqual([[], []]);
  });
});
