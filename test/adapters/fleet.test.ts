import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { AccountRoles, sessionName } from '../../lib/adapters/aws/account-roles.ts';
import type { AuditNote } from '../../lib/adapters/aws/audit-note.ts';
import { AuditTable, dynamoDbClient, type PutOutcome } from '../../lib/adapters/aws/audit-table.ts';
import { type FleetConfig, readFleet } from '../../lib/adapters/aws/cluster-registry.ts';
import { createAuditTable } from '../../lib/adapters/aws/create-audit-table.ts';
import { EksClusters } from '../../lib/adapters/aws/eks-clusters.ts';
import { RegisteredFleet, type RegisteredFleetOptions } from '../../lib/adapters/aws/fleet.ts';
import { ClusterRegistry } from '../../lib/adapters/aws/registry-table.ts';
import { TagDiscovery } from '../../lib/adapters/aws/tag-discovery.ts';
import type { Log } from '../../lib/adapters/aws/tick-log.ts';
import { type EmbeddedTable, startEmbeddedTable } from '../../lib/cli/embedded-table.ts';
import { add, type Instant, minutes } from '../../lib/domain/time.ts';
import { AwsFake, awsError } from '../support/aws-fake.ts';
import { at } from '../support/builders.ts';

const account = '123456789012';
const key = (name: string): string => `${account}/ap-northeast-1/${name}`;
const start = at('2026-06-09T17:00:00Z');
const tagScope = { account, region: 'ap-northeast-1' };

let database: EmbeddedTable;
let client: DynamoDBClient;
let aws: AwsFake;
let registry: ClusterRegistry;
let table: AuditTable;
let made = 0;
let tableName = '';
let lines: string[] = [];
const say = (message: string): void => void lines.push(message);
const log: Log = { info: say, warn: say, error: say };

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
  tableName = `registry-${made}`;
  table = new AuditTable({ tableName, client, retentionDays: 0 });
  await createAuditTable(client, tableName);
  registry = new ClusterRegistry({ client, tableName });
  aws.reset();
  lines = [];
});

afterAll(async () => {
  client.destroy();
  await aws.stop();
  await database.close();
});

function fleetOf(config: Partial<FleetConfig>, over: Partial<RegisteredFleetOptions> = {}): RegisteredFleet {
  const { endpoint, credentials, maxAttempts } = aws.config;
  const roles = new AccountRoles({ client: new STSClient(aws.config) });
  const asked = { roles, work: 'dispatch', client: { endpoint, credentials, maxAttempts } };
  return new RegisteredFleet({
    config: { clusters: [], discovery: [], ...config },
    registry,
    table,
    source: new EksClusters(asked),
    tags: new TagDiscovery(asked),
    log,
    ...over,
  });
}

const listed = (name: string, over: object = {}) => ({ account, region: 'ap-northeast-1', name, ...over });
const names = async (fleet: RegisteredFleet, now: Instant): Promise<readonly string[]> =>
  (await fleet.survey(now)).targets.map(({ name }) => name).toSorted();
const dropped = async (name: string): Promise<readonly AuditNote[]> => {
  const rows: AuditNote[] = [];
  for await (const row of table.notesOf(key(name))) rows.push(row);
  return rows;
};
const later = (n: number): Instant => add(start, minutes(n));

test('a listed cluster is asked for once in a quarter of an hour, and kept in the table (D9-02)', async () => {
  aws.clusters.set('prod', {});
  const fleet = fleetOf({ clusters: [listed('prod')] });
  expect((await fleet.survey(start)).targets).toEqual([
    listed('prod', { endpoint: 'https://prod.eks.example', certificateAuthority: 'QUJD' }),
  ]);
  for (let n = 1; n < 12; n += 1) await fleet.survey(later(n));
  expect(aws.count('DescribeCluster')).toBe(1);
  expect(await names(fleetOf({ clusters: [listed('prod')] }), later(11))).toEqual(['prod']);
  expect(aws.count('DescribeCluster')).toBe(1);
  await fleet.survey(later(15));
  expect(aws.count('DescribeCluster')).toBe(2);
});

test('a cluster with endpoint and certificate authority is ticked without asking EKS (D9-03, PR-92)', async () => {
  const given = { endpoint: 'https://given.example', certificateAuthority: 'QUJD' };
  const { targets } = await fleetOf({ clusters: [listed('own', given)] }).survey(start);
  expect(targets).toEqual([listed('own', { ...given, configured: true })]);
  expect(aws.calls).toEqual([]);
});

test('tagged clusters are found page after page, each with an answer of its own (D9-03)', async () => {
  aws.tagged = Array.from({ length: 7 }, (_, n) => `c${n}`);
  aws.pageSize = 3;
  for (const name of aws.tagged) aws.clusters.set(name, {});
  expect(await names(fleetOf({ discovery: [tagScope] }), start)).toEqual(aws.tagged);
  expect(aws.count('GetResources')).toBe(3);
  expect(aws.calls[0]?.input).toMatchObject({
    ResourceTypeFilters: ['eks:cluster'],
    TagFilters: [{ Key: 'noderotation.io/enabled', Values: ['true'] }],
  });
});

test.each([
  ['ACTIVE', ['prod']],
  ['UPDATING', ['prod']],
  ['CREATING', []],
  ['DELETING', []],
  ['FAILED', []],
])('a cluster that is %s makes the ticks %j (D9-03)', async (status, ticked) => {
  aws.clusters.set('prod', { status });
  const fleet = fleetOf({ clusters: [listed('prod')] });
  expect(await names(fleet, start)).toEqual(ticked);
});

test('a cluster in the making is looked at again within minutes (D9-03)', async () => {
  aws.clusters.set('new', { status: 'CREATING' });
  const fleet = fleetOf({ clusters: [listed('new')] });
  await fleet.survey(start);
  aws.clusters.set('new', {});
  expect(await names(fleet, later(1))).toEqual([]);
  expect(await names(fleet, later(2))).toEqual(['new']);
});

test('only so many clusters are asked for in a minute, the known ones first (D9-03)', async () => {
  aws.tagged = Array.from({ length: 130 }, (_, n) => `c${n}`);
  for (const name of aws.tagged) aws.clusters.set(name, {});
  const fleet = fleetOf({ discovery: [tagScope] });
  expect(await names(fleet, start)).toHaveLength(100);
  expect(await names(fleet, later(1))).toHaveLength(130);
  expect(aws.count('DescribeCluster')).toBe(130);
});

test('EKS that says 429 is left alone for a while; known clusters are ticked with what was known (D9-02, PR-94)', async () => {
  aws.clusters.set('prod', {});
  const fleet = fleetOf({ clusters: [listed('prod')] });
  await fleet.survey(start);
  aws.instead = ({ operation }) => (operation === 'DescribeCluster' ? awsError('ThrottlingException', 429) : undefined);
  const before = aws.count('DescribeCluster');
  for (let n = 15; n < 30; n += 1) expect(await names(fleet, later(n))).toEqual(['prod']);
  expect(aws.count('DescribeCluster') - before).toBe(4);
  aws.instead = () => undefined;
  expect(await names(fleet, later(45))).toEqual(['prod']);
});

test('requests that EKS refuses side by side are one refusal: a minute later it is asked again (D9-02, PR-94)', async () => {
  aws.instead = ({ operation }) => (operation === 'DescribeCluster' ? awsError('ThrottlingException', 429) : undefined);
  const fleet = fleetOf({ clusters: ['a', 'b', 'c', 'd', 'e'].map((name) => listed(name)) });
  const asked: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    const before = aws.count('DescribeCluster');
    await fleet.survey(later(n));
    if (aws.count('DescribeCluster') > before) asked.push(n);
  }
  expect(asked).toEqual([0, 1, 3, 7]);
});

test('a discovery that fails retires nothing (D9-03)', async () => {
  aws.tagged = ['prod'];
  aws.clusters.set('prod', {});
  await fleetOf({ discovery: [tagScope] }).survey(start);
  aws.instead = ({ operation }) =>
    operation === 'GetResources' ? awsError('InternalServiceException', 500) : undefined;
  const { targets } = await fleetOf({ discovery: [tagScope] }).survey(later(1));
  expect(targets).toMatchObject([{ name: 'prod' }]);
  expect(targets[0]).not.toHaveProperty('retired');
});

test('a cluster that loses its tag is retired, ticked until it is clean, then dropped with a row (D9-03)', async () => {
  aws.tagged = ['prod'];
  aws.clusters.set('prod', {});
  await registry.tickEnded(key('prod'), { at: start, outcome: 'Ok', clean: true });
  const fleet = fleetOf({ discovery: [tagScope] });
  await fleet.survey(start);
  aws.tagged = [];
  expect((await fleet.survey(later(6))).targets).toMatchObject([{ name: 'prod', retired: true }]);
  await registry.tickEnded(key('prod'), { at: later(6), outcome: 'Ok', clean: false });
  expect((await fleet.survey(later(7))).targets).toMatchObject([{ name: 'prod', retired: true }]);
  await registry.tickEnded(key('prod'), { at: later(7), outcome: 'Ok', clean: true });
  const { targets } = await fleet.survey(later(8));
  expect(targets).toEqual([]);
  expect(await dropped('prod')).toEqual([
    {
      cluster: key('prod'),
      kind: 'cluster',
      at: later(8),
      key: 'CLUSTER#2026-06-09T17:06:00Z#dropped',
      facts: {
        change: 'dropped',
        reason: 'nothing of ours is left on the cluster',
        retiredAt: '2026-06-09T17:06:00Z',
      },
    },
  ]);
  expect(await registry.all()).toEqual([]);
});

/** The process ends before anything is forgotten. */
class Dying extends ClusterRegistry {
  override drop(): Promise<never> {
    return Promise.reject(new Error('ended'));
  }
}

test('a retired cluster is forgotten only once its row is in the table, which it is once (D10-04, D9-03)', async () => {
  aws.clusters.set('prod', {});
  await fleetOf({ clusters: [listed('prod')] }).survey(start);
  await fleetOf({}).survey(later(1));
  aws.clusters.clear();
  const failed: PutOutcome = { outcome: 'failed', throttled: true, detail: 'slow down' };
  await fleetOf({}, { table: { putNote: async () => failed } }).survey(later(16));
  expect(await registry.all()).toHaveLength(1);
  await fleetOf({}, { registry: new Dying({ client, tableName }) }).survey(later(17));
  expect(await registry.all()).toHaveLength(1);
  await fleetOf({}).survey(later(18));
  expect(await registry.all()).toEqual([]);
  expect(await dropped('prod')).toMatchObject([{ at: later(17) }]);
});

test('a retired cluster that comes back is as before (D9-03)', async () => {
  aws.clusters.set('prod', {});
  await fleetOf({ clusters: [listed('prod')] }).survey(start);
  expect((await fleetOf({}).survey(later(1))).targets).toMatchObject([{ retired: true }]);
  const { targets } = await fleetOf({ clusters: [listed('prod')] }).survey(later(2));
  expect(targets).toHaveLength(1);
  expect(targets[0]).not.toHaveProperty('retired');
});

test.each([
  ['is gone', 16, true, 'the cluster does not exist any more'],
  ['is not reached for a day', 24 * 60 + 1, false, 'no tick has reached the cluster for a day'],
])('a retired cluster that %s is dropped, too (D9-03)', async (_, minute, gone, reason) => {
  aws.clusters.set('prod', {});
  await fleetOf({ clusters: [listed('prod')] }).survey(start);
  await fleetOf({}).survey(later(1));
  if (gone) aws.clusters.delete('prod');
  await fleetOf({}).survey(later(minute));
  expect((await dropped('prod')).map(({ facts }) => facts.reason)).toEqual([reason]);
});

test('a table that does not answer stops no tick and retires nothing (D10-04, D1-05)', async () => {
  aws.clusters.set('prod', {});
  const missing = new ClusterRegistry({ client, tableName: 'missing' });
  const fleet = fleetOf({ clusters: [listed('prod')] }, { registry: missing });
  expect(await fleet.survey(start)).toMatchObject({ targets: [{ name: 'prod' }] });
  const second = await fleet.survey(later(1));
  expect(second.targets).toMatchObject([{ name: 'prod' }]);
  expect(second).not.toHaveProperty('health');
  expect(lines).toContainEqual(expect.stringContaining('could not be read'));
});

test('the fleet knows how long each cluster has waited for a good tick, retired ones left out (D11-01)', async () => {
  for (const name of ['a', 'b', 'c']) aws.clusters.set(name, {});
  await fleetOf({ clusters: [listed('a'), listed('b'), listed('c')] }).survey(start);
  await registry.tickEnded(key('a'), { at: later(9), outcome: 'Ok', clean: false });
  await registry.tickEnded(key('b'), { at: later(9), outcome: 'AuthFailed', clean: false });
  const { health } = await fleetOf({ clusters: [listed('a'), listed('b')] }).survey(later(10));
  expect(health).toEqual({ clusters: 2, stale: 1, longestLag: minutes(10) });
});

test('a cluster of another account is entered through its role, with external id and a short session name (D9-03)', async () => {
  const roleArn = 'arn:aws:iam::210987654321:role/node-rotation';
  aws.clusters.set('x', {});
  aws.clusters.set('y', {});
  const other = { account: '210987654321', roleArn, externalId: 'ours' };
  const { targets } = await fleetOf({ clusters: [listed('x', other), listed('y', other)] }).survey(start);
  expect(targets).toMatchObject([other, other]);
  const assumed = aws.calls.filter(({ operation }) => operation === 'AssumeRole');
  expect(assumed.map(({ input }) => input)).toMatchObject([
    { RoleArn: roleArn, ExternalId: 'ours', RoleSessionName: 'node-rotation-dispatch' },
  ]);
  const described = aws.calls.filter(({ operation }) => operation === 'DescribeCluster');
  expect(described.every(({ authorization }) => authorization.includes('ASIA210987654321'))).toBe(true);
});

test('a session name never has more than 64 characters, nor odd ones (D9-03)', () => {
  expect(sessionName('x'.repeat(100))).toHaveLength(64);
  expect(sessionName('a b/c')).toBe('node-rotation-a-b-c');
});

test('a role that may not be assumed leaves its clusters out and is told; the others are ticked (D9-03, PR-90)', async () => {
  aws.clusters.set('own', {});
  aws.clusters.set('x', {});
  aws.instead = ({ operation }) =>
    operation === 'AssumeRole'
      ? {
          status: 403,
          body: '<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>',
        }
      : undefined;
  const roleArn = 'arn:aws:iam::210987654321:role/node-rotation';
  const clusters = [listed('own'), listed('x', { account: '210987654321', roleArn })];
  expect(await names(fleetOf({ clusters }), start)).toEqual(['own']);
  expect(lines).toEqual([expect.stringContaining('EKS could not be asked')]);
});

test('what came late or twice does not overwrite what came later (D1-03, D11-07)', async () => {
  const row = key('prod');
  expect(await registry.tickEnded(row, { at: later(2), outcome: 'Timeout', clean: false })).toEqual(
    expect.objectContaining({ lastTickAt: undefined }),
  );
  expect(await registry.tickEnded(row, { at: later(2), outcome: 'Timeout', clean: false })).toBeUndefined();
  expect(await registry.tickEnded(row, { at: later(1), outcome: 'Ok', clean: false })).toBeUndefined();
  expect(await registry.tickEnded(row, { at: later(3), outcome: 'Ok', clean: false })).toMatchObject({
    lastOutcome: 'Timeout',
    failingSince: later(2),
    failures: 1,
  });
});

test('150 clusters are read, in less than a file needs to be large (PR-91)', () => {
  const clusters = Array.from({ length: 150 }, (_, n) => ({ region: 'eu-west-1', name: `cluster-${n}` }));
  expect(readFleet({ clusters }, account)).toMatchObject({ valid: true });
});

test('every problem of a configured fleet is named with its path (D9-03)', () => {
  const listedTwice = { region: 'eu-west-1', name: 'a' };
  const problemsOf = (json: unknown): readonly string[] => {
    const reading = readFleet(json, account);
    return reading.valid ? [] : reading.problems.map(({ path, problem }) => `${path}: ${problem}`);
  };
  expect(problemsOf([listedTwice, listedTwice])).toEqual([`${account}/eu-west-1/a: this cluster is listed twice`]);
  expect(problemsOf({ clusters: [{ region: 'Tokyo', name: '' }], discover: [] })).toEqual([
    expect.stringMatching(/^clusters\.0\.region: /),
    expect.stringMatching(/^clusters\.0\.name: /),
    expect.stringMatching(/discover/),
  ]);
  expect(problemsOf([{ ...listedTwice, endpoint: 'https://x' }])).toEqual([expect.stringContaining('together')]);
  const roleArn = 'arn:aws:iam::210987654321:role/r';
  expect(problemsOf([{ ...listedTwice, account, roleArn }])).toEqual([expect.stringContaining('another account')]);
});
