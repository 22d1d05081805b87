import fc from 'fast-check';
import { expect, it } from 'vitest';
import { add, minutes } from '../../lib/domain/time.ts';
import { SimulatedCrash } from '../../lib/simulator/faults.ts';
import type { KubeObject } from '../../lib/simulator/kube-object.ts';
import type { World } from '../../lib/simulator/world.ts';
import { aWorld, leftovers, MemoryTable, stateOf, tickOn } from '../support/story.ts';

/**
 * Random moves of operators, cluster and controller. After each: at most one node is cordoned by us, what an operator
 * set is as he set it, and after two quiet ticks nothing is marked that has no rotation behind it.
 */
interface Model {
  /** Node name → the operator's own marks, which nobody may change. */
  readonly operators: Map<string, { doNotDisrupt?: string; cordoned?: boolean }>;
}
interface Real {
  readonly world: World;
  readonly table: MemoryTable;
}
type Command = fc.AsyncCommand<Model, Real>;

const nodesOf = (world: World): readonly KubeObject[] => {
  const listed = world.store.list('Node');
  return listed.ok ? listed.value.items : [];
};
const annotationsOf = (object: KubeObject | undefined): Readonly<Record<string, string>> =>
  (object?.metadata.annotations ?? {}) as Record<string, string>;
const nthNode = (world: World, index: number): KubeObject | undefined => {
  const nodes = nodesOf(world).filter((node) => node.metadata.deletionTimestamp === undefined);
  return nodes[index % Math.max(1, nodes.length)];
};

function check({ operators }: Model, { world }: Real): void {
  const cordonedByUs = nodesOf(world).filter(
    (node) =>
      annotationsOf(node)['noderotation.io/cordoned'] === 'true' && node.metadata.deletionTimestamp === undefined,
  );
  expect(cordonedByUs.length).toBeLessThanOrEqual(1);
  for (const node of nodesOf(world)) {
    const own = operators.get(node.metadata.name);
    if (!own) continue;
    if (own.doNotDisrupt !== undefined)
      expect(annotationsOf(node)['karpenter.sh/do-not-disrupt']).toBe(own.doNotDisrupt);
    if (own.cordoned) expect((node as unknown as { spec: { unschedulable?: boolean } }).spec.unschedulable).toBe(true);
  }
}

const command = (name: string, run: (model: Model, real: Real) => Promise<void> | void): Command => ({
  check: () => true,
  toString: () => name,
  run: async (model, real) => {
    await run(model, real);
    check(model, real);
  },
});

const patchNode = (real: Real, name: string, patch: object): void =>
  void real.world.store.patch({ kind: 'Node', name }, patch);
const patchPool = (real: Real, annotations: Record<string, string | null>): void =>
  void real.world.store.patch({ kind: 'NodePool', name: 'api' }, { metadata: { annotations } });

const anyNode = fc.nat({ max: 5 });
const commands: fc.Arbitrary<Command>[] = [
  // The controller.
  fc.constant(command('tick', async (_m, { world, table }) => void (await tickOn(world, table)))),
  fc.constant(
    command(
      'two ticks at once',
      async (_m, { world, table }) => void (await Promise.all([tickOn(world, table), tickOn(world, table)])),
    ),
  ),
  fc.integer({ min: 0, max: 8 }).map((after) =>
    command(`crash after ${after}`, async (_m, { world, table }) => {
      await tickOn(world, table, { crashAfterActions: after }).catch((error: unknown) => {
        if (!(error instanceof SimulatedCrash)) throw error;
      });
    }),
  ),
  fc.boolean().map((down) =>
    command(`table ${down ? 'down' : 'up'}`, (_m, { table }) => {
      table.down = down;
    }),
  ),
  // Time.
  fc.integer({ min: 1, max: 20 }).map((count) =>
    command(`${count} minutes with ticks`, async (_m, { world, table }) => {
      for (let minute = 0; minute < count; minute += 1) {
        world.advance(add(world.now, minutes(1)));
        await tickOn(world, table);
      }
    }),
  ),
  fc
    .integer({ min: 1, max: 30 })
    .map((count) =>
      command(`${count} minutes without`, (_m, { world }) => world.advance(add(world.now, minutes(count)))),
    ),
  // Operators.
  fc
    .boolean()
    .map((frozen) =>
      command(frozen ? 'freeze' : 'thaw', (_m, real) =>
        patchPool(real, { 'noderotation.io/freeze': frozen ? '2027-01-01T00:00:00Z' : null }),
      ),
    ),
  anyNode.map((index) =>
    command(`opt out node ${index}`, ({ operators }, real) => {
      const node = nthNode(real.world, index);
      if (!node) return;
      patchNode(real, node.metadata.name, {
        metadata: {
          annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'noderotation.io/do-not-disrupt-owned': null },
        },
      });
      operators.set(node.metadata.name, { ...operators.get(node.metadata.name), doNotDisrupt: 'true' });
    }),
  ),
  anyNode.map((index) =>
    command(`opt in node ${index}`, ({ operators }, real) => {
      const node = nthNode(real.world, index);
      const own = node && operators.get(node.metadata.name);
      if (!node || own?.doNotDisrupt === undefined) return;
      patchNode(real, node.metadata.name, { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': null } } });
      operators.set(node.metadata.name, own.cordoned ? { cordoned: true } : {});
    }),
  ),
  anyNode.map((index) =>
    command(`cordon node ${index}`, ({ operators }, real) => {
      const node = nthNode(real.world, index);
      // A cordon over ours leaves no trace that it is the operator's, too.
      if (!node || annotationsOf(node)['noderotation.io/cordoned'] === 'true') return;
      patchNode(real, node.metadata.name, { spec: { unschedulable: true } });
      operators.set(node.metadata.name, { ...operators.get(node.metadata.name), cordoned: true });
    }),
  ),
  fc.constant(
    command('revert the pool', (_m, real) =>
      patchPool(
        real,
        Object.fromEntries(Object.keys(stateOf(real.world)).map((key) => [`noderotation.io/${key}`, null])),
      ),
    ),
  ),
  fc.constant(
    command(
      'Observe',
      (_m, { world }) =>
        void world.store.patch({ kind: 'RotationPolicy', name: 'nights' }, { spec: { mode: 'Observe' } }),
    ),
  ),
  fc.constant(
    command(
      'Rotate',
      (_m, { world }) =>
        void world.store.patch({ kind: 'RotationPolicy', name: 'nights' }, { spec: { mode: 'Rotate' } }),
    ),
  ),
  // The cluster.
  anyNode.map((index) =>
    command(`node ${index} and its claim are deleted`, (_m, { world }) => {
      const node = nthNode(world, index);
      const listed = world.store.list('NodeClaim');
      const claim = listed.ok
        ? listed.value.items.find(
            (each) => (each as unknown as { status?: { nodeName?: string } }).status?.nodeName === node?.metadata.name,
          )
        : undefined;
      if (claim) world.store.delete({ kind: 'NodeClaim', name: claim.metadata.name }, {});
    }),
  ),
  fc.constant(
    command('the placeholder is preempted', (_m, { world }) => {
      const listed = world.store.list('Pod', { namespace: 'node-rotation' });
      for (const pod of listed.ok ? listed.value.items : [])
        world.store.delete({ kind: 'Pod', name: pod.metadata.name, namespace: 'node-rotation' }, {});
    }),
  ),
  fc.boolean().map((lost) =>
    command(`capacity ${lost ? 'lost' : 'back'}`, (_m, { world }) => {
      world.launchOutcome = () => (lost ? 'insufficientCapacity' : 'registers');
    }),
  ),
];

/** A longer run: MODEL_RUNS=20000. A failure prints its seed and path. */
const runs = Number(process.env['MODEL_RUNS'] ?? 2000);

it('whatever operators, cluster and controller do, ours stays ours and every orphan is gone within two ticks (D7-10, D6-03, R3.4-03, R3.4-05, R3.9-02)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 25 }), async (drawn) => {
      const real: Real = { world: aWorld(), table: new MemoryTable() };
      const model: Model = { operators: new Map() };
      await fc.asyncModelRun(() => ({ model, real }), drawn);
      // Quiet: nothing starts, nothing fails, the table is up; what is in flight ends, then two ticks sweep.
      real.table.down = false;
      real.world.launchOutcome = () => 'registers';
      const { world, table } = real;
      world.store.patch({ kind: 'RotationPolicy', name: 'nights' }, { spec: { mode: 'Observe' } });
      for (let minute = 0, quiet = 0; minute < 200 && quiet < 2; minute += 1) {
        world.advance(add(world.now, minutes(1)));
        await tickOn(world, table);
        quiet = stateOf(world)['active-rotation'] === undefined ? quiet + 1 : 0;
      }
      check(model, real);
      const operatorsOwn = new Set(model.operators.keys());
      expect(
        leftovers(world).filter(
          (line) => !operatorsOwn.has(line.split(/[ :]/)[1] ?? '') || line.includes('noderotation.io'),
        ),
      ).toEqual([]);
      expect(
        table.ticks.flatMap((tick) => tick.pools).filter((pool) => pool.stopped?.startsWith('InvariantViolated')),
      ).toEqual([]);
      // Every start has exactly one end.
      const trail = [...table.rows.values()];
      const starts = trail
        .filter((row) => row.step === 'started' || row.step === 'fallbackStarted')
        .map((row) => row.uid + row.startedAt);
      const ends = trail
        .filter((row) => ['completed', 'failed', 'expired', 'aborted'].includes(row.step))
        .map((row) => row.uid + row.startedAt);
      expect(new Set(starts).size).toBe(starts.length);
      expect(ends.filter((end) => !starts.includes(end))).toEqual([]);
    }),
    { numRuns: runs, verbose: 1 },
  );
}, 600_000);
