/**
 * Makes the audit table where no deployment does: in an embedded database.
 */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { tableKeys } from './audit-table.ts';

/** In seconds. Locally it is a matter of milliseconds. */
const patience = { maxWaitTime: 10, minDelay: 0.02, maxDelay: 0.5 };

/** @design D10-01 */
export function auditTableDefinition(tableName: string): CreateTableCommandInput {
  const key = (AttributeName: string, KeyType: 'HASH' | 'RANGE') => ({ AttributeName, KeyType });
  const { partition, sort, byClusterTime, byPoolTime } = tableKeys;
  const attributes = [partition, sort, byClusterTime.partition, byPoolTime.partition, byClusterTime.sort];
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [key(partition, 'HASH'), key(sort, 'RANGE')],
    GlobalSecondaryIndexes: [byClusterTime, byPoolTime].map((index) => ({
      IndexName: index.name,
      KeySchema: [key(index.partition, 'HASH'), key(index.sort, 'RANGE')],
      Projection: { ProjectionType: 'ALL' },
    })),
  };
}

/**
 * An existing table is left as it is. Ends once the table answers: a database accepts the wish for one earlier.
 *
 * @throws Error named TimeoutError when it does not within ten seconds
 */
export async function createAuditTable(client: DynamoDBClient, tableName: string): Promise<void> {
  try {
    await client.send(new CreateTableCommand(auditTableDefinition(tableName)));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  await waitUntilTableExists({ client, ...patience }, { TableName: tableName });
}
