/**
 * Dispatch, and what starts it: a schedule, once a minute, never tried again, because the next minute is on its way; and
 * an alias for manual runs, which are tried again and then kept.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, Stack, Stage } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Alias, CfnEventInvokeConfig, type IVersion } from 'aws-cdk-lib/aws-lambda';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { variables } from '../functions/dispatch/environment.ts';
import type { AuditTable } from './audit-table.ts';
import { BundledFunction, functionRole } from './bundled-function.ts';
import { allowClusters, allowDiscovery } from './cluster-access.ts';
import type { Config } from './config.ts';
import type { RotationBus } from './event-bus.ts';
import type { Target } from './target.ts';
import { acknowledgeDeadLetters, type TickQueue } from './tick-queue.ts';

/** Beside the code, where its function looks for it: a list of clusters soon outgrows an environment. */
const fleetFile = 'fleet.json';

export interface DispatchFunctionProps {
  readonly config: Config;
  readonly target: Target;
  /** The queue of each network. */
  readonly lanes: readonly { readonly network: string; readonly queue: TickQueue }[];
  readonly table: AuditTable;
  readonly bus: RotationBus;
}

export class DispatchFunction extends Construct {
  readonly lambda: BundledFunction['lambda'];
  readonly role: Role;
  readonly manualRuns: Alias;
  readonly manualRunsLost: Queue;

  /** @design D1-01, D1-02 */
  constructor(scope: Construct, id: string, { config, target, lanes, table, bus }: DispatchFunctionProps) {
    super(scope, id);
    this.role = functionRole(this, 'Role', 'Finds clusters and sends their ticks');
    const urls = Object.fromEntries(lanes.map(({ network, queue }) => [network, queue.queue.queueUrl]));
    const { '': publicUrl = '', ...networkUrls } = urls;
    this.lambda = new BundledFunction(this, 'Bundle', {
      config,
      folder: 'dispatch',
      description: 'Sends every cluster its tick, once a minute',
      role: this.role,
      timeout: Duration.seconds(45),
      memory: 512,
      environment: {
        [variables.queueUrl]: publicUrl,
        ...(lanes.length > 1 ? { [variables.networkQueueUrls]: Stack.of(this).toJsonString(networkUrls) } : {}),
        [variables.tableName]: table.table.tableName,
        [variables.retentionDays]: String(config.retention.auditDays),
        [variables.busName]: bus.bus.eventBusName,
        [variables.account]: Stack.of(this).account,
        [variables.clustersFile]: fleetFile,
      },
      commandHooks: {
        beforeBundling: () => [],
        beforeInstall: () => [],
        afterBundling: (_, output) => [`cp '${this.#writeFleet(config)}' '${join(output, fleetFile)}'`],
      },
    }).lambda;

    this.#allow(
      'sqs:SendMessage',
      lanes.map(({ queue }) => queue.queue.queueArn),
    );
    this.role.addToPolicy(table.allow('DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'));
    this.role.addToPolicy(bus.allowPut());
    allowClusters(this.role, config);
    allowDiscovery(this.role, config);

    this.manualRunsLost = new Queue(this, 'ManualRunsLost', {
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    acknowledgeDeadLetters(this.manualRunsLost);
    this.#allow('sqs:SendMessage', [this.manualRunsLost.queueArn]);
    this.manualRuns = this.#invokedAsynchronously();
    if (target === 'emulator') this.#everyMinuteByRule();
    else this.#everyMinute();
  }

  #allow(action: string, resources: string[]): void {
    this.role.addToPolicy(new PolicyStatement({ effect: Effect.ALLOW, actions: [action], resources }));
  }

  /** @returns the file's path; only what dispatch reads is in it */
  #writeFleet({ clusters, discovery }: Config): string {
    const path = join(Stage.of(this)?.outdir ?? '.', `${this.node.addr}.${fleetFile}`);
    const listed = clusters.map(({ manageAccessEntry: _, ...cluster }) => cluster);
    writeFileSync(path, JSON.stringify({ clusters: listed, discovery }));
    return path;
  }

  #invokedAsynchronously(): Alias {
    const manualRuns = new Alias(this, 'ManualRuns', {
      aliasName: 'manual-runs',
      version: this.lambda.currentVersion as IVersion,
    });
    const invoked = (id: string, qualifier: string, retries: number, age: Duration, lost?: string): void => {
      new CfnEventInvokeConfig(this, id, {
        functionName: this.lambda.functionName,
        qualifier,
        maximumRetryAttempts: retries,
        maximumEventAgeInSeconds: age.toSeconds(),
        ...(lost === undefined ? {} : { destinationConfig: { onFailure: { destination: lost } } }),
      }).node.addDependency(this.role, manualRuns);
    };
    invoked('TicksInvoked', '$LATEST', 0, Duration.seconds(60));
    invoked('ManualRunsInvoked', manualRuns.aliasName, 2, Duration.minutes(15), this.manualRunsLost.queueArn);
    return manualRuns;
  }

  #everyMinute(): void {
    const { account, partition, region } = Stack.of(this);
    const role = new Role(this, 'ScheduleRole', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: {
          StringEquals: { 'aws:SourceAccount': account },
          ArnLike: { 'aws:SourceArn': `arn:${partition}:scheduler:${region}:${account}:schedule-group/default` },
        },
      }),
      description: 'Invokes dispatch once a minute',
    });
    role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['lambda:InvokeFunction'],
        resources: [this.lambda.functionArn],
      }),
    );
    const schedule = new CfnSchedule(this, 'Schedule', {
      description: 'One tick for every cluster; windows and their time zones are in the policies',
      scheduleExpression: 'rate(1 minute)',
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: this.lambda.functionArn,
        roleArn: role.roleArn,
        // The tick's identity: a schedule that fires twice sends one tick.
        input: JSON.stringify({ scheduledTime: '<aws.scheduler.scheduled-time>' }),
        retryPolicy: { maximumRetryAttempts: 0, maximumEventAgeInSeconds: 60 },
      },
    });
    schedule.node.addDependency(role);
  }

  /** The emulator does not fill in the scheduled time of a schedule; a rule's event has its own. */
  #everyMinuteByRule(): void {
    new Rule(this, 'Schedule', {
      description: 'One tick for every cluster',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(this.lambda, { retryAttempts: 0, maxEventAge: Duration.seconds(60) })],
    });
  }
}
