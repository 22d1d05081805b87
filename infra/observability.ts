/**
 * Alarms, the topic that they go to, one composite alarm for whoever is on call, and the dashboard.
 *
 * The composite acts only when an alarm has held for five minutes, and not while there is no cluster to tick. So a
 * deployment, whose first ticks are on their way, wakes nobody; one that never ticks does.
 */
import { Duration, Stack } from 'aws-cdk-lib';
import { type Alarm, AlarmRule, AlarmState, CompositeAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import {
  type AlarmPlan,
  deadLetterAlarm,
  functionAlarms,
  makeAlarm,
  noClusterYet,
  rotationAlarms,
  serviceAlarms,
} from './alarms.ts';
import type { Config } from './config.ts';
import { FleetDashboard } from './dashboard.ts';
import type { DispatchFunction } from './dispatch-function.ts';
import type { ReconcileFunction } from './reconcile-function.ts';
import type { Target } from './target.ts';
import type { TickQueue } from './tick-queue.ts';
import type { WidgetFunction } from './widget-function.ts';

export interface ObservabilityProps {
  readonly config: Config;
  readonly target: Target;
  readonly lanes: readonly {
    readonly network: string;
    readonly queue: TickQueue;
    readonly reconcile: ReconcileFunction;
  }[];
  readonly dispatch: DispatchFunction;
  readonly widget: WidgetFunction;
}

export class Observability extends Construct {
  readonly topic: Topic;

  /** @design D11-05 */
  constructor(scope: Construct, id: string, props: ObservabilityProps) {
    super(scope, id);
    const { config, target, lanes, dispatch, widget } = props;
    this.topic = this.#topicFor(config);
    const plans: readonly AlarmPlan[] = [
      ...serviceAlarms,
      ...functionAlarms('Dispatch', dispatch.lambda),
      ...lanes.flatMap(({ network, reconcile }) => functionAlarms(`Reconcile${network}`, reconcile.lambda)),
      ...lanes.map(({ network, queue }) => deadLetterAlarm(`DeadTicks${network}`, queue.deadLetters, 'A tick lies')),
      deadLetterAlarm('LostManualRuns', dispatch.manualRunsLost, 'A request for a manual run lies'),
      ...rotationAlarms,
    ];
    const alarms = plans.map((plan) => ({ plan, alarm: makeAlarm(this, plan) }));
    for (const { alarm } of alarms) {
      alarm.addAlarmAction(new SnsAction(this.topic));
      alarm.addOkAction(new SnsAction(this.topic));
    }
    const quiet = makeAlarm(this, noClusterYet);
    if (target !== 'emulator') {
      this.#page(
        config,
        alarms.filter(({ plan }) => plan.pages === true).map(({ alarm }) => alarm),
        quiet,
      );
    }
    new FleetDashboard(this, 'Dashboard', {
      ...props,
      name: `${config.name}-${config.region}`,
      alarms: alarms.map(({ alarm }) => alarm),
      widget: widget.lambda,
    });
  }

  #topicFor({ alarms }: Config): Topic {
    const topic = new Topic(this, 'Topic', { displayName: 'node-rotation', enforceSSL: true });
    // A topic with a policy of its own has lost the one by which the account's alarms could publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'Alarms',
        effect: Effect.ALLOW,
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    for (const address of alarms.email) topic.addSubscription(new EmailSubscription(address));
    return topic;
  }

  #page({ alarms }: Config, pages: readonly Alarm[], quiet: Alarm): void {
    const paging = new CompositeAlarm(this, 'Page', {
      alarmDescription: 'Somebody has to look: at least one of the alarms that page has held for five minutes.',
      alarmRule: AlarmRule.anyOf(...pages.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM))),
      actionsSuppressor: quiet,
      actionsSuppressorWaitPeriod: Duration.minutes(5),
      actionsSuppressorExtensionPeriod: Duration.minutes(5),
    });
    const topic: ITopic =
      alarms.pageTopicArn === undefined ? this.topic : Topic.fromTopicArn(this, 'PageTopic', alarms.pageTopicArn);
    paging.addAlarmAction(new SnsAction(topic));
    paging.addOkAction(new SnsAction(topic));
  }
}
