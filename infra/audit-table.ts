/**
 * The audit table, which outlives the deployment. Both indexes are in its first version, because an update of a table
 * can add only one.
 *
 * The names are those that the code puts and queries.
 */
import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

const byClusterTime = 'byClusterTime';
const byPoolTime = 'byPoolTime';

type TableAction = 'DeleteItem' | 'GetItem' | 'PutItem' | 'Query' | 'UpdateItem';

export class AuditTable extends Construct {
  readonly table: TableV2;

  /** @design D10-01, D10-03 */
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const key = (name: string) => ({ name, type: AttributeType.STRING });
    this.table = new TableV2(this, 'Table', {
      partitionKey: key('pk'),
      sortKey: key('sk'),
      globalSecondaryIndexes: [
        { indexName: byClusterTime, partitionKey: key('cluster'), sortKey: key('time') },
        { indexName: byPoolTime, partitionKey: key('pool'), sortKey: key('time') },
      ],
      billing: Billing.onDemand(),
      timeToLiveAttribute: 'ttl',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  /** Of the table itself, and not of its indexes. */
  allow(...actions: readonly TableAction[]): PolicyStatement {
    return allow(actions, [this.table.tableArn]);
  }

  /** Of the index by cluster and time. */
  allowByCluster(): PolicyStatement {
    return allow(['Query'], [`${this.table.tableArn}/index/${byClusterTime}`]);
  }
}

const allow = (actions: readonly TableAction[], resources: string[]): PolicyStatement =>
  new PolicyStatement({ effect: Effect.ALLOW, actions: actions.map((action) => `dynamodb:${action}`), resources });
