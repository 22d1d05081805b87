import { describe, expect, test } from 'vitest';
import type { PoolObject } from '../../lib/simulator/kube-object.ts';
import { conditionOf, isTrue } from '../../lib/simulator/kube-object.ts';
import type { World } from '../../lib/simulator/world.ts';
import { at } from '../support/builders.ts';
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
  placeholderOf,
  pod,
  podNames,
} from '../support/small-world.ts';

const hosted = (world: World, name: string, namespace = 'shop') => pod(world, name, namespace)?.spec.nodeName;
const used = (world: World) => (world.store.get('NodePool', 'api') as PoolObject).status.resources;

describe('launching', () => {
  test('a Pod that fits nowhere gets a claim, a node and its place (D14-02)', () => {
    const world = emptyWorld();
    addPool(world);
    addPod(world, 'a');
    pass(world, '2s');
    const claim = only(claims(world));
    expect(claim.metadata).toMatchObject({
      finalizers: ['karpenter.sh/termination'],
      labels: { 'karpenter.sh/nodepool': 'api', workload: 'api' },
    });
    expect(claim.spec).toMatchObject({ expireAfter: '336h', terminationGracePeriod: '1h' });
    expect([claim.status, nodes(world)]).toEqual([{}, []]);

    pass(world, '3s');
    expect(only(claims(world)).status).toMatchObject({
      capacity: { cpu: '4', memory: '16Gi', pods: '58' },
      allocatable: { cpu: '3920m' },
    });
    expect(isTrue(only(claims(world)), 'Ready')).toBe(false);

    pass(world, '1m');
    const node = only(nodes(world));
    expect(node.metadata.name).toMatch(/^ip-10-0-\d+-\d+\.ap-northeast-1\.compute\.internal$/);
    expect(node.metadata.labels).toMatchObject({
      'kubernetes.io/hostname': node.metadata.name,
      'node.kubernetes.io/instance-type': 'm7g.xlarge',
    });
    expect(only(claims(world)).status.nodeName).toBe(node.metadata.name);
    expect(isTrue(only(claims(world)), 'Ready')).toBe(true);
    expect(hosted(world, 'a')).toBe(node.metadata.name);
    expect(used(world)).toMatchObject({ cpu: '4', memory: '16Gi', nodes: '1' });
  });

  test('Pods of one batch share a claim, and later Pods use the room of a claim in flight (D14-02)', () => {
    const world = emptyWorld();
    addPool(world);
    addPod(world, 'a');
    addPod(world, 'b');
    pass(world, '2s');
    addPod(world, 'c');
    pass(world, '1m');
    expect([claims(world).length, podNames(world, only(nodes(world)).metadata.name)]).toEqual([1, ['a', 'b', 'c']]);
  });

  test.each([
    ['another pool', { nodeSelector: { 'karpenter.sh/nodepool': 'other' } }],
    ['an unknown label', { nodeSelector: { disk: 'fast' } }],
    ['a host name', { nodeSelector: { 'kubernetes.io/hostname': 'x' } }],
    ["more than the pool's largest type", {}, '5'],
  ])('nothing is launched for a Pod that asks for %s (D14-02)', (_, spec, cpu = '1') => {
    const world = emptyWorld();
    addPool(world);
    addPod(world, 'a', { spec, cpu });
    pass(world, '2m');
    expect(claims(world)).toEqual([]);
  });

  test("a pool's taint keeps out a Pod that does not tolerate it (D14-02)", () => {
    const world = emptyWorld();
    addPool(world, { taints: [{ key: 'team', effect: 'NoSchedule' }] });
    addPod(world, 'plain');
    addPod(world, 'tolerant', { spec: { tolerations: [{ key: 'team', operator: 'Exists' }] } });
    pass(world, '2m');
    expect([hosted(world, 'plain'), hosted(world, 'tolerant')]).toEqual([undefined, only(nodes(world)).metadata.name]);
  });

  test('the heaviest preference counts as required, and the next one when it cannot be met (D14-02)', () => {
    const world = emptyWorld();
    addPool(world);
    const zone = (weight: number, value: string) => ({
      weight,
      preference: { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [value] }] },
    });
    const preferredDuringSchedulingIgnoredDuringExecution = [
      zone(1, 'ap-northeast-1c'),
      zone(100, 'nowhere'),
      zone(10, 'ap-northeast-1d'),
    ];
    addPod(world, 'a', { spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } } } });
    pass(world, '2m');
    expect(only(nodes(world)).metadata.labels).toMatchObject({ 'topology.kubernetes.io/zone': 'ap-northeast-1d' });
  });

  test('an excluded host name sends the Pod to a new node (D8-07)', () => {
    const world = emptyWorld();
    addPool(world);
    addPod(world, 'a', { cpu: '1' });
    pass(world, '1m');
    const first = only(nodes(world)).metadata.name;
    world.store.update(only(nodes(world)), { spec: { unschedulable: true } });
    const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: [first] }];
    const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 100, preference: { matchExpressions } }];
    addPod(world, 'b', {
      cpu: '1',
      spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } } },
    });
    pass(world, '1m');
    expect([nodes(world).length, hosted(world, 'b') === first]).toEqual([2, false]);
  });
});

describe('limits', () => {
  test.each([
    ['cpu: one whole instance still fits', { cpu: '8' }, 2],
    ['cpu: the Pod would fit, the whole instance does not', { cpu: '7' }, 1],
    ['nodes: one is left', { nodes: '2' }, 2],
    ['nodes: none is left', { nodes: '1' }, 1],
  ])('%s (D14-02)', (_, limits, expected) => {
    const world = emptyWorld();
    addPool(world, { limits });
    addPod(world, 'a', { cpu: '2' });
    pass(world, '1m');
    addPod(world, 'b', { cpu: '2' });
    pass(world, '2m');
    expect(claims(world).length).toBe(expected);
  });
});

describe('launches that fail', () => {
  test('without capacity the claim goes at once and another is tried (D14-02)', () => {
    const world = emptyWorld();
    addPool(world);
    world.launchOutcome = () => 'insufficientCapacity';
    addPod(world, 'a');
    pass(world, '4s');
    expect(claims(world)).toEqual([]);
    pass(world, '8s');
    world.launchOutcome = () => 'registers';
    pass(world, '1m');
    expect(hosted(world, 'a')).toBe(only(nodes(world)).metadata.name);
  });

  test('a claim whose node does not register is given up after 15 minutes (D14-02)', () => {
    const world = emptyWorld();
    addPool(world);
    world.launchOutcome = () => 'neverRegisters';
    addPod(world, 'a');
    pass(world, '14m');
    const first = only(claims(world)).metadata.name;
    pass(world, '2m');
    expect(only(claims(world)).metadata.name).not.toBe(first);
  });
});

/** One full node under a budget of one, a surge for it that is up, and the old claim deleted. */
function handOver(keepPlaceholder: boolean): World {
  const world = emptyWorld();
  addPool(world);
  addDeployment(world, 'web', 3, '900m');
  addBudget(world, 'web', { maxUnavailable: 1 });
  pass(world, '2m');
  const old = only(claims(world));
  world.store.update(only(nodes(world)), { spec: { unschedulable: true } });
  placeholderOf(world, 'api', '2700m');
  pass(world, '2m');
  expect(isTrue(pod(world, 'noderotation-surge', 'node-rotation') ?? { status: {} }, 'Ready')).toBe(true);
  if (!keepPlaceholder)
    world.store.delete(
      { kind: 'Pod', name: 'noderotation-surge', namespace: 'node-rotation' },
      { gracePeriodSeconds: 0 },
    );
  world.store.delete({ kind: 'NodeClaim', name: old.metadata.name });
  pass(world, '3m');
  expect(world.store.get('NodeClaim', old.metadata.name)).toBeUndefined();
  expect(
    world.store.all('Pod').filter((object) => object.metadata.namespace === 'shop' && isTrue(object as never, 'Ready'))
      .length,
  ).toBe(3);
  return world;
}

describe('the Pods of a node that drains are planned without foreseeing preemption', () => {
  test('a placeholder deleted first: one NodeClaim per rotation (D7-04)', () => {
    expect(claims(handOver(false)).length).toBe(1);
  });

  test('a placeholder kept: a second NodeClaim (D7-04)', () => {
    expect(claims(handOver(true)).length).toBe(2);
  });
});

describe('emptiness', () => {
  function emptied(over: { annotations?: Readonly<Record<string, string>> } = {}): World {
    const world = emptyWorld();
    addPool(world, { consolidateAfter: '5m' });
    addPod(world, 'a');
    pass(world, '1m');
    const node = only(nodes(world));
    world.store.update(node, { metadata: { annotations: over.annotations ?? {} } });
    world.store.delete({ kind: 'Pod', name: 'a', namespace: 'shop' });
    return world;
  }

  test('an empty node goes when consolidateAfter has passed since its last Pod event, not before (D14-02)', () => {
    const world = emptied();
    pass(world, '4m50s');
    expect(conditionOf(only(claims(world)), 'DisruptionReason')).toBeUndefined();
    pass(world, '1m');
    expect([claims(world), nodes(world), world.forcefulExpirations]).toEqual([[], [], []]);
  });

  test.each([
    ['true', 1],
    ['1h', 0],
  ])('do-not-disrupt %j on the Node leaves %i node (D14-02)', (value, left) => {
    const world = emptied({ annotations: { 'karpenter.sh/do-not-disrupt': value } });
    pass(world, '10m');
    expect(nodes(world).length).toBe(left);
  });

  test('a placeholder with its own do-not-disrupt keeps its host (D14-02)', () => {
    const world = emptied();
    placeholderOf(world, 'api', '1');
    pass(world, '30m');
    expect(nodes(world).length).toBe(1);
  });
});

test('virtual time starts where it is told (D14-03)', () => {
  expect(emptyWorld().now).toBe(at('2026-06-01T00:00:00Z'));
});
