/**
 * Metrics of ticks, written as log lines in the Embedded Metric Format.
 *
 * At the fleet's level of detail no dimension but the service is used: a dimension per cluster multiplies the bill.
 */
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { PoolRecord, TickRecord } from '../../controller/ports.ts';
import type { RotationStep, UnrecordedStep } from '../../domain/rotation/unrecorded.ts';
import { type Duration, second } from '../../domain/time.ts';
import type { PoolGauges } from '../../engine/decision.ts';
import type { FleetHealth } from './fleet.ts';
import type { RunAnswer } from './manual-run.ts';
import { type MetricDetail, type MetricName, metricNames, metricNamespace, metricService } from './metric-names.ts';

type Dimensions = Readonly<Record<string, string>>;

type Unit = (typeof MetricUnit)[keyof typeof MetricUnit];

interface Measured {
  readonly name: MetricName;
  readonly unit: Unit;
  readonly value: number;
}

const { Count, Seconds, NoUnit } = MetricUnit;

const outcomes: Partial<Record<RotationStep, string>> = {
  completed: 'success',
  failed: 'failure',
  expired: 'expired',
  aborted: 'aborted',
};

export class TickMetrics {
  readonly #detail: MetricDetail;
  readonly #metrics: Metrics;

  constructor(
    detail: MetricDetail = 'fleet',
    metrics = new Metrics({ namespace: metricNamespace, serviceName: metricService }),
  ) {
    this.#detail = detail;
    this.#metrics = metrics;
  }

  /** @design D11-01, D11-07 */
  tick(cluster: string, record: TickRecord, took: Duration): void {
    this.#gauge(metricNames.tickFailed, Count, record.outcome === 'Ok' ? 0 : 1);
    this.#gauge(metricNames.tickSeconds, Seconds, took / second);
    const lost = record.unreadable.length + countOf(record.pools, 'AuditLost');
    if (lost > 0) this.#gauge(metricNames.auditLost, Count, lost);
    if (record.outcome === 'Ok') {
      for (const { name, unit, value } of gaugesOf(record.pools)) this.#gauge(name, unit, value);
      for (const pool of record.pools) this.#transition(cluster, pool);
    }
    this.#publish(cluster);
    if (this.#detail !== 'fleet') this.#finer(cluster, record, took);
  }

  #finer(cluster: string, record: TickRecord, took: Duration): void {
    const { outcome, pools } = record;
    this.#single({ cluster, outcome }, metricNames.tickFailed, Count, outcome === 'Ok' ? 0 : 1);
    const length: Measured = { name: metricNames.tickSeconds, unit: Seconds, value: took / second };
    const byCluster = outcome === 'Ok' && this.#detail === 'cluster';
    publish({ cluster }, [length, ...(byCluster ? gaugesOf(pools) : [])]);
    if (outcome !== 'Ok' || byCluster) return;
    for (const pool of pools) {
      const { nodePool } = pool.decision;
      if (nodePool !== '') publish({ cluster, nodePool }, [...gaugesOf([pool]), ...scheduleOf(pool)]);
    }
  }

  /** Audit rows that were given up. @design D10-04 */
  lost(rows: number): void {
    this.#single({}, metricNames.auditLost, Count, rows);
  }

  /** A tick that came too late to be of use. @design D1-02 */
  stale(): void {
    this.#single({}, metricNames.staleTicks, Count, 1);
  }

  /** What dispatch knows of the whole fleet. @design D11-01, D11-02 */
  dispatched(sent: number, health: FleetHealth | undefined): void {
    this.#single({}, metricNames.clusters, Count, health?.clusters ?? sent);
    if (health === undefined) return;
    this.#single({}, metricNames.clustersStale, Count, health.stale);
    this.#single({}, metricNames.clusterLag, Seconds, health.longestLag / second);
  }

  /** A manual run was answered. @design D12-03 */
  run(outcome: RunAnswer['outcome']): void {
    this.#single({ outcome }, metricNames.manualRuns, Count, 1);
  }

  #transition(cluster: string, { decision, landed }: PoolRecord): void {
    const entry = decision.transition;
    if (!landed || entry === undefined) return;
    for (const where of this.#levels(cluster, decision.nodePool)) this.#step(where, entry);
  }

  /** The fleet's level always: alarms watch it. */
  #levels(cluster: string, nodePool: string): readonly Dimensions[] {
    if (this.#detail === 'fleet') return [{}];
    return [{}, this.#detail === 'cluster' ? { cluster } : { cluster, nodePool }];
  }

  #step(where: Dimensions, entry: UnrecordedStep): void {
    const outcome = outcomes[entry.step];
    if (outcome !== undefined) this.#single({ ...where, outcome }, metricNames.completed, Count, 1);
    if (entry.step === 'fallbackStarted') this.#single(where, metricNames.forcefulFallback, Count, 1);
    if (entry.step === 'draining' && entry.surgeWait !== undefined) {
      this.#single({ ...where, phase: 'surge_wait' }, metricNames.duration, Seconds, entry.surgeWait / second);
    }
    if (entry.step === 'completed' && entry.drain !== undefined) {
      this.#single({ ...where, phase: 'drain' }, metricNames.duration, Seconds, entry.drain / second);
    }
  }

  #gauge(name: MetricName, unit: Unit, value: number): void {
    this.#metrics.addMetric(name, unit, value);
  }

  #single(where: Dimensions, name: MetricName, unit: Unit, value: number): void {
    const single = this.#metrics.singleMetric();
    for (const [dimension, text] of Object.entries(where)) single.addDimension(dimension, text);
    single.addMetric(name, unit, value);
  }

  // The cluster's name goes along as a field of the line: findable in the log, free of charge.
  #publish(cluster: string): void {
    this.#metrics.addMetadata('clusterKey', cluster);
    this.#metrics.publishStoredMetrics();
  }
}

/** One line for everything that shares its dimensions. */
function publish(where: Dimensions, measured: readonly Measured[]): void {
  const line = new Metrics({ namespace: metricNamespace, serviceName: metricService });
  line.addDimensions({ ...where });
  for (const { name, unit, value } of measured) line.addMetric(name, unit, value);
  line.publishStoredMetrics();
}

/** What can be told of one pool and of many alike: read as a maximum over clusters, never as a sum. @design D11-02 */
function gaugesOf(pools: readonly PoolRecord[]): readonly Measured[] {
  const gauges = pools.flatMap(({ decision }) => decision.gauges ?? []);
  const total = (of: (each: PoolGauges) => number): number => gauges.reduce((sum, each) => sum + of(each), 0);
  const counted = (name: MetricName, value: number): Measured => ({ name, unit: Count, value });
  const unprotected = gauges.flatMap((each) => each.unprotected ?? []);
  return [
    counted(
      metricNames.candidates,
      total(({ candidates }) => candidates),
    ),
    counted(
      metricNames.inProgress,
      total(({ inProgress }) => Number(inProgress)),
    ),
    counted(metricNames.windowActive, Number(gauges.some(({ windowOpen }) => windowOpen))),
    counted(
      metricNames.policyConflict,
      total(({ policyConflict }) => Number(policyConflict)),
    ),
    counted(
      metricNames.shortLeadNodes,
      total(({ shortLeadNodes }) => shortLeadNodes),
    ),
    counted(
      metricNames.drainStuck,
      total(({ drainStuck }) => Number(drainStuck)),
    ),
    counted(
      metricNames.retryCount,
      gauges.reduce((most, { retryCount }) => Math.max(most, retryCount), 0),
    ),
    // NodePools whose nodes come due faster than their windows take them.
    counted(
      metricNames.fallingBehind,
      countOf(pools, 'ThroughputBelowArrival') + countOf(pools, 'ThroughputBurstShortfall'),
    ),
    ...(unprotected.length === 0
      ? []
      : [{ name: metricNames.unprotectedSeconds, unit: Seconds, value: Math.max(...unprotected) / second }]),
  ];
}

/** What means something for one NodePool only. Not frozen is 0. @design D11-01, D11-02 */
function scheduleOf({ decision: { gauges } }: PoolRecord): readonly Measured[] {
  if (gauges === undefined) return [];
  const { freezeUntil = 0, ageThreshold, rotationChances, throughputCapacity } = gauges;
  const { rotationEstimate, rotationBound, windowPeriod } = gauges;
  const measured = (name: MetricName, unit: Unit, value: number | undefined): readonly Measured[] =>
    value === undefined ? [] : [{ name, unit, value: unit === Count ? value : value / second }];
  return [
    ...measured(metricNames.freezeUntil, NoUnit, freezeUntil),
    ...measured(metricNames.ageThreshold, Seconds, ageThreshold),
    ...measured(metricNames.rotationEstimate, Seconds, rotationEstimate),
    ...measured(metricNames.rotationBound, Seconds, rotationBound),
    ...measured(metricNames.windowPeriod, Seconds, windowPeriod),
    ...measured(metricNames.rotationChances, Count, rotationChances),
    ...measured(metricNames.throughputCapacity, Count, throughputCapacity),
  ];
}

const countOf = (pools: readonly PoolRecord[], code: string): number =>
  pools.reduce((total, { decision }) => total + decision.notices.filter((notice) => notice.code === code).length, 0);
