import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { auditTableDefinition, createAuditTable } from '../../lib/adapters/aws/create-audit-table.ts';
import { openStore } from '../../lib/cli/audit-store.ts';
import { exitCodes, Failure } from '../../lib/cli/failure.ts';
import { seconds } from '../../lib/domain/time.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'node-rotation-store-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** A database whose tables need that long until they answer. */
async function slowDatabase(createTableMs: number, path?: string) {
  const server = dynalite({ createTableMs, ...(path === undefined ? {} : { path }) });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const client = dynamoDbClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'local',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    maxAttempts: 1,
  });
  return {
    client,
    close: async () => {
      client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a table that was made answers, however long the database took to make it (D10-01)', async () => {
  const { client, close } = await slowDatabase(300);
  await createAuditTable(client, 'slow');
  const table = new AuditTable({ tableName: 'slow', client });
  for await (const _ of table.byCluster('1/eu-west-1/a')) throw new Error('the table is new');
  await close();
});

test('a table that does not answer, for any other reason, is not said to hold nothing (D10-01)', async () => {
  const { client, close } = await slowDatabase(0);
  await createAuditTable(client, 'there');
  let described = 0;
  client.middlewareStack.add((next, { commandName }) => async (args) => {
    if (commandName !== 'DescribeTableCommand') return await next(args);
    described += 1;
    const answer = await next(args);
    (answer.output as { Table?: { TableStatus?: string } }).Table = { TableStatus: 'UPDATING' };
    return answer;
  });
  await expect(createAuditTable(client, 'there', seconds(1))).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(described).toBeGreaterThan(1);
  await close();
});

test('a table whose making was cut off is told, with what to do, and its folder is given back (D13-01)', async () => {
  const cutOff = await slowDatabase(3_600_000, join(folder, 'table'));
  await cutOff.client.send(new CreateTableCommand(auditTableDefinition('node-rotation')));
  await cutOff.close();
  const failure = await openStore({ data: folder }, 'write').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Failure);
  expect(failure).toMatchObject({
    exitCode: exitCodes.noAccess,
    message: `The audit table in ${join(folder, 'table')} was begun and never finished. It holds nothing: remove that folder and try again, or choose another one with --data.`,
  });
  rmSync(join(folder, 'table'), { recursive: true });
  await (await openStore({ data: folder }, 'write')).close();
}, 30_000);
