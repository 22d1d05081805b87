/**
 * The parts of a run, in order, and what they add up to: sections to read, targets to judge, figures for the cost.
 */

import type { ArithmeticTask } from './arithmetic-process.ts';
import { bundleOfApiClasses, measureLoads, type Synthesised, synthesise } from './bundles.ts';
import type { CostFigures } from './cost.ts';
import { type ClusterShape, poolCount } from './fixture-cluster.ts';
import { tableInMarkdown } from './markdown.ts';
import { run } from './processes.ts';
import type { Repeated } from './repeated-ticks.ts';
import type { Simulated } from './simulator-process.ts';
import { rounded, spreadInWords, spreadOf } from './statistics.ts';
import type { Target } from './targets.ts';
import { metricFigures, tickFigures } from './tick-figures.ts';
import {
  type Costs,
  compareTicks,
  type Effort,
  type Measured,
  measureSnapshot,
  measureTicks,
  observeTick,
} from './ticks.ts';

export const parts = ['bundle', 'ticks', 'decide', 'simulator'] as const;
export type Part = (typeof parts)[number];
export const isPart = (name: string): name is Part => parts.some((part) => part === name);

export interface Results {
  readonly sections: readonly string[];
  readonly targets: readonly Target[];
  /** Absent where ticks were not measured. */
  readonly figures?: CostFigures;
}

interface Outcome {
  readonly section: string;
  readonly targets: readonly Target[];
  readonly figures?: CostFigures;
}

type Run = (quick: boolean, made: Synthesised) => Promise<Outcome>;

export async function runParts(wanted: readonly Part[], quick: boolean, say: (text: string) => void): Promise<Results> {
  const made = synthesise();
  const outcomes: Outcome[] = [];
  for (const part of parts.filter((each) => wanted.includes(each))) {
    const outcome = await runs[part](quick, made);
    say(`\n${outcome.section}`);
    outcomes.push(outcome);
  }
  const figures = outcomes.map((outcome) => outcome.figures).find((each) => each !== undefined);
  return {
    sections: outcomes.map(({ section }) => section),
    targets: outcomes.flatMap(({ targets }) => targets),
    ...(figures === undefined ? {} : { figures }),
  };
}

const megabyte = 1_000_000;

/** @design D15-05 */
async function bundle(quick: boolean, { bundles }: Synthesised): Promise<Outcome> {
  const apiClasses = bundleOfApiClasses();
  const { reconcile, dispatch, widget } = bundles;
  const files = { reconcile: reconcile.file, dispatch: dispatch.file, widget: widget.file, apiClasses };
  const loads = await measureLoads(files, quick ? 3 : 15);
  const row = (name: string, load: (typeof loads)[keyof typeof loads], made?: typeof reconcile): string[] => [
    name,
    made === undefined ? '' : String(Math.round(made.size / 1_000)),
    made === undefined ? '' : String(Math.round(made.gzipped / 1_000)),
    spreadInWords(load.cpu),
    spreadInWords(load.wall),
    rounded(load.rss.median),
  ];
  const table = tableInMarkdown({
    header: ['bundle', 'KB', 'gz KB', 'load, CPU ms', 'load, wall ms', 'RSS MB'],
    rows: [
      row('reconcile', loads.reconcile, reconcile),
      row('dispatch', loads.dispatch, dispatch),
      row('widget', loads.widget, widget),
      row("client-node's own API classes alone", loads.apiClasses),
    ],
  });
  return {
    section: `### Bundles\n\nAs they ship; each load in a fresh process.\n\n${table}`,
    targets: [
      atMost('size of the reconcile bundle', reconcile.size / megabyte, 2.5, 'MB'),
      atMost('size of the dispatch bundle', dispatch.size / megabyte, 1, 'MB'),
      atMost(
        "cold load of reconcile against client-node's own API classes",
        loads.reconcile.cpu.median / loads.apiClasses.cpu.median,
        0.9,
        '×',
      ),
    ],
  };
}

const sizes = [100, 1_000, 5_000] as const;

/** More ticks where they are short: a function that is ticked once a minute has been warm for hours. */
const effortFor = (nodes: number, quick: boolean): Effort => {
  const ticks = nodes <= 100 ? 480 : nodes <= 1_000 ? 40 : 12;
  const warmUp = nodes <= 100 ? 320 : nodes <= 1_000 ? 12 : 3;
  return quick
    ? { rounds: 1, ticks: Math.ceil(ticks / 4), warmUp: Math.ceil(warmUp / 4) }
    : { rounds: 3, ticks, warmUp };
};

/** Shorter turns and an even number of them, so that each begins as often as the other. */
const evenly = ({ rounds, ticks, warmUp }: Effort): Effort => ({
  rounds: 6 * rounds,
  ticks: Math.max(12, ticks / 2),
  warmUp,
});

const shapeOf = (nodes: number, moment: ClusterShape['moment'], podsPerNode = 30): ClusterShape => ({
  nodes,
  moment,
  podsPerNode,
});

/** @design D15-03, D15-05 */
async function ticks(quick: boolean, made: Synthesised): Promise<Outcome> {
  const setting = { bundle: made.bundles.reconcile.file };
  const measured: Measured[] = [];
  for (const nodes of sizes) {
    for (const moment of ['idle', 'start', 'handOver'] as const) {
      measured.push(await measureTicks(setting, shapeOf(nodes, moment), effortFor(nodes, quick)));
    }
  }
  const at500 = await observeTick(setting, shapeOf(500, 'idle'));
  const snapshot = await measureSnapshot(setting, shapeOf(5_000, 'idle'), effortFor(5_000, quick));
  const [withPods, without] = await compareTicks(
    setting,
    [shapeOf(1_000, 'idle', 30), shapeOf(1_000, 'idle', 0)],
    evenly(effortFor(1_000, quick)),
  );
  const found = (nodes: number, moment: ClusterShape['moment']): Measured =>
    measured.find(({ shape }) => shape.nodes === nodes && shape.moment === moment) as Measured;
  const snapshotRow = rowOf('5,000 nodes, snapshot alone', snapshot);
  return {
    section: [
      '### Ticks',
      '',
      'The shipped reconcile function beside a bare `node:https` client that makes the same calls. CPU and wall in ms. 30 Pods on each node.',
      '',
      tableInMarkdown({
        header: [
          'tick',
          'calls',
          'KB',
          'first CPU',
          'CPU',
          'floor CPU',
          'ratio',
          'wall',
          'floor wall',
          'RSS MB',
          'floor RSS',
        ],
        rows: [...measured.map(tickRow), snapshotRow],
      }),
      '',
      `At 1,000 nodes an idle tick takes ${spreadInWords(withPods.cpu)} ms of CPU with 30 Pods on each node and ${spreadInWords(without.cpu)} ms with none.`,
    ].join('\n'),
    targets: tickTargets(found, at500.calls.kubernetes, snapshot, withPods.cpu.median / without.cpu.median),
    figures: await figuresOf(made, found),
  };
}

const momentWords = { idle: 'idle', start: 'select and start', handOver: 'hand over' } as const;

const tickRow = ({ shape, calls, ...costs }: Measured): string[] =>
  rowOf(`${shape.nodes.toLocaleString('en-US')} nodes, ${momentWords[shape.moment]}`, costs, calls);

const rowOf = (
  name: string,
  { product, floor }: { readonly product: Costs; readonly floor: Costs },
  calls?: Measured['calls'],
): string[] => [
  name,
  calls === undefined ? '' : String(calls.kubernetes),
  calls === undefined ? '' : String(Math.round(calls.kilobytes)),
  rounded(product.first.median),
  spreadInWords(product.cpu),
  spreadInWords(floor.cpu),
  rounded(ratioOf({ product, floor })),
  rounded(product.wall.median),
  rounded(floor.wall.median),
  rounded(product.peakRss.median),
  rounded(floor.peakRss.median),
];

const ratioOf = ({ product, floor }: { readonly product: Costs; readonly floor: Costs }): number =>
  product.cpu.median / floor.cpu.median;

function tickTargets(
  found: (nodes: number, moment: ClusterShape['moment']) => Measured,
  callsAt500: number,
  snapshot: { readonly product: Costs; readonly floor: Costs },
  pods: number,
): readonly Target[] {
  const named = (nodes: number): string => nodes.toLocaleString('en-US');
  const memory = Math.max(
    ...(['idle', 'start', 'handOver'] as const).map((moment) => found(5_000, moment).product.peakRss.median),
  );
  return [
    ...sizes.map((nodes) =>
      atMost(`idle tick at ${named(nodes)} nodes, CPU`, ratioOf(found(nodes, 'idle')), 2, '× floor'),
    ),
    ...[100, 500].map(
      (nodes): Target => ({
        what: `Kubernetes calls of an idle tick at ${nodes} nodes`,
        measured: nodes === 500 ? callsAt500 : found(nodes, 'idle').calls.kubernetes,
        limit: 5,
        sense: 'exactly',
        unit: '',
      }),
    ),
    ...sizes.map((nodes) =>
      atMost(`busy step at ${named(nodes)} nodes, CPU`, ratioOf(found(nodes, 'handOver')), 1.5, '× floor'),
    ),
    atMost('calls of a whole start beyond the snapshot', found(1_000, 'start').calls.beyondSnapshot, 12, ''),
    atMost('calls of a hand-over beyond the snapshot', found(1_000, 'handOver').calls.beyondSnapshot, 11, ''),
    atMost('snapshot at 5,000 nodes, CPU', ratioOf(snapshot), 1.5, '× floor'),
    {
      what: 'idle tick with 30 Pods on each node against none, CPU',
      measured: pods,
      limit: 1,
      sense: 'within',
      tolerance: 0.1,
      unit: '×',
    },
    atMost('peak RSS at 5,000 nodes and 150,000 Pods', memory, 230, 'MB'),
  ];
}

async function figuresOf(
  { bundles, standing }: Synthesised,
  found: (nodes: number, moment: ClusterShape['moment']) => Measured,
): Promise<CostFigures> {
  const nodes = 100;
  const figures = (moment: ClusterShape['moment']) => {
    const { calls, lines, product } = found(nodes, moment);
    return tickFigures(calls, lines, product.cpu.median);
  };
  const metricsAt = async (metricDetail: string) => {
    const setting = { bundle: bundles.reconcile.file, metricDetail };
    const { lines } = await observeTick(setting, shapeOf(nodes, 'handOver'));
    return metricFigures(lines);
  };
  return {
    ...standing,
    nodes,
    nodePools: poolCount,
    idle: figures('idle'),
    start: figures('start'),
    handOver: figures('handOver'),
    metrics: {
      fleet: await metricsAt('fleet'),
      cluster: await metricsAt('cluster'),
      nodePool: await metricsAt('nodePool'),
    },
  };
}

async function decide(quick: boolean): Promise<Outcome> {
  const times = quick ? 20 : 100;
  const tasks: readonly (readonly [string, ArithmeticTask])[] = [
    ['20 windows in four zones: open, next, periods', { what: 'windows', times }],
    ...sizes.map(
      (nodes) => [`decide() at ${nodes.toLocaleString('en-US')} nodes`, { what: 'decide', nodes, times }] as const,
    ),
  ];
  const rows: string[][] = [];
  for (const [name, asked] of tasks) {
    const { first, later } = await run<Repeated>('arithmetic-process.ts', asked);
    rows.push([name, rounded(first.cpu), spreadInWords(spreadOf(later.map(({ cpu }) => cpu)))]);
  }
  const table = tableInMarkdown({ header: ['what', 'first CPU ms', 'later CPU ms'], rows });
  return { section: `### Decisions and calendars\n\n${table}`, targets: [] };
}

/**
 * A simulation that is worth its while is hours long: what the first fortnights take to get warm is not its speed. V8 needs
 * about twenty of them until nothing of it gets faster any more.
 */
const warmUpFortnights = 24;

async function simulator(quick: boolean): Promise<Outcome> {
  const simulated = await run<Simulated>('simulator-process.ts', { times: warmUpFortnights + (quick ? 3 : 9) });
  const later = simulated.runs.slice(warmUpFortnights);
  const speed = (ms: number): number => simulated.days / (ms / 60_000);
  const cpu = spreadOf(later.map((each) => speed(each.cpu)));
  const table = tableInMarkdown({
    header: ['nodes', 'days', 'ticks', 'rotations', 'cluster-days a minute, CPU', 'cluster-days a minute, wall'],
    rows: [
      [
        String(simulated.nodes),
        String(simulated.days),
        String(simulated.ticks),
        String(simulated.rotations),
        spreadInWords(cpu),
        spreadInWords(spreadOf(later.map((each) => speed(each.wall)))),
      ],
    ],
  });
  return {
    section: `### Simulator\n\n${table}`,
    targets: [
      {
        what: 'simulator, a cluster of 12 nodes',
        measured: cpu.median,
        limit: 1_000,
        sense: 'atLeast',
        unit: 'cluster-days a minute',
      },
    ],
  };
}

const runs: Readonly<Record<Part, Run>> = { bundle, ticks, decide, simulator };

const atMost = (what: string, measured: number, limit: number, unit: string): Target => ({
  what,
  measured,
  limit,
  sense: 'atMost',
  unit,
});
