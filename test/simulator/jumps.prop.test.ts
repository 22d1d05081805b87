/**
 * Virtual time may jump: where nothing is due, nothing happens, whatever processes are going on in the world.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Instant } from '../../lib/domain/time.ts';
import { add, minutes, seconds } from '../../lib/domain/time.ts';
import type { KindName } from '../../lib/simulator/kinds.ts';
import { kinds } from '../../lib/simulator/kinds.ts';
import type { PoolObject } from '../../lib/simulator/kube-object.ts';
import { interruptSpot, setNodeReady, takeInstance } from '../../lib/simulator/node-health.ts';
import type { ObjectStore } from '../../lib/simulator/object-store.ts';
import type { World } from '../../lib/simulator/world.ts';
import { createModels } from '../../lib/simulator/world-models.ts';
import { runs } from '../support/properties.ts';
import {
  addBudget,
  addDeployment,
  addPod,
  addPool,
  addStatefulSet,
  emptyWorld,
  nodes,
  start,
} from '../support/small-world.ts';

type Event = readonly [at: number, what: string, which: number];

const happenings: Readonly<Record<string, (world: World, which: number) => void>> = {
  silent: (world, which) => setNodeReady(world, nthNode(world, which), false),
  back: (world, which) => setNodeReady(world, nthNode(world, which), true),
  gone: (world, which) => takeInstance(world, nthNode(world, which)),
  interrupted: (world, which) => interruptSpot(world, nthNode(world, which)),
  image: (world, which) => {
    world.cloud.image = `ami-${which}`;
  },
  shortage: (world, which) => {
    world.cloud.shortages = which % 2 === 0 ? [] : [{ zone: 'ap-northeast-1a' }, { zone: 'ap-northeast-1c' }];
  },
  hang: (world, which) => {
    world.launchOutcome = () => (['registers', 'neverRegisters', 'neverLaunches'] as const)[which % 3] ?? 'registers';
  },
  scale: (world, which) =>
    void world.store.patch({ kind: 'Deployment', name: 'web', namespace: 'shop' }, { spec: { replicas: which } }),
  fixed: (world, which) =>
    void world.store.patch({ kind: 'NodePool', name: 'fixed' }, { spec: { replicas: which % 3 } }),
  cordon: (world, which) =>
    void world.store.patch(
      { kind: 'Node', name: nthNode(world, which) },
      { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }, spec: { unschedulable: true } },
    ),
  drift: (world, which) => {
    const pool = world.store.get('NodePool', 'api') as PoolObject;
    const { template } = pool.spec;
    const spec = { ...template.spec, terminationGracePeriod: `${1 + which}h` };
    world.store.update(pool, { spec: { template: { ...template, spec } } });
  },
  placed: (world, which) =>
    void (
      world.store.get('Pod', `p${which}`, 'shop') ??
      addPod(world, `p${which}`, { cpu: '2', annotations: { 'karpenter.sh/do-not-disrupt': `${which + 1}m` } })
    ),
};
const nthNode = (world: World, which: number): string =>
  nodes(world)[which % Math.max(1, nodes(world).length)]?.metadata.name ?? '';

const events: fc.Arbitrary<readonly Event[]> = fc
  .array(fc.tuple(fc.nat({ max: 7200 }), fc.constantFrom(...Object.keys(happenings)), fc.nat({ max: 6 })), {
    minLength: 1,
    maxLength: 8,
  })
  .map((list) => list.toSorted(([a], [b]) => a - b));

function aBusyWorld(): World {
  const world = emptyWorld({ nodeLag: seconds(15), shortageMemory: minutes(3), repairsNodes: true });
  const open = { budgets: [{ nodes: '50%' }, { nodes: '0', schedule: '30 * * * *', duration: '20m' }] };
  const consolidates = { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '3m' };
  addPool(world, { ...open, ...consolidates, expireAfter: '100m', terminationGracePeriod: '10m' });
  addPool(world, { name: 'fixed', replicas: 1, ...open });
  addDeployment(world, 'web', 4, '1500m');
  addBudget(world, 'web', { maxUnavailable: 1 });
  addStatefulSet(world, 'db', 2, { stopSeconds: 40 });
  return world;
}

/** The objects without versions: a write that changed nothing in the end is no difference. */
const everything = (world: World): string =>
  JSON.stringify(
    kinds.map(({ kind }) => world.store.all(kind)),
    (key, value) => (key === 'resourceVersion' ? undefined : value),
  );

/** Gives every model a reason to look at the world, and nothing that is new. */
function nudge(world: World): void {
  world.cloud.shortages = [...world.cloud.shortages];
  for (const kind of ['NodePool', 'NodeClaim', 'Node', 'Pod'] as const) {
    const [object] = world.store.all(kind);
    if (!object) continue;
    const { annotations } = object.metadata;
    const marked = world.store.update(object, { metadata: { annotations: { ...annotations, nudged: 'true' } } });
    if (marked) world.store.update(marked, { metadata: { annotations } });
  }
}

function played(list: readonly Event[], stepSeconds: number | undefined): string {
  const world = aBusyWorld();
  const go = (to: Instant): void => {
    while (stepSeconds !== undefined && add(world.now, seconds(stepSeconds)) < to) {
      world.advance(add(world.now, seconds(stepSeconds)));
      nudge(world);
    }
    world.advance(to);
  };
  for (const [at, what, which] of list) {
    go(add(start, seconds(at)));
    happenings[what]?.(world, which);
  }
  go(add(start, minutes(200)));
  return everything(world);
}

test('whatever goes on in the world, looking at it again and again changes nothing: a jump leads to the same objects (D14-03)', () => {
  fc.assert(
    fc.property(events, fc.integer({ min: 7, max: 90 }), (list, step) => {
      expect(played(list, step)).toBe(played(list, undefined));
    }),
    runs(12),
  );
}, 120_000);

test('no model reads a kind that it does not name (D14-03)', () => {
  const world = aBusyWorld();
  const read = new Set<KindName>();
  const watched = new Proxy(world.store, {
    get(store, property) {
      const value = Reflect.get(store, property, store) as unknown;
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        if (property === 'all' || property === 'get') read.add(given[0] as KindName);
        if (property === 'podsOn') read.add('Pod');
        return (value as (...all: unknown[]) => unknown).apply(store, given);
      };
    },
  }) as ObjectStore;
  const models = createModels(new Map(), true);
  const undeclared: string[] = [];
  for (let second = 0; second < 7200; second += 30) {
    const [what] = Object.keys(happenings).slice((second / 30) % Object.keys(happenings).length);
    if (what && second % 300 === 0) happenings[what]?.(world, second / 300);
    world.advance(add(start, seconds(second)));
    const view = new Proxy(world, {
      get: (_, property) => {
        const value = Reflect.get(world, property, world) as unknown;
        if (property === 'store') return watched;
        return typeof value === 'function' ? value.bind(world) : value;
      },
    });
    for (const [index, model] of models.entries()) {
      read.clear();
      model.run(view);
      for (const kind of read) if (!model.reads.includes(kind)) undeclared.push(`model ${index}: ${kind}`);
    }
  }
  expect([...new Set(undeclared)]).toEqual([]);
});
