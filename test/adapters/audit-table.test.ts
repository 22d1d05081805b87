import { type DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AuditRow, AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { createAuditTable } from '../../lib/adapters/aws/create-audit-table.ts';
import { type EmbeddedTable, startEmbeddedTable } from '../../lib/cli/embedded-table.ts';
import type { UnrecordedStep } from '../../lib/domain/rotation/unrecorded.ts';
import { minutes } from '../../lib/domain/time.ts';
import { at } from '../support/builders.ts';

let database: EmbeddedTable;
let client: DynamoDBClient;
let tableName = '';
let made = 0;

beforeAll(async () => {
  database = await startEmbeddedTable();
  client = clientOf(database.endpoint);
});

afterAll(async () => {
  client.destroy();
  await database.close();
});

beforeEach(async () => {
  made += 1;
  tableName = `audit-${made}`;
  await createAuditTable(client, tableName);
});

const clientOf = (endpoint: string): DynamoDBClient =>
  dynamoDbClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    maxAttempts: 1,
  });

const now = Date.parse('2026-06-10T00:00:00Z');
const table = (retentionDays?: number): AuditTable =>
  new AuditTable({ tableName, client, now: () => now, ...(retentionDays === undefined ? {} : { retentionDays }) });

const cluster = '123456789012/ap-northeast-1/prod';
const step = (over: Partial<UnrecordedStep> = {}): UnrecordedStep => ({
  step: 'started',
  at: at('2026-06-09T17:00:00Z'),
  claim: 'api-1',
  uid: 'uid-1',
  startedAt: at('2026-06-09T17:00:00Z'),
  ...over,
});

async function all(rows: AsyncGenerator<AuditRow>): Promise<AuditRow[]> {
  const list: AuditRow[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

const items = async () => (await client.send(new ScanCommand({ TableName: tableName }))).Items ?? [];

test('a row has its key from the outbox, whole-second TTL, and no attribute for what is absent (D10-01, D10-03, PR-106)', async () => {
  await table(90).putStep(cluster, 'api', step({ at: at('2026-06-01T00:00:00Z'), surgeWait: minutes(3), reason: '' }));
  expect(await items()).toEqual([
    {
      pk: { S: cluster },
      sk: { S: 'ROT#uid-1#2026-06-09T17:00:00Z#started@2026-06-01T00:00:00Z' },
      kind: { S: 'step' },
      cluster: { S: cluster },
      nodePool: { S: 'api' },
      pool: { S: `${cluster}#api` },
      time: { S: '2026-06-01T00:00:00Z' },
      writer: { S: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      ttl: { N: '1788048000' },
      step: { S: 'started' },
      at: { S: '2026-06-01T00:00:00Z' },
      claim: { S: 'api-1' },
      uid: { S: 'uid-1' },
      startedAt: { S: '2026-06-09T17:00:00Z' },
      surgeWait: { S: '3m' },
    },
  ]);
});

test('rows are kept 400 days unless said otherwise, and for ever with 0 (D10-01)', async () => {
  await table().putStep(cluster, 'api', step());
  await table(0).putStep(cluster, 'api', step({ uid: 'uid-2' }));
  const ttl = (await items()).map((item) => item.ttl?.N).toSorted();
  expect(ttl).toEqual([String(Date.parse('2026-06-09T17:00:00Z') / 1000 + 400 * 86_400), undefined]);
});

test('the same step put twice is one row, and the second put a success (D10-03, D10-04)', async () => {
  expect(await table().putStep(cluster, 'api', step())).toEqual({ outcome: 'new' });
  expect(await table().putStep(cluster, 'api', step())).toEqual({ outcome: 'alreadyThere' });
  expect(await items()).toHaveLength(1);
});

test('a put whose answer was lost counts as new when it is made again (D10-03)', async () => {
  const losing = clientOf(database.endpoint);
  losing.middlewareStack.add(
    (next, context) => async (args) => {
      const answer = await next(args);
      if (context.commandName === 'PutItemCommand' && !('repeated' in context)) {
        Object.assign(context, { repeated: true });
        return await next(args);
      }
      return answer;
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  const repeating = new AuditTable({ tableName, client: losing });
  expect(await repeating.putStep(cluster, 'api', step())).toEqual({ outcome: 'new' });
  expect(await items()).toHaveLength(1);
  losing.destroy();
});

test('throttling and outages are reported, not thrown (D1-05, D10-04)', async () => {
  const failing = clientOf(database.endpoint);
  failing.middlewareStack.add(
    () => () =>
      Promise.reject(Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' })),
    { step: 'finalizeRequest' },
  );
  const throttled = new AuditTable({ tableName, client: failing });
  expect(await throttled.putStep(cluster, 'api', step())).toEqual({
    outcome: 'failed',
    throttled: true,
    detail: 'ProvisionedThroughputExceededException: slow down',
  });
  const nowhere = new AuditTable({ tableName: 'missing', client });
  expect(await nowhere.putStep(cluster, 'api', step())).toMatchObject({ outcome: 'failed', throttled: false });
  failing.destroy();
});

test('steps are found by cluster, by pool and by rotation, oldest first (D10-05)', async () => {
  const drained = step({ step: 'draining', at: at('2026-06-09T17:05:00Z') });
  const other = step({
    uid: 'uid-2',
    claim: 'web-1',
    at: at('2026-06-09T17:02:00Z'),
    startedAt: at('2026-06-09T17:02:00Z'),
  });
  await table().putStep(cluster, 'api', drained);
  await table().putStep(cluster, 'web', other);
  await table().putStep(cluster, 'api', step());
  await table().putStep('another/cluster/x', 'api', step());
  const entries = async (rows: AsyncGenerator<AuditRow>) => (await all(rows)).map(({ entry }) => entry);
  expect(await entries(table().byCluster(cluster))).toEqual([step(), other, drained]);
  expect(await entries(table().byPool(cluster, 'api'))).toEqual([step(), drained]);
  expect(await entries(table().byRotation(cluster, 'uid-1', step().startedAt))).toEqual([drained, step()]);
  const range = { from: at('2026-06-09T17:02:00Z'), to: at('2026-06-09T17:02:00Z') };
  expect(await all(table().byCluster(cluster, range))).toEqual([{ cluster, nodePool: 'web', entry: other }]);
});

test('a query goes on over every page (D10-05)', async () => {
  const reason = 'x'.repeat(300_000);
  for (let n = 0; n < 6; n += 1) await table().putStep(cluster, 'api', step({ uid: `uid-${n}`, reason }));
  expect(await all(table().byCluster(cluster))).toHaveLength(6);
});

test('a row past its time is not shown before the table removes it (D10-01)', async () => {
  await table(1).putStep(cluster, 'api', step({ at: at('2026-06-08T23:59:59Z') }));
  await table(1).putStep(cluster, 'api', step({ at: at('2026-06-09T00:00:01Z') }));
  expect((await all(table().byCluster(cluster))).map(({ entry }) => entry.at)).toEqual([at('2026-06-09T00:00:01Z')]);
});

test('rows of other kinds and unreadable ones are passed over (D10-05)', async () => {
  const Item = {
    pk: { S: cluster },
    sk: { S: 'ROT#odd' },
    cluster: { S: cluster },
    time: { S: '2026' },
    kind: { S: 'step' },
  };
  await client.send(new PutItemCommand({ TableName: tableName, Item }));
  expect(await all(table().byCluster(cluster))).toEqual([]);
});

test('making a table that is there leaves it as it is (D10-01)', async () => {
  await table().putStep(cluster, 'api', step());
  await createAuditTable(client, tableName);
  expect(await items()).toHaveLength(1);
});

test('a first call refused for a signature that is too old is made again (PR-101)', async () => {
  const skewed = dynamoDbClient({
    endpoint: database.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
  let calls = 0;
  skewed.middlewareStack.add(
    (next) => async (args) => {
      calls += 1;
      if (calls === 1) {
        const expired = {
          name: 'RequestExpired',
          $fault: 'client',
          $metadata: { httpStatusCode: 400, clockSkewCorrected: true },
        };
        throw Object.assign(new Error('signature expired'), expired);
      }
      return await next(args);
    },
    { step: 'deserialize', priority: 'low' },
  );
  expect(await new AuditTable({ tableName, client: skewed }).putStep(cluster, 'api', step())).toEqual({
    outcome: 'new',
  });
  expect(calls).toBe(2);
  skewed.destroy();
});
