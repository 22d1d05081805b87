import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import { createHandler } from '../../functions/reconcile/handler.ts';
import { AccountRoles } from '../../lib/adapters/aws/account-roles.ts';
import type { AuditNote } from '../../lib/adapters/aws/audit-note.ts';
import { type AuditRow, AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { type ClusterTarget, clusterKey } from '../../lib/adapters/aws/cluster-registry.ts';
import { createAuditTable } from '../../lib/adapters/aws/create-audit-table.ts';
import { DomainEvents } from '../../lib/adapters/aws/domain-events.ts';
import { EksClusters } from '../../lib/adapters/aws/eks-clusters.ts';
import type { ManualRun } from '../../lib/adapters/aws/manual-run.ts';
import { metricNames } from '../../lib/adapters/aws/metric-names.ts';
import { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import { NoteKeeper } from '../../lib/adapters/aws/note-keeper.ts';
import { ClusterRegistry } from '../../lib/adapters/aws/registry-table.ts';
import { RunDesk } from '../../lib/adapters/aws/run-desk.ts';
import type { Log } from '../../lib/adapters/aws/tick-log.ts';
import { queueEntry } from '../../lib/adapters/aws/tick-queue.ts';
import { ToldFindings } from '../../lib/adapters/aws/told-findings.ts';
import { type Connection, connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { type EmbeddedTable, startEmbeddedTable } from '../../lib/cli/embedded-table.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../lib/cli/local/embedded-cluster.ts';
import { add, type Instant, minutes, subtract } from '../../lib/domain/time.ts';
import { AwsFake, awsError } from '../support/aws-fake.ts';
import { makeCertificate } from '../support/https-fake.ts';
import { oneDueNode, opens } from '../support/story.ts';

let database: EmbeddedTable;
let aws: AwsFake;
let client: DynamoDBClient;
let cluster: EmbeddedCluster;
let tableName = '';
let made = 0;
let down = false;
let lines: string[] = [];
let emitted: Record<string, unknown>[] = [];
const connections: Connection[] = [];
const context = { getRemainingTimeInMillis: () => 50_000 };

beforeAll(async () => {
  database = await startEmbeddedTable();
  aws = await AwsFake.start();
});

beforeEach(async () => {
  made += 1;
  tableName = `reconcile-${made}`;
  client = dynamoDbClient({
    endpoint: database.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    maxAttempts: 1,
  });
  await createAuditTable(client, tableName);
  client.middlewareStack.add(
    (next) => (args) =>
      down
        ? Promise.reject(Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' }))
        : next(args),
    { step: 'finalizeRequest', priority: 'low' },
  );
  aws.reset();
  down = false;
  lines = [];
  emitted = [];
  cluster = await startEmbeddedCluster({ startsAt: opens, fleet: oneDueNode });
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.spyOn(console, 'log').mockImplementation((line: string) => void emitted.push(JSON.parse(line)));
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const connection of connections.splice(0)) connection.close();
  await cluster.stop();
  client.destroy();
});

afterAll(async () => {
  await aws.stop();
  await database.close();
});

const key = (): string => clusterKey(cluster.target);

/** The reconcile function with every client that it has in Lambda, each speaking to a stand-in. */
function reconciling() {
  const say = (message: string): void => void lines.push(message);
  const log: Log = { info: () => {}, warn: say, error: say };
  const table = new AuditTable({ tableName, client, retentionDays: 0 });
  const registry = new ClusterRegistry({ client, tableName });
  const events = new DomainEvents('bus', new EventBridgeClient(aws.config));
  const { endpoint, credentials } = aws.config;
  const handler = createHandler({
    connect: (target) => {
      const { token } = cluster.access;
      const connection = connectToEndpoint(target, { token: async () => token, renew: async () => token });
      connections.push(connection);
      return connection;
    },
    table,
    log,
    metrics: new TickMetrics(),
    events,
    source: new EksClusters({
      roles: new AccountRoles(),
      work: 'reconcile',
      client: { endpoint, credentials, maxAttempts: 1 },
    }),
    registry,
    notes: new NoteKeeper({ table, registry, told: new ToldFindings({ client, tableName }), log }),
    desk: new RunDesk({ table, log, events }),
    placeholder: defaultPlaceholder,
    now: () => cluster.world.now,
  });
  const tick = (at: Instant = cluster.world.now, target: ClusterTarget = cluster.target) =>
    handler({ Records: [{ body: queueEntry({ cluster: target, scheduledAt: at }).body }] }, context);
  const run = async (over: Partial<ManualRun>, target: ClusterTarget = cluster.target) => {
    const { now } = cluster.world;
    const asked: ManualRun = {
      id: 'event-1',
      account: '999988887777',
      requestedAt: now,
      cluster: key(),
      action: 'tick',
      reason: 'kernel fix',
      requestedBy: 'alice',
      ...over,
    };
    const { body } = queueEntry({ cluster: target, scheduledAt: asked.requestedAt, run: asked });
    return (await handler({ Records: [{ body }] }, context)).ticks[0];
  };
  return { tick, run, registry, table };
}

async function all<T>(rows: AsyncGenerator<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

const steps = async (table: AuditTable): Promise<readonly string[]> =>
  (await all<AuditRow>(table.byCluster(key()))).map(({ entry }) => entry.step);
const notes = (table: AuditTable): Promise<readonly AuditNote[]> => all(table.notesOf(key()));
const events = (): readonly string[] => aws.events.map(({ DetailType }) => DetailType);
const forward = (n = 1): void => void cluster.world.advance(add(cluster.world.now, minutes(n)));
const claimNames = (): readonly string[] => cluster.world.store.all('NodeClaim').map(({ metadata }) => metadata.name);
const health = async (registry: ClusterRegistry) => {
  await registry.describe(key(), {
    ...cluster.target,
    via: 'list',
    configured: true,
    status: 'ACTIVE',
    describedAt: opens,
  });
  return (await registry.all())[0]?.health;
};

const whole = ['started', 'draining', 'completed'];
const told = ['Rotation Started', 'Rotation Draining', 'Rotation Completed'];
const successes = (): number =>
  emitted.filter((line) => line.outcome === 'success' && line[metricNames.completed] === 1).length;

test('every message twice at once, and again late and out of order: nothing is lost and nothing doubled (D1-03, D10-03, D7-09, PR-38)', async () => {
  const { tick, table, registry } = reconciling();
  for (let n = 0; n < 35; n += 1) {
    const { now } = cluster.world;
    await Promise.all([tick(now), tick(now)]);
    await tick(subtract(now, minutes(2)));
    forward();
  }
  expect(await steps(table)).toEqual(whole);
  expect(events()).toEqual(told);
  expect(successes()).toBe(1);
  expect(await health(registry)).toMatchObject({
    lastOutcome: 'Ok',
    lastOkAt: subtract(cluster.world.now, minutes(1)),
  });
}, 60_000);

test('a database that throttles for ten minutes loses no row, doubles none, and holds up no rotation (D10-04)', async () => {
  const { tick, table } = reconciling();
  for (let n = 0; n < 35; n += 1) {
    down = n >= 1 && n < 11;
    await tick();
    forward();
  }
  expect(await steps(table)).toEqual(whole);
  expect(events()).toEqual(told);
  expect(successes()).toBe(1);
  expect((await notes(table)).filter(({ kind }) => kind === 'policy')).toHaveLength(1);
  expect(lines).toContainEqual('The outcome of a tick could not be kept in the registry');
}, 60_000);

const wrongTrust = async (): Promise<ClusterTarget> => ({
  ...cluster.target,
  certificateAuthority: Buffer.from((await makeCertificate()).cert).toString('base64'),
});

test('a certificate authority that has changed is asked for once, and the tick goes on (D9-02, PR-113)', async () => {
  const { tick, registry } = reconciling();
  await health(registry);
  const { endpoint, certificateAuthority, name } = cluster.target;
  aws.clusters.set(name, { endpoint, certificateAuthority });
  expect(await tick(opens, await wrongTrust())).toMatchObject({ ticks: [{ outcome: 'Ok' }] });
  expect(aws.count('DescribeCluster')).toBe(1);
  const [row] = await registry.all();
  expect(row?.description.certificateAuthority).toBe(certificateAuthority);
  expect(emitted.filter((line) => metricNames.tickFailed in line)).toMatchObject([{ [metricNames.tickFailed]: 0 }]);
});

test.each([
  ['knows no other', {}],
  ['is not to be asked', { configured: true }],
  ['does not answer', { name: 'unknown' }],
])('a certificate that is not trusted stays TlsFailed where EKS %s (D9-02)', async (_, over) => {
  const { tick } = reconciling();
  const target = { ...(await wrongTrust()), ...over };
  const { endpoint, certificateAuthority } = target;
  aws.clusters.set(cluster.target.name, { endpoint, certificateAuthority });
  if (target.name === 'unknown') aws.instead = () => awsError('ThrottlingException', 429);
  expect(await tick(opens, target)).toMatchObject({ ticks: [{ outcome: 'TlsFailed' }] });
  expect(aws.count('DescribeCluster')).toBe(target.configured ? 0 : 1);
});

test('a streak of failed ticks is two rows, its first and the one that ends it (D10-02, D11-07)', async () => {
  const { tick, table, registry } = reconciling();
  const nowhere = { ...cluster.target, endpoint: 'https://127.0.0.1:1', configured: true };
  for (let n = 0; n < 3; n += 1) {
    await tick(cluster.world.now, nowhere);
    forward();
  }
  expect(await health(registry)).toMatchObject({ lastOutcome: 'Unreachable', failures: 3, failingSince: opens });
  await tick();
  expect((await notes(table)).filter(({ kind }) => kind === 'tick')).toMatchObject([
    { key: 'TICK#2026-06-09T17:00:00Z#failing', facts: { outcome: 'Unreachable' } },
    { key: 'TICK#2026-06-09T17:00:00Z#recovered', facts: { failures: 3, lastOutcome: 'Unreachable' } },
  ]);
});

test('a policy is a row when it is first seen and when it changes, whoever asks again (D10-02)', async () => {
  const { tick, table } = reconciling();
  await tick();
  forward();
  await reconciling().tick();
  const [policy] = cluster.world.store.all('RotationPolicy');
  const name = policy?.metadata.name ?? '';
  cluster.world.store.patch({ kind: 'RotationPolicy', name }, { spec: { minRotationChances: 1 } });
  forward();
  await tick();
  const seen = (await notes(table)).filter(({ kind }) => kind === 'policy');
  expect(seen.map(({ facts }) => [facts.policy, facts.generation, facts.status])).toEqual([
    [name, 1, 'Valid'],
    [name, 2, 'Valid'],
  ]);
  expect(seen[0]?.facts.hash).not.toBe(seen[1]?.facts.hash);
});

test('a finding is a row when it opens and when it closes (D10-02)', async () => {
  const { tick, table } = reconciling();
  cluster.world.store.patch(
    { kind: 'NodePool', name: 'api' },
    { metadata: { annotations: { 'noderotation.io/freeze': 'soon' } } },
  );
  await tick();
  cluster.world.store.patch(
    { kind: 'NodePool', name: 'api' },
    { metadata: { annotations: { 'noderotation.io/freeze': null } } },
  );
  forward();
  await tick();
  const freeze = (await notes(table)).filter(({ facts }) => facts.code === 'FreezeMalformed');
  expect(freeze).toMatchObject([
    { kind: 'finding', nodePool: 'api', at: opens, facts: { change: 'opened', on: 'NodePool/api', severity: 'warn' } },
    { kind: 'finding', nodePool: 'api', at: add(opens, minutes(1)), facts: { change: 'closed' } },
  ]);
});

test('a retired cluster is clean once nothing of ours is left on it (D9-03)', async () => {
  const { tick, registry } = reconciling();
  await tick();
  expect(claimNames().length).toBeGreaterThan(0);
  forward();
  const retired = { ...cluster.target, retired: true };
  await tick(cluster.world.now, retired);
  expect((await health(registry))?.cleanAt).toBeUndefined();
  for (let n = 0; n < 6; n += 1) {
    forward();
    await tick(cluster.world.now, retired);
  }
  expect((await health(registry))?.cleanAt).toBe(cluster.world.now);
});

const answers = (): readonly Record<string, unknown>[] =>
  aws.events.filter(({ DetailType }) => DetailType === 'Rotation Run Answered').map(({ Detail }) => JSON.parse(Detail));

test('a run for one NodeClaim starts it outside the window when it says so, and answers (D12-01, D12-02, D12-03)', async () => {
  const { run, table, tick } = reconciling();
  forward(6 * 60);
  const young = claimNames().at(-1) ?? '';
  expect(await run({ action: 'rotate', nodeClaim: young })).toMatchObject({
    outcome: 'Refused',
    detail: expect.stringContaining('the next window opens at'),
  });
  const started = await run({ id: 'event-2', action: 'rotate', nodeClaim: young, ignoreWindow: true });
  expect(started).toMatchObject({ outcome: 'Started' });
  expect(answers()).toMatchObject([
    { run: 'event-1', outcome: 'Refused', refusal: 'OutOfWindow', nodeClaim: young },
    { run: 'event-2', outcome: 'Started', nodeClaim: young },
  ]);
  const [first] = await all<AuditRow>(table.byCluster(key()));
  expect(first?.entry).toMatchObject({
    step: 'started',
    claim: young,
    reason: expect.stringContaining('alice (as claimed)'),
  });
  for (let n = 0; n < 30; n += 1) {
    forward();
    await tick();
  }
  expect(await steps(table)).toEqual(whole);
  expect(claimNames()).not.toContain(young);
}, 30_000);

test('a run that comes twice is made and answered once (D12-03, D1-03)', async () => {
  const { run, table } = reconciling();
  expect(await run({})).toMatchObject({ outcome: 'Done' });
  expect(await run({ requestedAt: opens })).toMatchObject({ outcome: 'AnsweredBefore' });
  expect(answers()).toHaveLength(1);
  const rows = (await notes(table)).filter(({ kind }) => kind === 'run');
  expect(rows.map(({ facts }) => facts.event).toSorted()).toEqual(['answered', 'requested']);
});

test.each([
  ['a NodeClaim of another cluster', { action: 'rotate', nodeClaim: 'elsewhere' }, 'UnknownNodeClaim'],
  ['a NodePool that is not there', { action: 'plan', nodePool: 'elsewhere' }, 'UnknownNodePool'],
  ['a tick of a NodePool that is not there', { action: 'tick', nodePool: 'elsewhere' }, 'UnknownNodePool'],
] as const)('%s is refused by name (D12-03)', async (_, over, refused) => {
  const { run } = reconciling();
  expect(await run(over)).toMatchObject({ outcome: 'Refused', detail: expect.stringContaining('elsewhere') });
  expect(answers()).toMatchObject([{ refusal: refused }]);
  expect(emitted).toContainEqual(expect.objectContaining({ outcome: 'Refused', [metricNames.manualRuns]: 1 }));
});

test.each(['tick', 'plan', 'rotate'] as const)(
  'a run that asks a cluster that is not reached for a %s is told so (D12-03, D1-05)',
  async (action) => {
    const { run } = reconciling();
    const over = { tick: {}, plan: { nodePool: 'api' }, rotate: { nodeClaim: 'api-1' } }[action];
    const nowhere = { ...cluster.target, endpoint: 'https://127.0.0.1:1' };
    expect(await run({ action, ...over }, nowhere)).toMatchObject({ outcome: 'Refused' });
    expect(answers()).toMatchObject([{ refusal: 'Unreachable' }]);
  },
);

test('a run older than ten minutes is Expired, one of ten minutes is answered (D1-02, D12-03)', async () => {
  const { run } = reconciling();
  const { now } = cluster.world;
  expect(await run({ id: 'late', requestedAt: subtract(now, minutes(10.1)) })).toMatchObject({ outcome: 'Expired' });
  expect(await run({ id: 'just', requestedAt: subtract(now, minutes(10)) })).toMatchObject({ outcome: 'Done' });
});

test('a plan answers the pool’s document and writes nothing (D12-02, D13-02)', async () => {
  const { run, table } = reconciling();
  const before = JSON.stringify(cluster.world.store.all('NodePool'));
  expect(await run({ action: 'plan', nodePool: 'api' })).toMatchObject({ outcome: 'Done' });
  const plan = JSON.parse(String(answers()[0]?.plan));
  expect(plan).toMatchObject({ name: 'api', gates: expect.any(Array), claims: expect.any(Array), rotation: null });
  expect(JSON.stringify(cluster.world.store.all('NodePool'))).toBe(before);
  expect(await steps(table)).toEqual([]);
});

test('a table that is down costs a run its row, not its answer (D10-04, D12-03)', async () => {
  const { run } = reconciling();
  down = true;
  expect(await run({})).toMatchObject({ outcome: 'Done' });
  expect(answers()).toHaveLength(1);
  expect(lines).toContainEqual('The answer to a manual run could not be kept');
});
