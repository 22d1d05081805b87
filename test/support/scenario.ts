/**
 * A story told on a simulated cluster: what people, Karpenter and the network do, and what became of it.
 *
 * Moves wait for a state rather than for a minute, so that the same story can be told again with the process dying
 * before any one of its actions and must end the same way.
 */
import { expect } from 'vitest';
import type { Cluster, Recorder, TickRecord } from '../../lib/controller/ports.ts';
import { runTick } from '../../lib/controller/run-tick.ts';
import { add, formatInstant, minutes, seconds } from '../../lib/domain/time.ts';
import type { FaultPlan } from '../../lib/simulator/faults.ts';
import { SimulatedCrash } from '../../lib/simulator/faults.ts';
import type { Fleet } from '../../lib/simulator/fleet.ts';
import type { KubeObject, Manifest } from '../../lib/simulator/kube-object.ts';
import { SimulatedCluster } from '../../lib/simulator/simulated-cluster.ts';
import type { World, WorldOptions } from '../../lib/simulator/world.ts';
import { decoders } from './decoders.ts';
import { aWorld, leftovers, MemoryTable, settings, stateOf, unhurried } from './story.ts';

/** What moves can turn: the world itself, the table, and how the next ticks are made. */
export interface Stage {
  readonly world: World;
  readonly table: MemoryTable;
  faults?: FaultPlan;
  retired?: boolean;
  /** Ticks that run side by side each minute; 1 unless a move says otherwise, 0 skips ticks. */
  ticksAtOnce: number;
  /** Every step taken so far, such as `17:02 api handOver`. */
  readonly steps: string[];
  /** Names of the NodeClaims that came to be during the story, in order. */
  readonly claimsMade: string[];
}

export interface Move {
  /** Taken after the first tick at which this holds; moves are taken in order. */
  readonly when: (stage: Stage) => boolean;
  readonly make: (stage: Stage) => void;
  /** Seconds after that tick. */
  readonly after?: number;
}

export interface Scenario {
  readonly fleet?: Fleet;
  readonly options?: Partial<WorldOptions>;
  /** Before the first tick, at the opening of the window. */
  readonly arrange?: (stage: Stage) => void;
  readonly moves?: readonly Move[];
  /** What stands between the controller and the cluster: a cluster that leaves something out, for counter-examples. */
  readonly through?: (cluster: Cluster, stage: Stage) => Cluster;
  /** Ticks, one a minute from the opening of the window. */
  readonly minutes: number;
}

export interface Told extends Stage {
  /** Actions that reached the cluster, over all ticks. */
  readonly actions: number;
  readonly ticks: readonly TickRecord[];
  /** Every move was made; a story in which one never came is not the story. */
  readonly movesLeft: number;
}

class Counted implements Cluster {
  readonly inner: Cluster;
  readonly count: { actions: number };
  readonly diesBefore: number;
  /** A dead process does nothing for its other pools either. */
  dead = false;
  constructor(inner: Cluster, count: { actions: number }, diesBefore: number) {
    this.inner = inner;
    this.count = count;
    this.diesBefore = diesBefore;
  }
  observe: Cluster['observe'] = () => this.inner.observe();
  inspect: Cluster['inspect'] = (need) => this.inner.inspect(need);
  reread: Cluster['reread'] = (pool, node) => this.inner.reread(pool, node);
  apply: Cluster['apply'] = async (action) => {
    if (this.dead) throw new SimulatedCrash('the process is dead');
    this.count.actions += 1;
    this.dead = this.count.actions === this.diesBefore;
    if (this.dead) throw new SimulatedCrash(`the process died before ${action.kind}`);
    return this.inner.apply(action);
  };
}

/** @param diesBefore the number of the action before which the process dies, once; it starts again in the same minute */
export async function tell(scenario: Scenario, diesBefore = 0): Promise<Told> {
  const world = aWorld(scenario.fleet, scenario.options);
  const stage: Stage = { world, table: new MemoryTable(), ticksAtOnce: 1, steps: [], claimsMade: [] };
  world.store.onChange(({ type, object }) => {
    if (type === 'added' && object.kind === 'NodeClaim') stage.claimsMade.push(object.metadata.name);
  });
  scenario.arrange?.(stage);
  const count = { actions: 0 };
  const moves = [...(scenario.moves ?? [])];
  for (let minute = 0; minute < scenario.minutes; minute += 1) {
    const next = add(world.now, minutes(1));
    await Promise.all(Array.from({ length: stage.ticksAtOnce }, () => oneTick(scenario, stage, count, diesBefore)));
    while (moves[0]?.when(stage)) {
      const move = moves.shift() as Move;
      if (move.after) world.advance(add(world.now, seconds(move.after)));
      move.make(stage);
    }
    world.advance(next);
  }
  return { ...stage, actions: count.actions, ticks: stage.table.ticks, movesLeft: moves.length };
}

async function oneTick(
  scenario: Scenario,
  stage: Stage,
  count: { actions: number },
  diesBefore: number,
): Promise<void> {
  const { world, table } = stage;
  const run = () => {
    const cluster = new SimulatedCluster({
      world,
      decoders,
      settings,
      ...(stage.faults ? { faults: stage.faults } : {}),
      ...(stage.retired ? { retired: true } : {}),
    });
    const inner = scenario.through?.(cluster, stage) ?? cluster;
    const recorder: Recorder = table;
    return runTick({ cluster: new Counted(inner, count, diesBefore), recorder, budget: unhurried });
  };
  try {
    note(stage, await run());
  } catch (error) {
    if (!(error instanceof SimulatedCrash)) throw error;
    note(stage, await run());
  }
}

function note(stage: Stage, tick: TickRecord): void {
  const clock = formatInstant(stage.world.now).slice(11, 16);
  if (tick.outcome !== 'Ok') stage.steps.push(`${clock} ${tick.outcome}`);
  for (const { decision, stopped } of tick.pools) {
    if (decision.step === 'blocked' || decision.step === 'nothing') continue;
    stage.steps.push(`${clock} ${decision.nodePool} ${decision.step}${stopped ? ` (${stopped.split(':')[0]})` : ''}`);
  }
}

/** Steps of one pool without their times, repetitions folded: `start, awaitSurge, handOver, awaitDrain, finish`. */
export function course(told: Pick<Told, 'steps'>, pool = 'api'): readonly string[] {
  const taken = told.steps
    .filter((line) => line.split(' ')[1] === pool)
    .map((line) => line.split(' ').slice(2).join(' '));
  return taken.filter((step, index) => step !== taken[index - 1]);
}

/** Kubernetes Events of ours in order: `Warning RotationFailed NodePool/api`. */
export function eventsOf(world: World): readonly string[] {
  const listed = world.store.list('Event');
  if (!listed.ok) return [];
  // The API lists by name, and Events have random ones.
  const written = listed.value.items.toSorted(
    (a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion),
  );
  return written.flatMap((object) => {
    const event = object as unknown as {
      type: string;
      reason: string;
      regarding: { kind: string; name: string };
      reportingController?: string;
    };
    return event.reportingController === 'noderotation.io/controller'
      ? [`${event.type} ${event.reason} ${event.regarding.kind}/${event.regarding.name}`]
      : [];
  });
}

/** What became of a story as one value: the steps of a pool, the rows in the table, our Events, and what is left of ours. */
export const became = (told: Told, pool = 'api') => ({
  course: course(told, pool),
  rows: told.table.trail().map((row) => row.split(' ')[0]),
  events: eventsOf(told.world),
  leftovers: leftovers(told.world),
});

/** What people and Karpenter see of a node: its cordon and its protection. */
export function nodeNow(
  { world }: Pick<Stage, 'world'>,
  name: string,
): { cordoned: boolean; doNotDisrupt: string | undefined } | 'gone' {
  const node = world.store.get('Node', name) as
    | { metadata: { annotations?: Record<string, string> }; spec: { unschedulable?: boolean } }
    | undefined;
  return node
    ? {
        cordoned: node.spec.unschedulable ?? false,
        doNotDisrupt: node.metadata.annotations?.['karpenter.sh/do-not-disrupt'],
      }
    : 'gone';
}

/** A NodeClaim's annotations of ours, without the prefix. */
export const claimState = ({ world }: Pick<Stage, 'world'>, name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(world.store.get('NodeClaim', name)?.metadata.annotations ?? {}).flatMap(([key, value]) =>
      key.startsWith('noderotation.io/') ? [[key.slice('noderotation.io/'.length), value]] : [],
    ),
  );

/** NodeClaims of a pool that are not on their way out, the oldest first, and the node of each. */
export const claimsOf = ({ world }: Pick<Stage, 'world'>, pool = 'api'): readonly { claim: string; node: string }[] =>
  world.store
    .all<KubeObject & { status: { nodeName?: string } }>('NodeClaim')
    .filter(
      ({ metadata }) => metadata.labels?.['karpenter.sh/nodepool'] === pool && metadata.deletionTimestamp === undefined,
    )
    .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1))
    .map(({ metadata, status }) => ({ claim: metadata.name, node: status.nodeName ?? '' }));

/** What a rotation may leave on pools for ever, without its times. */
const endState = (told: Told): unknown => ({
  leftovers: leftovers(told.world),
  ended: told.world.store
    .all('NodePool')
    .map(({ metadata }) => stateOf(told.world, metadata.name)['last-ended']?.replace(/@.*=/, '=')),
  nodeClaims: told.world.store.all('NodePool').map(({ metadata }) => claimsOf(told, metadata.name).length),
});

/** Pool by pool: a crash may put one pool a minute behind another. */
const trails = (told: Told): unknown =>
  told.world.store.all('NodePool').map(({ metadata }) => told.table.trail(metadata.name));

/**
 * Tells the story once for every action, the process dying before it, and compares how each ends with the story as it
 * was meant: same trail in the table, same ends on the pools, nothing left behind.
 *
 * @param every for long stories: 3 stops before the first action, the fourth, the seventh …
 */
export async function expectSameEndAfterEveryCrash(scenario: Scenario, every = 1): Promise<void> {
  const meant = await tell(scenario);
  expect(meant.movesLeft).toBe(0);
  for (let action = 1; action <= meant.actions; action += every) {
    const crashed = await tell(scenario, action);
    expect({ action, movesLeft: crashed.movesLeft, trail: trails(crashed), end: endState(crashed) }).toEqual({
      action,
      movesLeft: 0,
      trail: trails(meant),
      end: endState(meant),
    });
    expect({ action, saidTwice: surplus(eventsOf(crashed.world), eventsOf(meant.world)) }).toEqual({
      action,
      saidTwice: [],
    });
  }
}

/** Lines about a rotation that one telling has more often than the other: what landed is said at most once. */
function surplus(lines: readonly string[], meant: readonly string[]): readonly string[] {
  const left = [...meant];
  return lines.filter((line) => {
    const index = left.indexOf(line);
    if (index >= 0) left.splice(index, 1);
    return index < 0 && line.includes(' Rotation');
  });
}

/** A merge patch by an operator. */
export function annotates(
  stage: Stage,
  kind: 'NodePool' | 'NodeClaim' | 'Node' | 'RotationPolicy',
  name: string,
  annotations: Readonly<Record<string, string | null>>,
): void {
  const patched = stage.world.store.patch({ kind, name }, { metadata: { annotations } });
  if (!patched.ok) throw new Error(`${kind} ${name}: ${patched.status.message}`);
}

/** The claim and node that the pool's anchor is about, and the present surge host's. */
export function inFlight(stage: Stage, pool = 'api'): { claim: string; node: string; surgeClaim: string | undefined } {
  const state = stateOf(stage.world, pool);
  const claim = state['active-rotation'] ?? '';
  const object = stage.world.store.get('NodeClaim', claim) as { status?: { nodeName?: string } } | undefined;
  return { claim, node: object?.status?.nodeName ?? '', surgeClaim: state['surge-claim'] };
}

/**
 * Moments of a rotation, read off the cluster: they hold whether or not a process died on the way.
 */
export const when = {
  /** Anchored, the candidate marked, the placeholder there. */
  waiting:
    (pool = 'api') =>
    (stage: Stage): boolean => {
      const { claim, node } = inFlight(stage, pool);
      const marked = (stage.world.store.get('Node', node)?.metadata.annotations ?? {}) as Record<string, string>;
      const placeholder = stage.world.store.get('Pod', `noderotation-surge-${claim}`, settings.namespace);
      return (
        claim !== '' &&
        stateOf(stage.world, pool)['active-rotation-state'] === undefined &&
        marked['noderotation.io/surge-for'] === claim &&
        placeholder !== undefined
      );
    },
  /** The surge claim has been seen and persisted, the hand-over not begun. */
  hostSeen:
    (pool = 'api') =>
    (stage: Stage): boolean => {
      const state = stateOf(stage.world, pool);
      return state['surge-claim'] !== undefined && state['active-rotation-state'] === undefined;
    },
  /** The old claim is being deleted under an anchor that says so. */
  draining:
    (pool = 'api') =>
    (stage: Stage): boolean =>
      stateOf(stage.world, pool)['active-rotation-state'] === 'draining' &&
      stage.world.store.get('NodeClaim', inFlight(stage, pool).claim)?.metadata.deletionTimestamp !== undefined,
  /** No rotation is anchored, and at least one has ended. */
  over:
    (pool = 'api') =>
    (stage: Stage): boolean => {
      const state = stateOf(stage.world, pool);
      return state['active-rotation'] === undefined && state['last-ended'] !== undefined;
    },
};

/** The policy with another surge section. */
export function withSurge(policy: Manifest, surge: Readonly<Record<string, unknown>>): Manifest {
  const spec = policy['spec'] as Record<string, unknown>;
  return { ...policy, spec: { ...spec, surge: { ...(spec['surge'] as object), ...surge } } };
}
