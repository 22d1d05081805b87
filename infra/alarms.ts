/**
 * What somebody is told about, each alarm with what to do in its description.
 *
 * Names and dimensions are those that the functions emit: one constant for both. Gauges are read as a maximum, because a
 * sum over ticks is no number of nodes.
 */
import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { type MetricName, metricNames, metricNamespace, metricService } from '../lib/adapters/aws/metric-names.ts';

export interface AlarmPlan {
  readonly id: string;
  readonly description: string;
  readonly metric: IMetric;
  /** Alarms at this value and above, or below it. */
  readonly atLeast?: number;
  readonly below?: number;
  /** Periods in a row; 1 unless said. */
  readonly periods?: number;
  readonly missing?: TreatMissingData;
  /** Whether it wakes somebody. */
  readonly pages?: boolean;
}

const minute = Duration.minutes(1);
const fiveMinutes = Duration.minutes(5);
/** For what happens at an instant: the alarm has to hold longer than the composite waits. */
const quarter = Duration.minutes(15);

/** A metric of ours, at the level of the fleet. @design D11-02 */
export const fleetMetric = (
  metricName: MetricName,
  statistic: string,
  period: Duration = fiveMinutes,
  dimensions: Readonly<Record<string, string>> = {},
): Metric =>
  new Metric({
    namespace: metricNamespace,
    metricName,
    dimensionsMap: { service: metricService, ...dimensions },
    statistic,
    period,
  });

export const outcomeMetric = (outcome: string, period: Duration): Metric =>
  fleetMetric(metricNames.completed, Stats.SUM, period, { outcome });

/** Of the service itself: does it run, and does it reach its clusters. @design D11-05 */
export const serviceAlarms: readonly AlarmPlan[] = [
  {
    id: 'NoTick',
    description: 'No tick was sent for five minutes. Look at the schedule, and at the log of dispatch.',
    metric: fleetMetric(metricNames.clusters, Stats.SAMPLE_COUNT, minute),
    below: 1,
    periods: 5,
    missing: TreatMissingData.BREACHING,
    pages: true,
  },
  {
    id: 'ClusterLag',
    description:
      'A cluster has had no good tick for five minutes. Its name and the reason are in the log of reconcile: outcome, cluster.',
    metric: fleetMetric(metricNames.clusterLag, Stats.MAXIMUM, minute),
    atLeast: 300,
    periods: 2,
    pages: true,
  },
  {
    id: 'TickFailures',
    description: 'Ticks have failed in each of the last five minutes. The log of reconcile has clusters and reasons.',
    metric: fleetMetric(metricNames.tickFailed, Stats.SUM, minute),
    atLeast: 1,
    periods: 5,
  },
  {
    id: 'StaleTicks',
    description: 'Ticks came more than 150 s late and were dropped: more clusters than maxConcurrency lets through?',
    metric: fleetMetric(metricNames.staleTicks, Stats.SUM),
    atLeast: 1,
    periods: 2,
  },
  {
    id: 'AuditLost',
    description: 'Audit rows were given up. They are in the log of reconcile in full, at level ERROR.',
    metric: fleetMetric(metricNames.auditLost, Stats.SUM, quarter),
    atLeast: 1,
    pages: true,
  },
];

/** Of what it does to nodes. @design D11-05 */
export const rotationAlarms: readonly AlarmPlan[] = [
  {
    id: 'RotationFailed',
    description:
      'A rotation failed and was undone; it is tried again. The Event RotationFailed on its NodeClaim says why.',
    metric: outcomeMetric('failure', quarter),
    atLeast: 1,
  },
  {
    id: 'RotationExpired',
    description: 'A node was gone before its replacement was ready. Was that its deadline? Then windows are too rare.',
    metric: outcomeMetric('expired', quarter),
    atLeast: 1,
    pages: true,
  },
  {
    id: 'DrainStuck',
    description: 'A drain does not end. The Event DrainStuck names the Pods and budgets that hold it.',
    metric: fleetMetric(metricNames.drainStuck, Stats.MAXIMUM),
    atLeast: 1,
    pages: true,
  },
  {
    id: 'ShortLead',
    description: 'Nodes live too short to be given the chances that their policy promises. See node-rotation plan.',
    metric: fleetMetric(metricNames.shortLeadNodes, Stats.MAXIMUM),
    atLeast: 1,
  },
  {
    id: 'Retries',
    description: 'A node has failed to rotate three times or more. See node-rotation history for the reasons.',
    metric: fleetMetric(metricNames.retryCount, Stats.MAXIMUM, quarter),
    atLeast: 3,
    pages: true,
  },
  {
    id: 'FallingBehind',
    description:
      'A NodePool has nodes coming due faster than its windows take them. Widen windows or raise expireAfter.',
    metric: fleetMetric(metricNames.fallingBehind, Stats.MAXIMUM),
    atLeast: 1,
  },
];

/** @design D11-05 */
export const functionAlarms = (name: string, lambda: IFunction): readonly AlarmPlan[] => [
  {
    id: `${name}Errors`,
    description: `${name} died or timed out: what clusters do is no error of it, so this is a bug or a missing permission.`,
    metric: lambda.metricErrors({ period: quarter, statistic: Stats.SUM }),
    atLeast: 1,
    pages: true,
  },
  {
    id: `${name}Throttles`,
    description: `${name} was throttled: the account's or the function's concurrency is too low.`,
    metric: lambda.metricThrottles({ period: fiveMinutes, statistic: Stats.SUM }),
    atLeast: 1,
    periods: 2,
  },
];

/** @design D1-02, D11-05 */
export const deadLetterAlarm = (name: string, queue: IQueue, what: string): AlarmPlan => ({
  id: name,
  description: `${what} in a dead-letter queue: our code never ran, or died. Read it, then purge the queue.`,
  metric: queue.metricApproximateNumberOfMessagesVisible({ period: minute, statistic: Stats.MAXIMUM }),
  atLeast: 1,
  pages: true,
});

/** An installation that ticks nothing yet, such as one that has just been deployed. */
export const noClusterYet: AlarmPlan = {
  id: 'NoClusterYet',
  description: 'There is no cluster to tick: nothing is listed, or nothing carries the tag. Nobody is paged meanwhile.',
  metric: fleetMetric(metricNames.clusters, Stats.MAXIMUM),
  below: 1,
};

export function makeAlarm(scope: Construct, plan: AlarmPlan): Alarm {
  const { id, description, metric, atLeast, below, periods = 1, missing = TreatMissingData.NOT_BREACHING } = plan;
  return new Alarm(scope, id, {
    alarmDescription: description,
    metric,
    threshold: atLeast ?? below ?? 0,
    comparisonOperator:
      below === undefined
        ? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        : ComparisonOperator.LESS_THAN_THRESHOLD,
    evaluationPeriods: periods,
    datapointsToAlarm: periods,
    treatMissingData: missing,
  });
}
