/**
 * A simulated cluster under the real tick: tests tell what happens to it and read off what became of it.
 */
import type { Budget, Recorder, TickRecord } from '../../lib/controller/ports.ts';
import { runTick } from '../../lib/controller/run-tick.ts';
import type { UnrecordedStep } from '../../lib/domain/rotation/unrecorded.ts';
import { entryKey, toWire } from '../../lib/domain/rotation/unrecorded.ts';
import { add, days, hours, minutes, subtract, zero } from '../../lib/domain/time.ts';
import type { FaultPlan } from '../../lib/simulator/faults.ts';
import type { Fleet } from '../../lib/simulator/fleet.ts';
import {
  buildFleet,
  demonstrationPolicy,
  placeholderNamespace,
  placeholderPriorityClass,
} from '../../lib/simulator/fleet.ts';
import { SimulatedCluster } from '../../lib/simulator/simulated-cluster.ts';
import type { WorldOptions } from '../../lib/simulator/world.ts';
import { World } from '../../lib/simulator/world.ts';
import { at } from './builders.ts';
import { rememberingDecoders } from './remembering-decoders.ts';

export const unhurried: Budget = { left: () => hours(1), sinceSnapshot: () => zero };

export const settings = {
  namespace: placeholderNamespace,
  image: 'registry.k8s.io/pause:3.10',
  priorityClassName: placeholderPriorityClass,
};

/** A table that keeps rows by key: a row put twice is there once. */
export class MemoryTable implements Recorder {
  readonly rows = new Map<string, UnrecordedStep & { nodePool: string }>();
  readonly ticks: TickRecord[] = [];
  /** While true, nothing can be put. */
  down = false;

  async putSteps(nodePool: string, entries: readonly UnrecordedStep[]): Promise<ReadonlySet<string>> {
    if (this.down) return new Set();
    for (const entry of entries)
      if (!this.rows.has(entryKey(entry))) this.rows.set(entryKey(entry), { ...entry, nodePool });
    return new Set(entries.map(entryKey));
  }

  async record(tick: TickRecord): Promise<void> {
    this.ticks.push(tick);
  }

  /** The trail as text, in order of time: step, claim, and the facts that do not depend on when a tick looked. */
  trail(pool?: string): readonly string[] {
    return [...this.rows.values()]
      .filter(({ nodePool }) => pool === undefined || nodePool === pool)
      .sort((a, b) => a.at - b.at)
      .map((row) => `${row.step} ${row.claim}${row.surgePath ? ` ${row.surgePath}` : ''}`);
  }

  wire(): readonly Record<string, string | number>[] {
    return [...this.rows.values()].sort((a, b) => a.at - b.at).map(toWire);
  }
}

export interface TickOptions {
  readonly faults?: FaultPlan;
  readonly crashAfterActions?: number;
  readonly retired?: boolean;
}

/** One tick of the real controller on the simulated cluster. */
export const tickOn = (world: World, table: MemoryTable, options: TickOptions = {}): Promise<TickRecord> =>
  runTick({
    cluster: new SimulatedCluster({ world, decoders: rememberingDecoders, settings, ...options }),
    recorder: table,
    budget: unhurried,
  });

const objectKinds = ['NodePool', 'NodeClaim', 'Node', 'Pod'] as const;

/** Everything of ours that a rotation in flight would leave on objects; what outlives one is not counted. */
export function leftovers(world: World): readonly string[] {
  const lasting = new Set(
    [
      'last-rotation-at',
      'last-failure-at',
      'last-ended',
      'retry-count',
      'failed-at',
      'state',
      'started-at',
      'warnings',
      'freeze',
    ].map((key) => `noderotation.io/${key}`),
  );
  return objectKinds.flatMap((kind) => {
    const listed = world.store.list(kind);
    if (!listed.ok) throw new Error('the store does not list');
    return listed.value.items.flatMap((object) => {
      const annotations = (object.metadata.annotations ?? {}) as Record<string, string>;
      const found = Object.keys(annotations).filter(
        (key) => key.startsWith('noderotation.io/') && !(kind !== 'Node' && lasting.has(key)),
      );
      const placeholder =
        kind === 'Pod' && Object.hasOwn(object.metadata.labels ?? {}, 'noderotation.io/surge-for')
          ? ['(placeholder)']
          : [];
      return [...found, ...placeholder].map((key) => `${kind} ${object.metadata.name}: ${key}`);
    });
  });
}

/** One pool `api` of two nodes: the older is due in the window that opens at `opens`, the younger is not. */
export const oneDueNode: Fleet = {
  pools: [{ name: 'api', instanceType: 'm7g.xlarge', nodes: 2, ages: [days(10), days(2)], limits: { cpu: '64' } }],
  apps: [
    { name: 'web', pool: 'api', replicas: 5, requests: { cpu: '900m', memory: '2Gi' }, budget: { maxUnavailable: 1 } },
    { name: 'db', pool: 'api', replicas: 2, requests: { cpu: '500m', memory: '1Gi' }, budget: { minAvailable: 1 } },
  ],
  daemons: [{ name: 'node-agent', requests: { cpu: '100m', memory: '128Mi' } }],
  policy: demonstrationPolicy,
};

/** Wednesday 02:00 in Tokyo. */
export const opens = at('2026-06-09T17:00:00Z');

/** The fleet just before its window opens. */
export function aWorld(fleet: Fleet = oneDueNode, options: Partial<WorldOptions> = {}): World {
  const world = new World({ startsAt: subtract(opens, minutes(10)), ...options });
  buildFleet(world, fleet);
  world.advance(opens);
  return world;
}

/** Ticks once a minute from the world's present instant, the first one now. */
export async function tickMinutes(
  world: World,
  table: MemoryTable,
  count: number,
  options: TickOptions = {},
): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    await tickOn(world, table, options);
    world.advance(add(world.now, minutes(1)));
  }
}

/** The NodePool's annotations of ours, without the prefix. */
export function stateOf(world: World, pool = 'api'): Readonly<Record<string, string>> {
  const annotations = (world.store.get('NodePool', pool)?.metadata.annotations ?? {}) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(annotations).flatMap(([key, value]) =>
      key.startsWith('noderotation.io/') ? [[key.slice('noderotation.io/'.length), value]] : [],
    ),
  );
}

export const namesOf = (world: World, kind: 'NodeClaim' | 'Node' | 'Pod'): readonly string[] => {
  const listed = world.store.list(kind);
  return listed.ok ? listed.value.items.map((object) => object.metadata.name) : [];
};
