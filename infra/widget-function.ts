/**
 * The function behind the dashboard's drawing of the last rotations. It only reads; who may invoke it is decided by the
 * rights of whoever looks at the dashboard.
 */
import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { variables } from '../functions/widget/environment.ts';
import type { AuditTable } from './audit-table.ts';
import { BundledFunction, functionRole } from './bundled-function.ts';
import type { Config } from './config.ts';

export class WidgetFunction extends Construct {
  readonly lambda: BundledFunction['lambda'];

  /** @design D11-05 */
  constructor(
    scope: Construct,
    id: string,
    { config, table }: { readonly config: Config; readonly table: AuditTable },
  ) {
    super(scope, id);
    const role = functionRole(this, 'Role', 'Draws the last rotations from the audit table');
    this.lambda = new BundledFunction(this, 'Bundle', {
      config,
      folder: 'widget',
      description: 'Draws the last rotations on the dashboard',
      role,
      timeout: Duration.seconds(15),
      memory: 512,
      environment: { [variables.tableName]: table.table.tableName },
    }).lambda;
    role.addToPolicy(table.allow('Query'));
    role.addToPolicy(table.allowByCluster());
  }
}
