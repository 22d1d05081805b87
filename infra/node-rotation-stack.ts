/**
 * START HERE: the table of contents of the deployment.
 */
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { AuditTable } from './audit-table.ts';
import type { Config } from './config.ts';
import { DispatchFunction } from './dispatch-function.ts';
import { RotationBus } from './event-bus.ts';
import { Observability } from './observability.ts';
import { ReconcileFunction, ReconcileRole } from './reconcile-function.ts';
import type { Target } from './target.ts';
import { TickQueue } from './tick-queue.ts';
import { WidgetFunction } from './widget-function.ts';

export interface NodeRotationStackProps extends StackProps {
  readonly config: Config;
  readonly target: Target;
}

export class NodeRotationStack extends Stack {
  constructor(scope: Construct, id: string, { config, target, ...props }: NodeRotationStackProps) {
    super(scope, id, props);
    const table = new AuditTable(this, 'AuditTable');
    const bus = new RotationBus(this, 'Bus', { config, target });

    const role = new ReconcileRole(this, 'ReconcileRole', { config, table, bus });
    // Clusters in no private network, then one set for each network.
    const lanes = ['', ...Object.keys(config.networks)].map((network) => {
      const queue = new TickQueue(this, `Ticks${network}`);
      const reconcile = new ReconcileFunction(this, `Reconcile${network}`, {
        config,
        network,
        role,
        queue,
        table,
        bus,
      });
      return { network, queue, reconcile };
    });

    const dispatch = new DispatchFunction(this, 'Dispatch', { config, target, lanes, table, bus });
    bus.runManually(dispatch.manualRuns, dispatch.manualRunsLost);

    const widget = new WidgetFunction(this, 'Widget', { config, table });
    const observability = new Observability(this, 'Observability', { config, target, lanes, dispatch, widget });

    new CfnOutput(this, 'ReconcileRoleArn', {
      value: role.role.roleArn,
      description: 'The principal of access entries, and of the trust of roles in other accounts',
    });
    new CfnOutput(this, 'DispatchRoleArn', {
      value: dispatch.role.roleArn,
      description: 'Assumes the roles in other accounts too, to find their clusters',
    });
    new CfnOutput(this, 'AuditTableName', { value: table.table.tableName });
    new CfnOutput(this, 'EventBusName', { value: bus.bus.eventBusName });
    new CfnOutput(this, 'AlarmTopicArn', { value: observability.topic.topicArn });
  }
}
