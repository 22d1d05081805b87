/**
 * Metrics of ticks, written as log lines in the Embedded Metric Format.
 *
 * At the fleet's level of detail no dimension but the service is used: a dimension per cluster multiplies the bill.
 */
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { PoolRecord, TickRecord } from '../../controller/ports.ts';
import type { RotationStep, UnrecordedStep } from '../../domain/rotation/unrecorded.ts';
import { type Duration, second } from '../../domain/time.ts';
import type { FleetHealth } from './fleet.ts';
import type { RunAnswer } from './manual-run.ts';
import { type MetricDetail, type MetricName, metricNames, metricNamespace, metricService } from './metric-names.ts';

type Dimensions = Readonly<Record<string, string>>;

const { Count, Seconds } = MetricUnit;

const outcomes: Partial<Record<RotationStep, string>> = {
  completed: 'success',
  failed: 'failure',
  expired: 'expired',
  aborted: 'aborted',
};

const idleSteps = new Set<PoolRecord['decision']['step']>(['nothing', 'blocked']);

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
      for (const [name, value] of gaugesOf(record.pools)) this.#gauge(name, Count, value);
      for (const pool of record.pools) this.#transition(cluster, pool);
    }
    this.#publish(cluster);
    if (this.#detail === 'fleet') return;
    this.#single({ cluster, outcome: record.outcome }, metricNames.tickFailed, Count, record.outcome === 'Ok' ? 0 : 1);
    if (this.#detail === 'nodePool') {
      for (const pool of record.pools) this.#pool({ cluster, nodePool: pool.decision.nodePool }, pool);
    }
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
    if (entry.retryCount !== undefined) this.#single(where, metricNames.retryCount, Count, entry.retryCount);
  }

  #pool(where: Dimensions, pool: PoolRecord): void {
    for (const [name, value] of gaugesOf([pool])) this.#single(where, name, Count, value);
  }

  #gauge(name: MetricName, unit: (typeof MetricUnit)[keyof typeof MetricUnit], value: number): void {
    this.#metrics.addMetric(name, unit, value);
  }

  #single(
    where: Dimensions,
    name: MetricName,
    unit: (typeof MetricUnit)[keyof typeof MetricUnit],
    value: number,
  ): void {
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

function gaugesOf(pools: readonly PoolRecord[]): readonly (readonly [MetricName, number])[] {
  return [
    [metricNames.inProgress, pools.filter(({ decision }) => !idleSteps.has(decision.step)).length],
    [metricNames.windowActive, pools.some(({ decision }) => decision.grounds.windowOpen) ? 1 : 0],
    [metricNames.policyConflict, countOf(pools, 'PolicyConflict')],
    [metricNames.shortLeadNodes, countOf(pools, 'ShortLead')],
    [metricNames.drainStuck, countOf(pools, 'DrainStuck')],
    // NodePools whose nodes come due faster than their windows take them.
    [metricNames.fallingBehind, countOf(pools, 'ThroughputBelowArrival') + countOf(pools, 'ThroughputBurstShortfall')],
  ];
}

const countOf = (pools: readonly PoolRecord[], code: string): number =>
  pools.reduce((total, { decision }) => total + decision.notices.filter((notice) => notice.code === code).length, 0);
