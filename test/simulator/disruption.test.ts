import { describe, expect, test } from 'vitest';
import { seconds } from '../../lib/domain/time.ts';
import type { ClaimObject, PoolObject, Strings } from '../../lib/simulator/kube-object.ts';
import { conditionOf, isDeleting, isTrue } from '../../lib/simulator/kube-object.ts';
import { disruptedTaint, hasTaint } from '../../lib/simulator/node-claims.ts';
import type { World, WorldOptions } from '../../lib/simulator/world.ts';
import type { PoolShape } from '../support/small-world.ts';
import {
  addBudget,
  addDeployment,
  addPod,
  addPool,
  claims,
  emptyWorld,
  nodes,
  only,
  pass,
  podNames,
} from '../support/small-world.ts';

const openBudget = [{ nodes: '100%' }];

/** One node of three Pods of a Deployment. */
function settled(shape: PoolShape = {}, options: Partial<WorldOptions> = {}): World {
  const world = emptyWorld(options);
  addPool(world, { budgets: openBudget, ...shape });
  addDeployment(world, 'web', 3);
  pass(world, '2m');
  only(nodes(world));
  return world;
}

const editTemplate = (world: World): void => {
  const pool = world.store.get('NodePool', 'api') as PoolObject;
  const { template } = pool.spec;
  world.store.update(pool, { spec: { template: { ...template, spec: { ...template.spec, expireAfter: '200h' } } } });
};
const markNode = (world: World, annotations: Strings): void =>
  void world.store.update(only(nodes(world)), { metadata: { annotations } });
const driftReasons = (world: World) => claims(world).map((claim) => conditionOf(claim, 'Drifted')?.reason);

describe('drift', () => {
  test('an edited template drifts every claim, and each is replaced before it is deleted (D14-02)', () => {
    const world = settled();
    const old = only(claims(world)).metadata.name;
    editTemplate(world);
    pass(world, '11s');
    expect(claims(world).length).toBe(2);
    const drifting = world.store.get('NodeClaim', old) as ClaimObject;
    expect([conditionOf(drifting, 'Drifted')?.reason, conditionOf(drifting, 'DisruptionReason')?.reason]).toEqual([
      'NodePoolDrifted',
      'Drifted',
    ]);
    const node = nodes(world).find(({ metadata }) => metadata.name === drifting.status.nodeName);
    expect(node && hasTaint(node, disruptedTaint.key)).toBe(true);
    pass(world, '20s');
    expect(isDeleting(world.store.get('NodeClaim', old) as ClaimObject)).toBe(false);
    pass(world, '3m');
    expect([
      claims(world).length,
      driftReasons(world),
      podNames(world, only(nodes(world)).metadata.name).length,
    ]).toEqual([1, [undefined], 3]);
    expect(world.store.get('NodeClaim', old)).toBeUndefined();
  });

  test('a requirement that a node does not satisfy drifts it, one that it satisfies does not (D14-02)', () => {
    const world = settled();
    const pool = world.store.get('NodePool', 'api') as PoolObject;
    const { template } = pool.spec;
    const withArch = (arch: string) => ({
      template: {
        ...template,
        spec: {
          ...template.spec,
          requirements: [
            ...(template.spec.requirements ?? []),
            { key: 'kubernetes.io/arch', operator: 'In', values: [arch] },
          ],
        },
      },
    });
    world.store.update(pool, { spec: withArch('arm64') });
    pass(world, '5s');
    expect(driftReasons(world)).toEqual([undefined]);
    world.store.update(pool, { spec: withArch('amd64') });
    pass(world, '5s');
    expect(driftReasons(world)).toEqual(['RequirementsDrifted']);
  });

  test('a new image drifts what was launched from the old one (D14-02)', () => {
    const world = settled();
    markNode(world, { 'karpenter.sh/do-not-disrupt': 'true' });
    world.cloud.image = 'ami-2';
    pass(world, '5s');
    expect(driftReasons(world)).toEqual(['AMIDrift']);
    markNode(world, {});
    pass(world, '4m');
    expect(claims(world).map(({ status }) => status.imageID)).toEqual(['ami-2']);
  });

  test('do-not-disrupt on the Node holds drift off for as long as it is there (D14-02)', () => {
    const world = settled();
    markNode(world, { 'karpenter.sh/do-not-disrupt': 'true' });
    editTemplate(world);
    pass(world, '30m');
    expect([claims(world).length, driftReasons(world)]).toEqual([1, ['NodePoolDrifted']]);
    markNode(world, {});
    pass(world, '15s');
    expect(claims(world).length).toBe(2);
  });

  test.each([
    ['0', 1],
    ['1', 2],
  ])('a budget of %s lets %i claims be there (D14-02)', (allowed, expected) => {
    const world = settled({ budgets: [{ nodes: allowed }] });
    editTemplate(world);
    pass(world, '15s');
    expect(claims(world).length).toBe(expected);
  });

  test('a budget of nothing for another reason does not hold drift off (D14-02)', () => {
    const world = settled({ budgets: [{ nodes: '0', reasons: ['Empty'] }, { nodes: '100%' }] });
    editTemplate(world);
    pass(world, '15s');
    expect(claims(world).length).toBe(2);
  });

  test('a scheduled budget of nothing holds drift off until it ends (D14-02)', () => {
    const world = settled({ budgets: [{ nodes: '0', schedule: '0 0 * * *', duration: '1h' }, { nodes: '100%' }] });
    editTemplate(world);
    pass(world, '57m50s');
    expect(claims(world).length).toBe(1);
    pass(world, '15s');
    expect(claims(world).length).toBe(2);
  });

  test('a PodDisruptionBudget of nothing does not hold off the drift of a claim that has a grace (D14-02)', () => {
    const world = settled();
    addBudget(world, 'web', { maxUnavailable: 0 });
    editTemplate(world);
    pass(world, '15s');
    expect(claims(world).length).toBe(2);
  });

  test('a command whose replacement cannot be had is given up and the node unmarked (D14-02)', () => {
    const world = settled();
    world.launchOutcome = () => 'insufficientCapacity';
    editTemplate(world);
    pass(world, '9s');
    pass(world, '5s');
    const claim = only(claims(world));
    expect([isTrue(claim, 'DisruptionReason'), hasTaint(only(nodes(world)), disruptedTaint.key)]).toEqual([
      false,
      false,
    ]);
  });

  test('a command whose replacement does not register is given up after ten minutes (D14-02)', () => {
    const world = settled();
    world.launchOutcome = () => 'neverRegisters';
    editTemplate(world);
    pass(world, '9m50s');
    const old = () => claims(world).find((claim) => claim.status.nodeName !== undefined) as ClaimObject;
    expect(isTrue(old(), 'DisruptionReason')).toBe(true);
    const since = conditionOf(old(), 'DisruptionReason')?.lastTransitionTime;
    pass(world, '1m');
    expect(conditionOf(old(), 'DisruptionReason')?.lastTransitionTime).not.toBe(since);
  });

  test('a taint of Karpenter that nobody has a command for is taken off (D14-02)', () => {
    const world = settled();
    world.store.update(only(nodes(world)), { spec: { taints: [disruptedTaint] } });
    pass(world, '11s');
    expect(hasTaint(only(nodes(world)), disruptedTaint.key)).toBe(false);
  });
});

/** Two nodes of one Pod each, which would fit together. */
function spreadOut(shape: PoolShape = {}, options: Partial<WorldOptions> = {}): World {
  const world = emptyWorld(options);
  addPool(world, {
    budgets: openBudget,
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    consolidateAfter: '5m',
    ...shape,
  });
  addPod(world, 'a', { cpu: '3', labels: { app: 'a' } });
  addDeployment(world, 'web', 2, '800m');
  pass(world, '2m');
  expect(nodes(world).length).toBe(2);
  world.store.delete({ kind: 'Pod', name: 'a', namespace: 'shop' });
  pass(world, '10s');
  addDeployment(world, 'small', 1, '800m');
  pass(world, '20s');
  return world;
}

describe('consolidation', () => {
  test('a node whose Pods fit on another goes when consolidateAfter has passed (D14-02)', () => {
    const world = spreadOut();
    pass(world, '2m30s');
    expect(claims(world).some((claim) => isTrue(claim, 'DisruptionReason') || isDeleting(claim))).toBe(false);
    pass(world, '5m');
    expect(nodes(world).length).toBe(1);
    expect(world.store.all('Pod').length).toBe(3);
  });

  test('a pool that consolidates WhenEmpty keeps it (D14-02)', () => {
    const world = spreadOut({ consolidationPolicy: 'WhenEmpty' });
    pass(world, '30m');
    expect(nodes(world).length).toBe(2);
  });

  test('budgets of nothing over the Pods of both nodes keep them (D14-02)', () => {
    const world = spreadOut();
    addBudget(world, 'web', { maxUnavailable: 0 });
    addBudget(world, 'small', { minAvailable: '100%' });
    pass(world, '30m');
    expect(nodes(world).length).toBe(2);
  });

  test('a node too large for its Pods is replaced by a cheaper one, which comes first (D14-02)', () => {
    const world = emptyWorld();
    addPool(world, {
      budgets: openBudget,
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      consolidateAfter: '5m',
      instanceTypes: ['m7g.xlarge', 'm7g.2xlarge'],
    });
    addDeployment(world, 'web', 2, '800m');
    addPod(world, 'large', { cpu: '5' });
    pass(world, '2m');
    const typeOf = () => nodes(world).map(({ metadata }) => metadata.labels?.['node.kubernetes.io/instance-type']);
    expect(typeOf()).toEqual(['m7g.2xlarge']);
    world.store.delete({ kind: 'Pod', name: 'large', namespace: 'shop' });
    pass(world, '5m30s');
    expect(claims(world).length).toBe(2);
    pass(world, '3m');
    expect(typeOf()).toEqual(['m7g.xlarge']);
  });

  test('Karpenter decides by the Node as it was some seconds ago (D14-02)', () => {
    const lagging = spreadOut({}, { nodeLag: seconds(60) });
    const prompt = spreadOut();
    for (const world of [lagging, prompt]) {
      pass(world, '2m30s');
      for (const node of nodes(world))
        world.store.update(node, { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
      pass(world, '2m');
    }
    expect([lagging, prompt].map((world) => claims(world).length)).toEqual([1, 2]);
  });
});

describe('pools of a fixed size', () => {
  test('Karpenter keeps that many nodes, whether or not there are Pods (D14-02)', () => {
    const world = emptyWorld();
    addPool(world, { replicas: 2 });
    pass(world, '1m');
    expect(nodes(world).length).toBe(2);
    world.store.delete({ kind: 'NodeClaim', name: claims(world)[0]?.metadata.name ?? '' });
    pass(world, '2m');
    expect(nodes(world).length).toBe(2);
    world.store.patch({ kind: 'NodePool', name: 'api' }, { spec: { replicas: 1 } });
    pass(world, '1m');
    expect(nodes(world).length).toBe(1);
  });

  test('its drift needs room under the limit of nodes (D14-02)', () => {
    const grown = (limits: Strings): number => {
      const world = emptyWorld();
      addPool(world, { replicas: 1, limits, budgets: openBudget });
      pass(world, '1m');
      editTemplate(world);
      pass(world, '15s');
      return claims(world).length;
    };
    expect([grown({ nodes: '2' }), grown({ nodes: '1' })]).toEqual([2, 1]);
  });
});
