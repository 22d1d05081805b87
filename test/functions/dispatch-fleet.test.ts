import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createHandler } from '../../functions/dispatch/handler.ts';
import { AccountRoles } from '../../lib/adapters/aws/account-roles.ts';
import type { AuditNote } from '../../lib/adapters/aws/audit-note.ts';
import { AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { createAuditTable } from '../../lib/adapters/aws/create-audit-table.ts';
import { DomainEvents } from '../../lib/adapters/aws/domain-events.ts';
import { EksClusters } from '../../lib/adapters/aws/eks-clusters.ts';
import { RegisteredFleet } from '../../lib/adapters/aws/fleet.ts';
import { ClusterRegistry } from '../../lib/adapters/aws/registry-table.ts';
import { RunDesk } from '../../lib/adapters/aws/run-desk.ts';
import { TagDiscovery } from '../../lib/adapters/aws/tag-discovery.ts';
import type { Log } from '../../lib/adapters/aws/tick-log.ts';
import { readTickMessage, SqsTickQueue } from '../../lib/adapters/aws/tick-queue.ts';
import { type EmbeddedTable, startEmbeddedTable } from '../../lib/cli/embedded-table.ts';
import { AwsFake, awsError, taken } from '../support/aws-fake.ts';

const minute = 60_000;
const start = Date.parse('2026-06-09T17:00:00Z');
const scope = { account: '123456789012', region: 'ap-northeast-1' };

let database: EmbeddedTable;
let client: DynamoDBClient;
let aws: AwsFake;
let tableName = '';
let made = 0;
const lines: string[] = [];
const say = (message: string): void => void lines.push(message);
const log: Log = { info: () => {}, warn: say, error: say };

beforeAll(async () => {
  database = await startEmbeddedTable();
  client = dynamoDbClient({
    endpoint: database.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    maxAttempts: 1,
  });
  aws = await AwsFake.start();
});

beforeEach(async () => {
  made += 1;
  tableName = `fleet-${made}`;
  await createAuditTable(client, tableName);
  aws.reset();
  lines.length = 0;
});

afterAll(async () => {
  client.destroy();
  await aws.stop();
  await database.close();
});

/** The dispatch function with every client that it has in Lambda, each speaking to a stand-in. */
function dispatching(over: { tableName?: string } = {}) {
  const clock = { now: start };
  const { endpoint, credentials } = aws.config;
  const asked = { roles: new AccountRoles(), work: 'dispatch', client: { endpoint, credentials } };
  const [source, tags] = [new EksClusters(asked), new TagDiscovery(asked)];
  const table = new AuditTable({ tableName: over.tableName ?? tableName, client, now: () => clock.now });
  const registry = new ClusterRegistry({ client, tableName: over.tableName ?? tableName });
  const events = new DomainEvents('bus', new EventBridgeClient(aws.config));
  const handler = createHandler({
    fleet: new RegisteredFleet({ config: { clusters: [], discovery: [scope] }, registry, table, source, tags, log }),
    queues: new Map([['', new SqsTickQueue('https://sqs.example/1/ticks.fifo', () => {}, new SQSClient(aws.config))]]),
    log,
    desk: new RunDesk({ table, log, events }),
    now: () => clock.now,
  });
  const notes = async (cluster: string): Promise<readonly AuditNote[]> => {
    const list: AuditNote[] = [];
    for await (const note of table.notesOf(cluster)) list.push(note);
    return list;
  };
  return { clock, handler, notes, registry };
}

const schedule = (n = 0) => ({ scheduledTime: new Date(start + n * minute).toISOString() });

function tag(count: number): void {
  aws.tagged = Array.from({ length: count }, (_, n) => `c${n}`);
  for (const name of aws.tagged) aws.clusters.set(name, {});
}

test('500 clusters are ticked in less than five seconds, new or known (D1-01, PR-42)', async () => {
  tag(500);
  const { clock, handler } = dispatching();
  for (let n = 0; n < 5; n += 1) {
    clock.now = start + n * minute;
    expect(await handler(schedule(n))).toEqual({ outcome: 'Sent', sent: 100 * (n + 1), failed: 0 });
  }
  aws.messages.length = 0;
  clock.now = start + 5 * minute;
  const begun = performance.now();
  expect(await handler(schedule(5))).toEqual({ outcome: 'Sent', sent: 500, failed: 0 });
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(new Set(aws.messages.map(({ MessageGroupId }) => MessageGroupId)).size).toBe(500);
}, 60_000);

test('what the queue refuses of a batch is sent again, alone, and then counted (D1-01)', async () => {
  tag(12);
  aws.instead = ({ operation, input }) => {
    if (operation !== 'SendMessageBatch') return undefined;
    const entries = input.Entries as AwsFake['messages'];
    const refused = entries.filter(({ MessageBody }) => MessageBody.includes('"c3"'));
    const kept = entries.filter((entry) => !refused.includes(entry));
    aws.messages.push(...kept);
    const Failed = refused.map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false }));
    return { body: JSON.stringify({ Successful: kept.map(taken), Failed }) };
  };
  const { handler } = dispatching();
  expect(await handler(schedule())).toEqual({ outcome: 'Sent', sent: 11, failed: 1 });
  expect(aws.messages).toHaveLength(11);
  expect(aws.count('SendMessageBatch')).toBe(3);
});

test('a schedule that fires twice sends the same ids, which the queue drops (D1-03, PR-38)', async () => {
  tag(3);
  const { handler } = dispatching();
  await handler(schedule());
  await handler(schedule());
  expect(aws.messages).toHaveLength(6);
  expect(new Set(aws.messages.map(({ MessageDeduplicationId }) => MessageDeduplicationId)).size).toBe(3);
});

test('a table that is not there costs no tick (D10-04)', async () => {
  tag(2);
  const { handler } = dispatching({ tableName: 'missing' });
  expect(await handler(schedule())).toEqual({ outcome: 'Sent', sent: 2, failed: 0 });
});

test('a cluster that was dropped is a row in its history, whichever event found it gone (D9-03, D10-02)', async () => {
  tag(1);
  const { clock, handler, notes } = dispatching();
  await handler(schedule());
  aws.tagged = [];
  aws.clusters.clear();
  for (const n of [6, 22]) {
    clock.now = start + n * minute;
    await handler(request({ time: new Date(clock.now).toISOString(), id: `event-${n}` }));
  }
  const dropped = (await notes(cluster)).filter(({ kind }) => kind === 'cluster');
  expect(dropped.map(({ facts }) => facts)).toEqual([
    { change: 'dropped', reason: 'the cluster does not exist any more', retiredAt: '2026-06-09T17:06:00Z' },
  ]);
});

const cluster = '123456789012/ap-northeast-1/c0';
const detail = { cluster, action: 'tick', reason: 'a look', requestedBy: 'alice' };
const request = (over: object = {}) => ({
  source: 'noderotation.manual',
  'detail-type': 'Rotation Run Requested',
  id: 'event-1',
  account: '999988887777',
  time: new Date(start).toISOString(),
  detail,
  ...over,
});

test('a request is written down at once, with the account of the event, and sent once however often it comes (D12-01, D12-03)', async () => {
  tag(1);
  const { handler, notes } = dispatching();
  expect(await handler(request())).toEqual({ outcome: 'Sent', sent: 1, failed: 0 });
  await handler(request());
  expect(await notes(cluster)).toMatchObject([
    {
      key: 'RUN#2026-06-09T17:00:00Z#event-1#requested',
      facts: { account: '999988887777', action: 'tick', reason: 'a look', requestedByAsClaimed: 'alice' },
    },
  ]);
  expect(new Set(aws.messages.map(({ MessageDeduplicationId }) => MessageDeduplicationId)).size).toBe(1);
  expect(readTickMessage(aws.messages[0]?.MessageBody ?? '')).toMatchObject({ run: { id: 'event-1', action: 'tick' } });
  expect(aws.events).toEqual([]);
});

const answers = (): readonly unknown[] => aws.events.map(({ Detail }) => JSON.parse(Detail));

test.each([
  ['nothing', {}, [/^cluster: /, /^action: /, /^reason: /, /^requestedBy: /]],
  ['no object', 'all of them', [/^detail: /]],
  ['rotate without a claim', { ...detail, action: 'rotate' }, [/^nodeClaim: rotate names one/]],
  ['plan without a pool', { ...detail, action: 'plan' }, [/^nodePool: plan names one/]],
  ['a window for a tick', { ...detail, ignoreWindow: true }, [/^ignoreWindow: /]],
  ['an unknown field', { ...detail, force: true }, [/force/]],
  ['a short key', { ...detail, cluster: 'c0' }, [/^cluster: expected account\/region\/name/]],
  ['a megabyte', { ...detail, reason: 'x'.repeat(1_000_000) }, [/at most 16384 are read/]],
])('a request with %s is refused with every problem named, and answered once (D12-04)', async (_, half, problems) => {
  tag(1);
  const { handler, notes } = dispatching();
  expect(await handler(request({ detail: half }))).toEqual({ outcome: 'Refused', sent: 0, failed: 0 });
  await handler(request({ detail: half }));
  expect(aws.messages).toEqual([]);
  expect(answers()).toMatchObject([{ outcome: 'Refused', refusal: 'Malformed' }]);
  const [{ message, cluster: kept }] = answers() as [{ message: string; cluster: string }];
  for (const problem of problems) expect(message.split('; ')).toContainEqual(expect.stringMatching(problem));
  expect((await notes(kept)).map(({ facts }) => facts.event).toSorted()).toEqual(['answered', 'requested']);
});

test('a cluster that is not ticked is refused by name (D12-03)', async () => {
  tag(1);
  const { handler } = dispatching();
  const unknown = { ...detail, cluster: '123456789012/ap-northeast-1/other' };
  expect(await handler(request({ detail: unknown }))).toMatchObject({ outcome: 'Refused' });
  expect(answers()).toMatchObject([{ refusal: 'UnknownCluster', message: expect.stringContaining('/other') }]);
});

test('a request that comes after its ten minutes is answered Expired (D1-02, D12-03)', async () => {
  tag(1);
  const { clock, handler } = dispatching();
  clock.now = start + 10 * minute + 1;
  expect(await handler(request())).toMatchObject({ outcome: 'Expired' });
  expect(aws.events.map(({ DetailType }) => DetailType)).toEqual(['Rotation Run Answered']);
  expect(answers()).toMatchObject([{ outcome: 'Expired' }]);
});

test('a request that the queue does not take comes again (D12-03)', async () => {
  tag(1);
  const { handler } = dispatching();
  aws.instead = ({ operation }) => (operation === 'SendMessageBatch' ? awsError('InternalFailure', 500) : undefined);
  await expect(handler(request())).rejects.toThrow(/did not take the manual run event-1/);
  aws.instead = () => undefined;
  expect(await handler(request())).toMatchObject({ outcome: 'Sent' });
});
