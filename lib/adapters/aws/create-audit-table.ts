/**
 * Makes the audit table where no deployment does: in an embedded database.
 */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { type Duration, second, seconds } from '../../domain/time.ts';
import { tableKeys } from './audit-table.ts';

/** In seconds. */
const delays = { minDelay: 0.02, maxDelay: 0.5 };
/** Locally it is a matter of milliseconds. */
const longestWait = seconds(10);

/** The database still says that it makes the table, long after it should have done so: nothing was ever put into it. */
export class TableNeverMade extends Error {
  override readonly name = 'TableNeverMade';
}

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
 * @param wait for it to answer
 * @throws TableNeverMade when it is still being made then, and what the database or its client throws
 */
export async function createAuditTable(
  client: DynamoDBClient,
  tableName: string,
  wait: Duration = longestWait,
): Promise<void> {
  try {
    await client.send(new CreateTableCommand(auditTableDefinition(tableName)));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  try {
    await waitUntilTableExists({ client, maxWaitTime: wait / second, ...delays }, { TableName: tableName });
  } catch (error) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
    if (Table?.TableStatus !== 'CREATING') throw error;
    throw new TableNeverMade(`the table ${tableName} was begun and never finished`, { cause: error });
  }
}
