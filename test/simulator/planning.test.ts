/**
 * What Karpenter refuses to plan, and what it counts against a pool's limits: the rules that a placeholder has to live with.
 */
import { describe, expect, test } from 'vitest';
import type { PoolObject, RawRequirement } from '../../lib/simulator/kube-object.ts';
import { withCondition } from '../../lib/simulator/kube-object.ts';
import type { World } from '../../lib/simulator/world.ts';
import { addPod, addPool, claims, emptyWorld, nodes, pass, placeholderOf, pod } from '../support/small-world.ts';

const zone = 'topology.kubernetes.io/zone';
const isIn = (key: string, ...values: string[]): RawRequirement => ({ key, operator: 'In', values });
const required = (...terms: readonly object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
});
const preferred = (...terms: readonly (readonly [number, RawRequirement])[]) => ({
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: terms.map(([weight, expression]) => ({
        weight,
        preference: { matchExpressions: [expression] },
      })),
    },
  },
});

describe('a requirement that Karpenter refuses leaves the Pod to itself', () => {
  test.each<[string, object, number]>([
    ['a zone of its own', required({ matchExpressions: [isIn(zone, 'ap-northeast-1c')] }), 1],
    ['the pool', required({ matchExpressions: [isIn('karpenter.sh/nodepool', 'api')] }), 1],
    ['the capacity type', required({ matchExpressions: [isIn('karpenter.sh/capacity-type', 'on-demand')] }), 1],
    [
      'not this host',
      required({ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['x'] }] }),
      0,
    ],
    ['another label of Karpenter', required({ matchExpressions: [isIn('karpenter.sh/registered', 'true')] }), 0],
    ['a label of Karpenter as selector', { nodeSelector: { 'karpenter.sh/initialized': 'true' } }, 0],
    ['a field', required({ matchFields: [isIn('metadata.name', 'x')] }), 0],
    [
      'a bound that the template keeps',
      required({ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['3'] }] }),
      1,
    ],
    ['a bound below zero', required({ matchExpressions: [{ key: 'size', operator: 'Gt', values: ['-1'] }] }), 0],
    ['a bound that is no number', required({ matchExpressions: [{ key: 'size', operator: 'Lt', values: ['x'] }] }), 0],
    ['a label that no template defines', required({ matchExpressions: [isIn('disk', 'fast')] }), 0],
    ['a zone that the cloud does not have', required({ matchExpressions: [isIn(zone, 'nowhere')] }), 0],
    [
      'the first of two alternatives',
      required({ matchExpressions: [isIn(zone, 'ap-northeast-1a')] }, { matchExpressions: [isIn(zone, 'nowhere')] }),
      1,
    ],
    [
      'the second of two alternatives',
      required({ matchExpressions: [isIn(zone, 'nowhere')] }, { matchExpressions: [isIn(zone, 'ap-northeast-1d')] }),
      1,
    ],
  ])('%s (D14-02, D2-05)', (_, spec, expected) => {
    const world = emptyWorld();
    addPool(world);
    const pool = world.store.get('NodePool', 'api') as PoolObject;
    const { template } = pool.spec;
    const labels = { ...template.metadata?.labels, size: '4' };
    world.store.update(pool, { spec: { template: { ...template, metadata: { labels } } } });
    addPod(world, 'a', { spec });
    pass(world, '1m');
    expect(claims(world)).toHaveLength(expected);
  });

  test('the same as a preference is accepted (D14-02, D8-07)', () => {
    const world = emptyWorld();
    addPool(world);
    addPod(world, 'a', {
      spec: preferred([100, { key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['x'] }]),
    });
    pass(world, '1m');
    expect(claims(world)).toHaveLength(1);
  });
});

test('a lighter preference beside a heavier one does not steer what is launched (D14-02, D8-07)', () => {
  const zones = ['a', 'c', 'd'].map((letter) => {
    const world = emptyWorld();
    addPool(world);
    addPod(world, 'web', {
      spec: preferred(
        [100, { key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['x'] }],
        [1, isIn(zone, `ap-northeast-1${letter}`)],
      ),
    });
    pass(world, '1m');
    return nodes(world)[0]?.metadata.labels?.[zone];
  });
  // Whatever the light one names, the same node comes.
  expect(new Set(zones).size).toBe(1);
});

describe('pools that Karpenter does not plan for', () => {
  const changed = (change: (world: World, pool: PoolObject) => void): number => {
    const world = emptyWorld();
    addPool(world);
    change(world, world.store.get('NodePool', 'api') as PoolObject);
    addPod(world, 'a');
    pass(world, '1m');
    return claims(world).length;
  };

  test.each<[string, (world: World, pool: PoolObject) => void]>([
    ['of the fixed size 0', ({ store }, pool) => void store.update(pool, { spec: { replicas: 0 } })],
    [
      'that are not Ready',
      ({ store, now }, pool) =>
        void store.update(pool, {
          status: { conditions: withCondition([], now, 'Ready', 'False', 'NodeClassNotReady') },
        }),
    ],
    [
      'that are being deleted',
      ({ store }, pool) => {
        store.update(pool, { metadata: { finalizers: ['karpenter.sh/termination'] } });
        store.delete({ kind: 'NodePool', name: 'api' });
      },
    ],
  ])('%s (D14-02, D6-04, PR-62)', (_, change) => {
    expect(changed(() => undefined)).toBe(1);
    expect(changed(change)).toBe(0);
  });
});

describe('limits', () => {
  test('hold against the largest instance that a claim may still become (D14-02, D8-05)', () => {
    const made = (instanceTypes: readonly string[], cpu: string) => {
      const world = emptyWorld();
      addPool(world, { instanceTypes, limits: { cpu } });
      // Too large for one node together, so two claims come of one batch.
      addPod(world, 'a', { cpu: '3' });
      addPod(world, 'b', { cpu: '3' });
      pass(world, '2s');
      return claims(world).length;
    };
    expect(made(['m7g.xlarge'], '8')).toBe(2);
    expect(made(['m7g.xlarge'], '7')).toBe(1);
  });

  test('count what is being deleted no more (D14-02, D8-05)', () => {
    const world = emptyWorld();
    addPool(world, { limits: { nodes: '1' } });
    addPod(world, 'a', { cpu: '3', spec: { terminationGracePeriodSeconds: 60 } });
    pass(world, '1m');
    addPod(world, 'b', { cpu: '3' });
    pass(world, '1m');
    expect(claims(world)).toHaveLength(1);
    world.store.delete({ kind: 'NodeClaim', name: claims(world)[0]?.metadata.name ?? '' });
    pass(world, '2m');
    expect(pod(world, 'b')?.spec.nodeName).toBeDefined();
  });
});

test('a placeholder gives way to a Pod that needs its room, at once and without an extra node (D14-02, R3.3-21)', () => {
  const world = emptyWorld();
  addPool(world);
  placeholderOf(world, 'api', '3');
  pass(world, '1m');
  const host = pod(world, 'noderotation-surge', 'node-rotation')?.spec.nodeName;
  addPod(world, 'web', { cpu: '3' });
  pass(world, '10s');
  expect(pod(world, 'noderotation-surge', 'node-rotation')).toBeUndefined();
  expect([pod(world, 'web')?.spec.nodeName, claims(world).length]).toEqual([host, 1]);
});

test('a launch that finds no capacity goes at once, one that hangs after fifteen minutes to the second (D14-02, PR-45)', () => {
  const alive = (outcome: 'insufficientCapacity' | 'neverRegisters', after: string) => {
    const world = emptyWorld();
    addPool(world);
    world.launchOutcome = () => outcome;
    addPod(world, 'a');
    pass(world, '2s');
    const [first] = claims(world);
    pass(world, after);
    return world.store.get('NodeClaim', first?.metadata.name ?? '') !== undefined;
  };
  // Created after a second, launched two seconds later.
  expect([alive('insufficientCapacity', '0s'), alive('insufficientCapacity', '1s')]).toEqual([true, false]);
  expect([alive('neverRegisters', '14m58s'), alive('neverRegisters', '14m59s')]).toEqual([true, false]);
});
