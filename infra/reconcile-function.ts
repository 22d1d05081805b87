/**
 * Reconcile: one message, one cluster, one tick. One function for each network, all with the same role.
 *
 * The role's name is fixed and the role is kept when the deployment goes, because an access entry is tied to the role
 * itself: one made anew under the same name is not let in.
 */
import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Effect, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { variables } from '../functions/reconcile/environment.ts';
import type { AuditTable } from './audit-table.ts';
import { BundledFunction, functionRole } from './bundled-function.ts';
import { allowClusters, reconcileRoleName } from './cluster-access.ts';
import { type Config, concurrencyOf } from './config.ts';
import type { RotationBus } from './event-bus.ts';
import type { TickQueue } from './tick-queue.ts';

/** @design D1-06 */
const timeout = Duration.seconds(50);

interface Kept {
  readonly config: Config;
  readonly table: AuditTable;
  readonly bus: RotationBus;
}

export class ReconcileRole extends Construct {
  readonly role: Role;

  /** @design D9-05 */
  constructor(scope: Construct, id: string, { config, table, bus }: Kept) {
    super(scope, id);
    this.role = functionRole(this, 'Role', 'Ticks clusters; access entries name this role', reconcileRoleName(config));
    this.role.applyRemovalPolicy(RemovalPolicy.RETAIN);
    this.role.addToPolicy(table.allow('GetItem', 'PutItem', 'UpdateItem'));
    this.role.addToPolicy(bus.allowPut());
    allowClusters(this.role, config);
    if (Object.keys(config.networks).length > 0) this.#allowInterfaces();
  }

  /** What Lambda itself needs to put a function into a network. */
  #allowInterfaces(): void {
    this.role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: [
          'ec2:AssignPrivateIpAddresses',
          'ec2:CreateNetworkInterface',
          'ec2:DeleteNetworkInterface',
          'ec2:DescribeNetworkInterfaces',
          'ec2:DescribeSubnets',
          'ec2:UnassignPrivateIpAddresses',
        ],
        resources: ['*'],
      }),
    );
    Validations.of(this.role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'Lambda makes the network interfaces of a function; they have no ARN before that, and Describe takes none.',
    });
  }
}

export interface ReconcileFunctionProps extends Kept {
  /** Empty for clusters in no private network. */
  readonly network: string;
  readonly role: ReconcileRole;
  readonly queue: TickQueue;
}

export class ReconcileFunction extends Construct {
  readonly lambda: BundledFunction['lambda'];

  /** @design D1-02, D1-07 */
  constructor(scope: Construct, id: string, props: ReconcileFunctionProps) {
    super(scope, id);
    const { config, network, queue, table, bus } = props;
    const { role } = props.role;
    const { memory, reservedConcurrency } = config.reconcile;
    this.lambda = new BundledFunction(this, 'Bundle', {
      config,
      folder: 'reconcile',
      description: network === '' ? 'Ticks one cluster' : `Ticks one cluster of network ${network}`,
      role,
      timeout,
      memory,
      reservedConcurrency,
      network: config.networks[network],
      environment: {
        [variables.tableName]: table.table.tableName,
        [variables.retentionDays]: String(config.retention.auditDays),
        [variables.busName]: bus.bus.eventBusName,
        [variables.metricDetail]: config.metrics.detail,
        [variables.namespace]: config.placeholder.namespace,
        [variables.image]: config.placeholder.image,
      },
    }).lambda;
    role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'],
        resources: [queue.queue.queueArn],
      }),
    );
    const mapping = new EventSourceMapping(this, 'Mapping', {
      target: this.lambda,
      eventSourceArn: queue.queue.queueArn,
      batchSize: 1,
      maxConcurrency: concurrencyOf(config, network),
    });
    // The mapping is refused while its role may not read the queue yet.
    mapping.node.addDependency(role);
  }
}
