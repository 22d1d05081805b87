/**
 * The dashboard: the fleet at a glance, what rotates, what the functions do, and the last rotations, drawn.
 */
import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  CustomWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  PeriodOverride,
  SingleValueWidget,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { metricNames } from '../lib/adapters/aws/metric-names.ts';
import { fleetMetric, outcomeMetric } from './alarms.ts';

export interface FleetDashboardProps {
  readonly name: string;
  readonly alarms: readonly Alarm[];
  readonly widget: IFunction;
  readonly dispatch: { readonly lambda: IFunction };
  readonly lanes: readonly { readonly network: string; readonly reconcile: { readonly lambda: IFunction } }[];
}

const minute = Duration.minutes(1);
const hour = Duration.hours(1);

export class FleetDashboard extends Construct {
  /** @design D11-05 */
  constructor(scope: Construct, id: string, { name, alarms, widget, dispatch, lanes }: FleetDashboardProps) {
    super(scope, id);
    const dashboard = new Dashboard(this, 'Dashboard', {
      dashboardName: name,
      defaultInterval: Duration.days(7),
      periodOverride: PeriodOverride.INHERIT,
    });
    const functions = [
      { label: 'dispatch', lambda: dispatch.lambda },
      ...lanes.map(({ network, reconcile }) => ({ label: `reconcile ${network}`.trim(), lambda: reconcile.lambda })),
    ];
    dashboard.addWidgets(
      new SingleValueWidget({
        title: 'Fleet',
        width: 24,
        height: 3,
        metrics: [
          labelled('clusters', fleetMetric(metricNames.clusters, Stats.MAXIMUM)),
          labelled('without a good tick', fleetMetric(metricNames.clustersStale, Stats.MAXIMUM)),
          labelled('longest lag, s', fleetMetric(metricNames.clusterLag, Stats.MAXIMUM)),
          labelled('rotating in one cluster, at most', fleetMetric(metricNames.inProgress, Stats.MAXIMUM)),
          labelled('short of lead', fleetMetric(metricNames.shortLeadNodes, Stats.MAXIMUM)),
        ],
      }),
    );
    dashboard.addWidgets(
      new CustomWidget({
        title: 'The last rotations',
        functionArn: widget.functionArn,
        width: 24,
        height: 14,
        updateOnRefresh: true,
        updateOnResize: true,
        updateOnTimeRangeChange: true,
      }),
    );
    dashboard.addWidgets(
      graph('Rotations ended, an hour', [
        ...['success', 'failure', 'expired', 'aborted'].map((outcome) =>
          labelled(outcome, outcomeMetric(outcome, hour)),
        ),
        labelled('forceful fallback', fleetMetric(metricNames.forcefulFallback, Stats.SUM, hour)),
      ]),
      graph('How long, s', [
        ...['surge_wait', 'drain'].map((phase) =>
          labelled(phase, fleetMetric(metricNames.duration, Stats.percentile(90), hour, { phase })),
        ),
      ]),
      graph('Ticks', [
        labelled('failed', fleetMetric(metricNames.tickFailed, Stats.SUM, minute)),
        labelled('stale', fleetMetric(metricNames.staleTicks, Stats.SUM, minute)),
        labelled('seconds, p99', fleetMetric(metricNames.tickSeconds, Stats.percentile(99), minute)),
      ]),
    );
    dashboard.addWidgets(
      graph(
        'Invocations',
        functions.map(({ label, lambda }) => lambda.metricInvocations({ period: minute, label })),
      ),
      graph('Errors and throttles', [
        ...functions.map(({ label, lambda }) => lambda.metricErrors({ period: minute, label: `${label} errors` })),
        ...functions.map(({ label, lambda }) =>
          lambda.metricThrottles({ period: minute, label: `${label} throttles` }),
        ),
      ]),
      new AlarmStatusWidget({ title: 'Alarms', width: 8, height: 6, alarms: [...alarms] }),
    );
  }
}

const labelled = (label: string, metric: IMetric & { with(props: { label: string }): IMetric }): IMetric =>
  metric.with({ label });

const graph = (title: string, left: IMetric[]): GraphWidget =>
  new GraphWidget({ title, left, width: 8, height: 6, liveData: false });
