import { describe, expect, test } from 'vitest';
import type { WorkloadObject } from '../../lib/simulator/kube-object.ts';
import { isDeleting, isTrue } from '../../lib/simulator/kube-object.ts';
import type { World } from '../../lib/simulator/world.ts';
import {
  addBudget,
  addPod,
  addPool,
  addStatefulSet,
  claims,
  create,
  emptyWorld,
  nodes,
  only,
  pass,
  pod,
} from '../support/small-world.ts';

const names = (world: World): readonly string[] => world.store.all('Pod').map(({ metadata }) => metadata.name);
const isReady = (world: World, name: string): boolean => isTrue(pod(world, name) ?? { status: {} }, 'Ready');

/** Two Pods of one StatefulSet, Ready on one node. */
function running(shape: Parameters<typeof addStatefulSet>[3] = {}, replicas = 2): World {
  const world = emptyWorld();
  addPool(world);
  addStatefulSet(world, 'db', replicas, shape);
  pass(world, '3m');
  expect([only(nodes(world)).metadata.name, isReady(world, 'db-0'), isReady(world, 'db-1')]).toEqual([
    pod(world, 'db-0')?.spec.nodeName,
    true,
    replicas > 1,
  ]);
  return world;
}

describe('a StatefulSet', () => {
  test('makes its Pods one after the other, by number (D14-02)', () => {
    const world = emptyWorld();
    addPool(world);
    addStatefulSet(world, 'db', 3);
    pass(world, '30s');
    expect(names(world)).toEqual(['db-0']);
    pass(world, '2m');
    expect(names(world)).toEqual(['db-0', 'db-1', 'db-2']);
    expect((world.store.get('StatefulSet', 'db', 'shop') as WorkloadObject).status).toMatchObject({ readyReplicas: 3 });
  });

  test('makes a Pod again under the same name, and not before it is gone (D14-02)', () => {
    const world = running({ stopSeconds: 60 });
    const first = pod(world, 'db-1')?.metadata.uid;
    world.store.delete({ kind: 'Pod', name: 'db-1', namespace: 'shop' });
    pass(world, '59s');
    expect(pod(world, 'db-1')?.metadata.uid).toBe(first);
    expect(isDeleting(pod(world, 'db-1') as never)).toBe(true);
    pass(world, '1s');
    expect(pod(world, 'db-1')?.metadata.uid).not.toBe(first);
    pass(world, '10s');
    expect(isReady(world, 'db-1')).toBe(true);
  });

  test('gives up the highest number first, and all of them with itself (D14-02)', () => {
    const world = running();
    world.store.patch({ kind: 'StatefulSet', name: 'db', namespace: 'shop' }, { spec: { replicas: 1 } });
    pass(world, '1m');
    expect(names(world)).toEqual(['db-0']);
    world.store.remove(world.store.get('StatefulSet', 'db', 'shop') as WorkloadObject);
    pass(world, '1m');
    expect(names(world)).toEqual([]);
  });

  test('is what its budget counts: a Pod that stops is missing from what it wants (D14-02)', () => {
    const world = running({ stopSeconds: 60 });
    addBudget(world, 'db', { maxUnavailable: 1 });
    pass(world, '1s');
    const status = () => world.store.get('PodDisruptionBudget', 'db', 'shop')?.status;
    expect(status()).toMatchObject({ expectedPods: 2, disruptionsAllowed: 1 });
    world.store.delete({ kind: 'Pod', name: 'db-1', namespace: 'shop' });
    pass(world, '1s');
    expect(status()).toMatchObject({ expectedPods: 2, disruptionsAllowed: 0 });
  });
});

describe('how long a Pod takes to stop', () => {
  const stopping = (annotation: string | undefined, grace: number) => {
    const world = emptyWorld();
    addPool(world);
    addPod(world, 'slow', {
      annotations: annotation === undefined ? {} : { 'simulator/stop-seconds': annotation },
      spec: { terminationGracePeriodSeconds: grace },
    });
    pass(world, '1m');
    world.store.delete({ kind: 'Pod', name: 'slow', namespace: 'shop' });
    const since = world.now;
    while (pod(world, 'slow') && world.now - since < 600_000) pass(world, '1s');
    return (world.now - since) / 1000;
  };

  test.each([
    ['is drawn by chance without a word of its own', undefined, 300, 5],
    ['is what the Pod says', '90', 300, 90],
    ['is nothing where the Pod says so', '0', 300, 1],
    ['is never longer than its grace', '90', 30, 30],
    ['is drawn where what it says is no number', 'long', 300, 5],
  ])('%s (D14-02)', (_, annotation, grace, expected) => {
    expect(stopping(annotation, grace)).toBe(expected);
  });
});

describe('the planning of Pods on a node that is deleted', () => {
  /** The old node's Pods are stopping when Karpenter looks, and nothing else has room for them. */
  function whileStopping(kind: 'StatefulSet' | 'ReplicaSet'): number {
    const world = emptyWorld();
    addPool(world);
    if (kind === 'StatefulSet') addStatefulSet(world, 'web', 1, { cpu: '3', stopSeconds: 120 });
    else {
      const template = {
        metadata: { labels: { app: 'web' }, annotations: { 'simulator/stop-seconds': '120' } },
        spec: {
          containers: [{ name: 'main', resources: { requests: { cpu: '3' } } }],
          terminationGracePeriodSeconds: 300,
        },
      };
      create(world, {
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'shop' },
        spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template },
      });
    }
    pass(world, '2m');
    const old = only(claims(world)).metadata.name;
    // The Pod stops already and nobody wants a successor: whatever is launched is launched for the one that stops.
    const [running] = world.store.podsOn(only(nodes(world)).metadata.name);
    for (const each of ['Deployment', 'ReplicaSet'] as const) {
      for (const object of world.store.all<WorkloadObject>(each)) world.store.update(object, { spec: { replicas: 0 } });
    }
    world.store.delete({ kind: 'Pod', name: running?.metadata.name ?? '', namespace: 'shop' });
    world.store.delete({ kind: 'NodeClaim', name: old });
    pass(world, '30s');
    expect(isDeleting(world.store.get('Pod', running?.metadata.name ?? '', 'shop') as never)).toBe(true);
    return claims(world).filter((claim) => claim.metadata.name !== old).length;
  }

  test('counts a Pod of a StatefulSet even while it stops (D14-02)', () => {
    expect(whileStopping('StatefulSet')).toBe(1);
  });

  test('leaves out any other Pod that stops already (D14-02)', () => {
    expect(whileStopping('ReplicaSet')).toBe(0);
  });
});
