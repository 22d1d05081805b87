import { describe, expect, test } from 'vitest';
import { minutes, seconds } from '../../lib/domain/time.ts';

import { lastFire, nextFire, parseCron } from '../../lib/simulator/cron.ts';
import { isDeleting, isTrue } from '../../lib/simulator/kube-object.ts';
import { interruptSpot, setNodeReady, takeInstance } from '../../lib/simulator/node-health.ts';
import type { World, WorldOptions } from '../../lib/simulator/world.ts';
import { at } from '../support/builders.ts';
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
  pod,
} from '../support/small-world.ts';

/** One node with three Pods of a Deployment under a budget of nothing. */
function settled(shape: PoolShape = {}, options: Partial<WorldOptions> = {}): World {
  const world = emptyWorld(options);
  addPool(world, shape);
  addDeployment(world, 'web', 3);
  addBudget(world, 'web', { maxUnavailable: 0 });
  pass(world, '2m');
  return world;
}
const theNode = (world: World): string => only(nodes(world)).metadata.name;
const healthy = (world: World): number =>
  world.store.all('Pod').filter((each) => isTrue(each as never, 'Ready')).length;
const zone = (world: World) => nodes(world).map(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone']);

describe('a machine that is gone', () => {
  test('is noticed after 40 s, collected on a two-minute round, and its Pods start elsewhere past every budget (D14-02)', () => {
    const world = settled();
    const old = theNode(world);
    takeInstance(world, old);
    pass(world, '39s');
    expect([isTrue(only(nodes(world)), 'Ready'), healthy(world)]).toEqual([true, 3]);
    pass(world, '2s');
    expect([isTrue(only(nodes(world)), 'Ready'), healthy(world), claims(world).length]).toEqual([false, 0, 1]);
    pass(world, '1m20s');
    expect(world.store.get('Node', old)).toBeUndefined();
    pass(world, '1m');
    expect([claims(world).length, healthy(world)]).toEqual([1, 3]);
    expect(world.forcefulExpirations).toEqual([]);
  });

  test('spot: a drain of two minutes, then the machine is gone whatever is left on it (D14-02)', () => {
    const world = settled();
    const old = theNode(world);
    interruptSpot(world, old);
    pass(world, '1m59s');
    expect([isDeleting(world.store.get('Node', old) as never), world.store.podsOn(old).length]).toEqual([true, 3]);
    pass(world, '42s');
    expect(world.store.get('Node', old)).toBeUndefined();
  });
});

describe('a node that is silent', () => {
  test('keeps its Pods when it is back within five minutes (D14-02)', () => {
    const world = settled();
    const before = world.store.all('Pod').map(({ metadata }) => metadata.uid);
    setNodeReady(world, theNode(world), false);
    pass(world, '4m59s');
    expect(healthy(world)).toBe(0);
    setNodeReady(world, theNode(world), true);
    pass(world, '10s');
    expect([world.store.all('Pod').map(({ metadata }) => metadata.uid), healthy(world)]).toEqual([before, 3]);
  });

  test('after five minutes its Pods are made again elsewhere, and the old ones stay until it is back (D14-02)', () => {
    const world = settled();
    const old = theNode(world);
    setNodeReady(world, old, false);
    pass(world, '7m');
    expect([healthy(world), world.store.podsOn(old).every(isDeleting), nodes(world).length]).toEqual([3, true, 2]);
    setNodeReady(world, old, true);
    pass(world, '10s');
    expect(world.store.podsOn(old)).toEqual([]);
  });

  test.each([
    [[{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', tolerationSeconds: 30 }], true],
    [[{ operator: 'Exists' }], false],
  ])('a Pod with the tolerations %j has gone after a minute: %s (D14-02)', (tolerations, gone) => {
    const world = emptyWorld();
    addPool(world);
    addPod(world, 'a', { spec: { tolerations } });
    pass(world, '1m');
    setNodeReady(world, theNode(world), false);
    pass(world, '1m');
    expect(isDeleting(pod(world, 'a') as never)).toBe(gone);
  });

  test.each([
    [true, 1, 'repaired'],
    [false, 0, 'left as it is'],
  ])(
    'with repair %s: after half an hour %i of them is gone, past budget and do-not-disrupt (D14-02)',
    (repairsNodes, gone) => {
      const world = settled({}, { repairsNodes });
      const old = theNode(world);
      world.store.update(only(nodes(world)), { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } });
      setNodeReady(world, old, false);
      pass(world, '29m');
      expect(world.store.get('Node', old)).toBeDefined();
      pass(world, '2m');
      expect(world.store.get('Node', old) === undefined ? 1 : 0).toBe(gone);
    },
  );

  test('more than a fifth of a pool is not repaired (D14-02)', () => {
    const world = emptyWorld({ repairsNodes: true });
    addPool(world, { replicas: 5 });
    pass(world, '1m');
    for (const node of nodes(world).slice(0, 2)) setNodeReady(world, node.metadata.name, false);
    pass(world, '2h');
    expect(nodes(world).filter((node) => !isTrue(node, 'Ready')).length).toBe(2);
  });
});

describe('capacity', () => {
  test('a zone without capacity is passed over in the same launch (D14-02)', () => {
    const world = emptyWorld();
    world.cloud.shortages = ['a', 'c'].map((letter) => ({ zone: `ap-northeast-1${letter}` }));
    addPool(world);
    addPod(world, 'a');
    pass(world, '1m');
    expect(zone(world)).toEqual(['ap-northeast-1d']);
  });

  test('a Pod bound to that zone gets a claim that is deleted and made again until there is capacity (D14-02)', () => {
    const world = emptyWorld();
    addPool(world);
    world.cloud.shortages = [{ zone: 'ap-northeast-1a' }];
    const made: string[] = [];
    world.store.onChange(({ type, object }) => {
      if (type === 'added' && object.kind === 'NodeClaim') made.push(object.metadata.name);
    });
    addPod(world, 'a', { spec: { nodeSelector: { 'topology.kubernetes.io/zone': 'ap-northeast-1a' } } });
    pass(world, '1m');
    expect([made.length > 2, nodes(world)]).toEqual([true, []]);
    world.cloud.shortages = [];
    pass(world, '1m');
    expect(zone(world)).toEqual(['ap-northeast-1a']);
  });

  test('with a memory of shortages nothing is asked for again before it ends (D14-02)', () => {
    const world = emptyWorld({ shortageMemory: minutes(3) });
    addPool(world);
    world.launchOutcome = () => 'insufficientCapacity';
    addPod(world, 'a');
    pass(world, '10s');
    world.launchOutcome = () => 'registers';
    pass(world, '2m45s');
    expect(claims(world)).toEqual([]);
    pass(world, '20s');
    expect(claims(world).length).toBe(1);
  });

  test('a launch without an answer is given up after five minutes (D14-02)', () => {
    const world = emptyWorld();
    addPool(world);
    world.launchOutcome = () => 'neverLaunches';
    addPod(world, 'a');
    pass(world, '4m50s');
    const first = only(claims(world)).metadata.name;
    pass(world, '20s');
    expect(claims(world).map(({ metadata }) => metadata.name)).not.toContain(first);
  });

  test('what is reserved comes first; a pool that may have nothing else waits when it is used up (D14-02)', () => {
    const capacityTypes = (...types: string[]): readonly (string | undefined)[] => {
      const world = emptyWorld();
      world.cloud.reservations = [{ zone: 'ap-northeast-1c', instanceType: 'm7g.xlarge', count: 1 }];
      addPool(world, { capacityTypes: types });
      addPod(world, 'a', { cpu: '3' });
      pass(world, '1m');
      addPod(world, 'b', { cpu: '3' });
      pass(world, '2m');
      return nodes(world)
        .map(({ metadata }) => metadata.labels?.['karpenter.sh/capacity-type'])
        .sort();
    };
    expect([capacityTypes('reserved'), capacityTypes('reserved', 'on-demand')]).toEqual([
      ['reserved'],
      ['on-demand', 'reserved'],
    ]);
  });

  test('a Pod that asks for a GPU gets a node that has one (D14-02)', () => {
    const world = emptyWorld();
    addPool(world, { instanceTypes: ['m7i.xlarge', 'g6.xlarge'] });
    const requests = { cpu: '1', 'nvidia.com/gpu': '1' };
    addPod(world, 'a', { spec: { containers: [{ resources: { requests, limits: { 'nvidia.com/gpu': '1' } } }] } });
    pass(world, '1m');
    expect(nodes(world).map(({ metadata }) => metadata.labels?.['node.kubernetes.io/instance-type'])).toEqual([
      'g6.xlarge',
    ]);
  });
});

test.each([
  ['0 9 * * mon-fri', '2026-06-05T09:00:00Z', '2026-06-08T09:00:00Z'],
  ['*/15 * * * *', '2026-06-06T11:45:00Z', '2026-06-06T12:15:00Z'],
  ['@daily', '2026-06-06T00:00:00Z', '2026-06-07T00:00:00Z'],
  ['30 6 1,15 * 0', '2026-06-01T06:30:00Z', '2026-06-07T06:30:00Z'],
])('the schedule %s fired last at %s and fires next at %s, in UTC (D14-02)', (text, last, next) => {
  const now = at('2026-06-06T12:00:00Z');
  const cron = parseCron(text);
  if (!cron) throw new Error('unread');
  const sought = text.startsWith('*/15') ? at('2026-06-06T11:59:00Z') : now;
  expect([lastFire(cron, sought, minutes(10_000)), nextFire(cron, now)]).toEqual([at(last), at(next)]);
  expect(lastFire(cron, sought, seconds(1))).toBeUndefined();
});

test.each(['', '* * * *', '61 * * * *', 'x * * * *', '5-1 * * * *', '*/0 * * * *'])(
  '%j is no schedule (D14-02)',
  (text) => {
    expect(parseCron(text)).toBeUndefined();
  },
);
