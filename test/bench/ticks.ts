/**
 * Whole ticks of the shipped reconcile function, beside a bare HTTPS client that makes the same calls to the same server.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterShape } from './fixture-cluster.ts';
import type { Served, ServerWord } from './fixture-server.ts';
import type { FloorTask } from './floor-process.ts';
import { run, type Started, start } from './processes.ts';
import type { Repeated } from './repeated-ticks.ts';
import type { SnapshotTask } from './snapshot-process.ts';
import { type Spread, spreadOf } from './statistics.ts';
import type { TickResult, TickTask } from './tick-process.ts';

export interface Effort {
  /** Pairs of processes, product and floor in turn. */
  readonly rounds: number;
  /** Ticks in each of them, the first included. */
  readonly ticks: number;
  /** How many of them are not counted: until then code is still being compiled, on both sides. */
  readonly warmUp: number;
}

export interface Costs {
  /** CPU ms of the first tick in a process. */
  readonly first: Spread;
  /** CPU ms after the warm-up. */
  readonly cpu: Spread;
  /** Wall ms after the warm-up. */
  readonly wall: Spread;
  /** MB. */
  readonly peakRss: Spread;
}

export interface Measured {
  readonly shape: ClusterShape;
  readonly product: Costs;
  readonly floor: Costs;
  /** Of one tick. */
  readonly calls: Calls;
  /** Of one tick, as they went to the log. */
  readonly lines: readonly string[];
}

export interface Calls {
  readonly kubernetes: number;
  /** Beyond the light snapshot, Events aside. */
  readonly beyondSnapshot: number;
  readonly events: number;
  readonly kilobytes: number;
  /** DynamoDB and EventBridge, as they were sent. */
  readonly aws: readonly { readonly target: string; readonly body: string }[];
}

interface Fixture {
  readonly server: Started;
  readonly url: string;
  readonly authority: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ReconcileSetting {
  /** The bundle's file. */
  readonly bundle: string;
  readonly metricDetail?: string;
}

/** @design D15-05 */
export async function measureTicks(setting: ReconcileSetting, shape: ClusterShape, effort: Effort): Promise<Measured> {
  return await withFixture(shape, setting, async (fixture) => {
    const { served, lines } = await recordTick(setting, fixture);
    const pairs = await inTurn(effort, {
      product: () => ticksOf(setting, fixture, effort.ticks),
      floor: () => floorOf(fixture, served, effort.ticks),
    });
    return {
      shape,
      product: costsOf(pairs.product, effort),
      floor: costsOf(pairs.floor, effort),
      calls: callsOf(served),
      lines,
    };
  });
}

/** The look alone, beside its floor. @design D15-05 */
export async function measureSnapshot(
  setting: ReconcileSetting,
  shape: ClusterShape,
  effort: Effort,
): Promise<{ readonly product: Costs; readonly floor: Costs }> {
  return await withFixture(shape, setting, async (fixture) => {
    const { served } = await recordTick(setting, fixture);
    const lists = only(served, isSnapshot);
    const pairs = await inTurn(effort, {
      product: () =>
        run<Repeated>('snapshot-process.ts', { ...fixtureOf(fixture), ticks: effort.ticks } satisfies SnapshotTask),
      floor: () => floorOf(fixture, lists, effort.ticks),
    });
    return { product: costsOf(pairs.product, effort), floor: costsOf(pairs.floor, effort) };
  });
}

/** Several shapes in turn, so that the machine's other work falls on all alike. */
export async function compareTicks(
  setting: ReconcileSetting,
  shapes: readonly [ClusterShape, ClusterShape],
  effort: Effort,
): Promise<readonly [Costs, Costs]> {
  return await withFixture(shapes[0], setting, async (one) =>
    withFixture(shapes[1], setting, async (other) => {
      for (const fixture of [one, other]) await recordTick(setting, fixture);
      const pairs = await inTurn(effort, {
        product: () => ticksOf(setting, one, effort.ticks),
        floor: () => ticksOf(setting, other, effort.ticks),
      });
      return [costsOf(pairs.product, effort), costsOf(pairs.floor, effort)] as const;
    }),
  );
}

/** What one tick sends and logs, without measuring it. */
export const observeTick = (
  setting: ReconcileSetting,
  shape: ClusterShape,
): Promise<{ readonly calls: Calls; readonly lines: readonly string[] }> =>
  withFixture(shape, setting, async (fixture) => {
    const { served, lines } = await recordTick(setting, fixture);
    return { calls: callsOf(served), lines };
  });

async function withFixture<T>(
  shape: ClusterShape,
  { metricDetail = 'fleet' }: ReconcileSetting,
  use: (fixture: Fixture) => Promise<T>,
): Promise<T> {
  const server = start('fixture-server.ts', { args: [JSON.stringify(shape)], flags: ['--max-old-space-size=2048'] });
  try {
    const said = await server.next<ServerWord>();
    if (said.word !== 'listening') throw new Error(`the fixture server said ${said.word}`);
    const { url, authority } = said;
    const trusted = join(mkdtempSync(join(tmpdir(), 'node-rotation-bench-')), 'authority.pem');
    writeFileSync(trusted, authority);
    const env = {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'session',
      AWS_ENDPOINT_URL_DYNAMODB: url,
      AWS_ENDPOINT_URL_EVENTBRIDGE: url,
      NODE_EXTRA_CA_CERTS: trusted,
      TABLE_NAME: 'audit',
      EVENT_BUS_NAME: 'bus',
      METRIC_DETAIL: metricDetail,
    };
    return await use({ server, url, authority, env });
  } finally {
    await server.stop();
  }
}

const fixtureOf = ({ url, authority }: Fixture) => ({ url, authority });

const ticksOf = ({ bundle }: ReconcileSetting, fixture: Fixture, ticks: number): Promise<TickResult> =>
  run('tick-process.ts', { ...fixtureOf(fixture), bundle, ticks } satisfies TickTask, { env: fixture.env });

const floorOf = (fixture: Fixture, served: readonly Served[], ticks: number): Promise<Repeated> =>
  run('floor-process.ts', { ...fixtureOf(fixture), served, ticks } satisfies FloorTask);

/** The third tick: by then the cluster has the status and the warnings of one that has been ticked before. */
async function recordTick(
  { bundle }: ReconcileSetting,
  fixture: Fixture,
): Promise<{ readonly served: readonly Served[]; readonly lines: readonly string[] }> {
  const ticking = start('tick-process.ts', { env: fixture.env });
  try {
    ticking.child.send({ ...fixtureOf(fixture), bundle, ticks: 3, pauseBeforeLast: true } satisfies TickTask);
    await ticking.next();
    fixture.server.child.send({ order: 'record' });
    ticking.child.send('go');
    const { lines } = await ticking.next<TickResult>();
    fixture.server.child.send({ order: 'tell' });
    const said = await fixture.server.next<ServerWord>();
    return { served: said.word === 'served' ? said.served : [], lines };
  } finally {
    await ticking.stop();
  }
}

/** Who begins changes from round to round: a machine that grows busy or warm is neither one's fault. */
async function inTurn<A, B>(
  { rounds }: Effort,
  { product, floor }: { readonly product: () => Promise<A>; readonly floor: () => Promise<B> },
): Promise<{ readonly product: readonly A[]; readonly floor: readonly B[] }> {
  const [products, floors]: [A[], B[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const productFirst = round % 2 === 0;
    if (productFirst) products.push(await product());
    floors.push(await floor());
    if (!productFirst) products.push(await product());
  }
  return { product: products, floor: floors };
}

function costsOf(runs: readonly Repeated[], { warmUp }: Effort): Costs {
  const later = runs.flatMap((each) => each.later.slice(Math.max(0, warmUp - 1)));
  return {
    first: spreadOf(runs.map(({ first }) => first.cpu)),
    cpu: spreadOf(later.map(({ cpu }) => cpu)),
    wall: spreadOf(later.map(({ wall }) => wall)),
    peakRss: spreadOf(runs.map(({ peakRss }) => peakRss)),
  };
}

const isAws = ({ headers }: Served): boolean => headers['x-amz-target'] !== undefined;
const isEvent = ({ method, path }: Served): boolean => method === 'POST' && /\/events(\?|$)/.test(path);

const snapshotLists = /\/(nodepools|rotationpolicies|nodeclaims|nodes|namespaces\/[^/]+\/pods)\?/;
const isSnapshot = ({ method, path }: Served): boolean =>
  method === 'GET' && snapshotLists.test(path) && !path.includes('fieldSelector=');

export function callsOf(served: readonly Served[]): Calls {
  const kubernetes = served.filter((each) => !isAws(each));
  const events = kubernetes.filter(isEvent);
  return {
    kubernetes: kubernetes.length,
    beyondSnapshot: kubernetes.filter((each) => !isSnapshot(each) && !isEvent(each)).length,
    events: events.length,
    kilobytes: kubernetes.reduce((total, { bytes }) => total + bytes, 0) / 1_000,
    aws: served.filter(isAws).map(({ headers, body }) => ({ target: headers['x-amz-target'] ?? '', body })),
  };
}

/** Some of the calls, which wait for each other as before. */
function only(served: readonly Served[], wanted: (each: Served) => boolean): readonly Served[] {
  const places = new Map(
    [...served.keys()].filter((index) => wanted(served[index] as Served)).map((old, place) => [old, place]),
  );
  return served.filter(wanted).map((each) => ({
    ...each,
    after: each.after.flatMap((index) => places.get(index) ?? []),
  }));
}
