/**
 * The audit table that a command works with: a real one by name, or an embedded one in a folder or in memory.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { AuditTable, dynamoDbClient } from '../adapters/aws/audit-table.ts';
import { createAuditTable, TableNeverMade } from '../adapters/aws/create-audit-table.ts';
import { startEmbeddedTable } from './embedded-table.ts';
import { exitCodes, Failure } from './failure.ts';

export interface StoreOptions {
  /** Name of a real table. */
  readonly table?: string;
  /** Folder of an embedded one. */
  readonly data?: string;
}

export interface AuditStore {
  readonly table: AuditTable;
  /** Where it is, for people. */
  readonly place: string;
  close(): Promise<void>;
}

const embeddedTableName = 'node-rotation';

/** The folder in which commands keep their table when nothing else is said. @design D13-01 */
function stateFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'node-rotation');
}

export const withStoreOptions = (command: Command): Command =>
  command
    .addOption(new Option('--table <name>', 'DynamoDB table in your AWS account').conflicts('data'))
    .option('--data <dir>', 'folder of an embedded table (default: your state folder)');

/** @param purpose read: there has to be something to read */
export async function openStore(
  { table, data = stateFolder() }: StoreOptions,
  purpose: 'read' | 'write',
): Promise<AuditStore> {
  if (table !== undefined) {
    return { table: new AuditTable({ tableName: table }), place: `the DynamoDB table ${table}`, close: async () => {} };
  }
  if (purpose === 'read' && !existsSync(join(data, 'table'))) {
    throw new Failure(
      exitCodes.usage,
      `There is no audit table in ${data}. Name its folder with --data, or a DynamoDB table with --table.`,
    );
  }
  return await openEmbedded(data, undefined);
}

/** @param folder in memory when unset; retentionDays: 0 keeps rows of simulated times whatever the real date */
export async function openEmbedded(folder: string | undefined, retentionDays: number | undefined): Promise<AuditStore> {
  const database = await startEmbeddedTable(folder);
  // An embedded database checks no signature, but a client will not send without one.
  const client = dynamoDbClient({
    endpoint: database.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const table = new AuditTable({
    tableName: embeddedTableName,
    client,
    ...(retentionDays === undefined ? {} : { retentionDays }),
  });
  await createAuditTable(client, embeddedTableName).catch(async (error: unknown) => {
    client.destroy();
    await database.close();
    if (!(error instanceof TableNeverMade)) throw error;
    const where = folder === undefined ? 'in memory' : `in ${join(folder, 'table')}`;
    const advice = 'It holds nothing: remove that folder and try again, or choose another one with --data.';
    throw new Failure(exitCodes.noAccess, `The audit table ${where} was begun and never finished. ${advice}`, {
      cause: error,
    });
  });
  const place =
    folder === undefined
      ? `DynamoDB in memory at ${database.endpoint}`
      : `DynamoDB in ${folder} at ${database.endpoint}`;
  return {
    table,
    place,
    close: async () => {
      client.destroy();
      await database.close();
    },
  };
}
