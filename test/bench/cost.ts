/**
 * What a month costs, from what ticks really do. What a bench cannot measure is an assumption with a name of its own.
 *
 * The time that a function waits for the network is such an assumption, and most of the bill: here everything is near.
 */
import { prices } from './prices.ts';

/** One tick as it was measured. */
export interface TickFigures {
  /** Of a whole processor. */
  readonly cpuMs: number;
  /** Kubernetes and AWS. */
  readonly calls: number;
  readonly logBytes: number;
  readonly logLines: number;
  /** DynamoDB. */
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly events: number;
}

/** By where they are emitted: once, for each cluster, for each NodePool of each cluster. */
export interface MetricFigures {
  readonly fleet: number;
  readonly cluster: number;
  readonly nodePool: number;
}

export interface CostFigures {
  /** MB. */
  readonly memory: number;
  readonly alarms: number;
  readonly compositeAlarms: number;
  readonly dashboards: number;
  readonly nodes: number;
  readonly nodePools: number;
  readonly idle: TickFigures;
  readonly start: TickFigures;
  readonly handOver: TickFigures;
  readonly metrics: Readonly<Record<'fleet' | 'cluster' | 'nodePool', MetricFigures>>;
}

export const assumptions = {
  /** From Lambda to an API and back, for each call as if none were made beside another. */
  roundTripMs: 20,
  /** A Lambda function has a whole processor at this memory. */
  memoryOfOneProcessor: 1_769,
  /** Between the start of a rotation and its end. */
  ticksPerRotation: 15,
  /** How old a node gets: expireAfter 14 days less the lead time of two windows. */
  daysPerRotation: 10,
  /** Rows beside those of start and hand-over: the one at the end. */
  lastRowWrites: 3,
  /** CloudWatch counts so many bytes for each line besides its text. */
  bytesPerLine: 26,
  /** Lambda asks the queue so often a minute whether there is anything. */
  emptyReceivesPerMinute: 15,
  /** Dispatch, at 512 MB: one query, then a batch for each ten clusters. */
  dispatchMs: 250,
  dispatchMsPerBatch: 20,
  /** Bytes of a cluster's rows in the registry, read every minute. */
  registryBytes: 3_000,
  dispatchLogBytes: 1_500,
  /** What dispatch measures of the fleet: clusters, those that are stale, the longest lag. */
  dispatchMetrics: 3,
} as const;

const minutesPerMonth = 43_800;
const daysPerMonth = minutesPerMonth / (24 * 60);
const million = 1_000_000;
const gigabyte = 1_000_000_000;

export interface Cost {
  readonly ticks: number;
  readonly queue: number;
  readonly table: number;
  readonly logs: number;
  readonly metrics: number;
  readonly alarms: number;
  readonly dispatch: number;
  readonly total: number;
}

/** Seconds that one tick is billed for. */
export const billedSeconds = ({ cpuMs, calls }: TickFigures, memory: number): number =>
  (cpuMs * Math.max(1, assumptions.memoryOfOneProcessor / memory) + calls * assumptions.roundTripMs) / 1_000;

const functionCost = (seconds: number, times: number, memory: number): number =>
  seconds * (memory / 1_024) * prices.lambdaGigabyteSecond + (times / million) * prices.lambdaMillionRequests;

const logCost = (bytes: number): number => (bytes / gigabyte) * prices.logGigabyte;
const loggedBytes = ({ logBytes, logLines }: TickFigures): number => logBytes + logLines * assumptions.bytesPerLine;

/** Sum of one figure over the ticks of one cluster's month. */
function overMonth(figures: CostFigures, of: (tick: TickFigures) => number): number {
  const rotations = rotationsPerMonth(figures);
  const waiting = rotations * (assumptions.ticksPerRotation - 2);
  const idle = Math.max(0, minutesPerMonth - rotations * assumptions.ticksPerRotation);
  // A tick that waits does no more than one that hands over.
  return (
    idle * of(figures.idle) + rotations * (of(figures.start) + of(figures.handOver)) + waiting * of(quiet(figures))
  );
}

/** A tick within a rotation: it reads as a hand-over does, and keeps no row. */
const quiet = ({ idle, handOver }: CostFigures): TickFigures => ({
  ...handOver,
  writeUnits: idle.writeUnits,
  readUnits: idle.readUnits,
  events: 0,
});

export const rotationsPerMonth = ({ nodes }: Pick<CostFigures, 'nodes'>): number =>
  (nodes * daysPerMonth) / assumptions.daysPerRotation;

export const metricsCost = (count: number): number =>
  Math.min(count, 10_000) * prices.metricMonth + Math.max(0, count - 10_000) * prices.manyMetricsMonth;

/** USD for a month of so many clusters like the measured one. */
export function monthlyCost(figures: CostFigures, clusters: number, detail: keyof CostFigures['metrics']): Cost {
  const { memory } = figures;
  const batches = Math.ceil(clusters / 10);
  const ticks =
    clusters *
    functionCost(
      overMonth(figures, (tick) => billedSeconds(tick, memory)),
      minutesPerMonth,
      memory,
    );
  // Each message is received and deleted; ten are sent together.
  const requests = minutesPerMonth * (clusters * 2 + batches + assumptions.emptyReceivesPerMinute);
  const queue = (requests / million) * prices.queueMillionRequests;
  const rows = rotationsPerMonth(figures) * assumptions.lastRowWrites;
  const writes = clusters * (overMonth(figures, ({ writeUnits }) => writeUnits) + rows);
  // Half a unit for each 4 KB: the registry is read without waiting for the latest.
  const registryReads = minutesPerMonth * Math.ceil((clusters * assumptions.registryBytes) / 4_096) * 0.5;
  const reads = clusters * overMonth(figures, ({ readUnits }) => readUnits) + registryReads;
  const table = (writes / million) * prices.tableMillionWrites + (reads / million) * prices.tableMillionReads;
  const logs =
    clusters * logCost(overMonth(figures, loggedBytes)) + logCost(minutesPerMonth * assumptions.dispatchLogBytes);
  const { fleet, cluster, nodePool } = figures.metrics[detail];
  const metrics = metricsCost(
    fleet + assumptions.dispatchMetrics + clusters * cluster + clusters * figures.nodePools * nodePool,
  );
  const alarms =
    figures.alarms * prices.alarmMonth +
    figures.compositeAlarms * prices.compositeAlarmMonth +
    figures.dashboards * prices.dashboardMonth;
  const seconds = (minutesPerMonth * (assumptions.dispatchMs + batches * assumptions.dispatchMsPerBatch)) / 1_000;
  const events = clusters * overMonth(figures, (tick) => tick.events);
  const dispatch =
    functionCost(seconds, minutesPerMonth, memory) +
    (minutesPerMonth / million) * prices.scheduleMillion +
    (events / million) * prices.eventMillion;
  const parts = { ticks, queue, table, logs, metrics, alarms, dispatch };
  return { ...parts, total: Object.values(parts).reduce((sum, part) => sum + part, 0) };
}
