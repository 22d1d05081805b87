import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { keepConnections } from '../../functions/reconcile/connections.ts';
import { defaultPlaceholder, readEnvironment, variables } from '../../functions/reconcile/environment.ts';
import { createHandler, type ReconcileDependencies } from '../../functions/reconcile/handler.ts';
import { AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import type { ClusterTarget } from '../../lib/adapters/aws/cluster-registry.ts';
import { queueEntry } from '../../lib/adapters/aws/tick-queue.ts';
import { type Connection, connectToEndpoint, UnusableConnection } from '../../lib/adapters/kubernetes/connection.ts';
import { at } from '../support/builders.ts';
import { HttpsFake, statusBody } from '../support/https-fake.ts';

const observed = at('2026-06-09T17:00:10Z');
const date = { Date: 'Tue, 09 Jun 2026 17:00:10 GMT' };
const tokens = { token: async () => 'token', renew: async () => 'token' };

let server: HttpsFake;
const connections: Connection[] = [];

beforeAll(async () => {
  server = await HttpsFake.start();
});

beforeEach(() => {
  server.script = () => ({ body: { items: [] }, headers: date });
  server.asked.length = 0;
});

afterEach(() => {
  for (const connection of connections.splice(0)) connection.close();
});

afterAll(async () => {
  await server.stop();
});

const target = (over: Partial<ClusterTarget> = {}): ClusterTarget => ({
  account: '123456789012',
  region: 'ap-northeast-1',
  name: 'prod',
  endpoint: server.url,
  certificateAuthority: server.certificateAuthority,
  ...over,
});

const open = (cluster: ClusterTarget): Connection => {
  const connection = connectToEndpoint(cluster, tokens);
  connections.push(connection);
  return connection;
};

function reconciling(over: Partial<ReconcileDependencies> = {}) {
  const lines: [string, Record<string, unknown>][] = [];
  const say = (message: string, details: Record<string, unknown>): void => void lines.push([message, details]);
  const client = dynamoDbClient({ region: 'local', credentials: { accessKeyId: 'x', secretAccessKey: 'x' } });
  const handler = createHandler({
    connect: open,
    table: new AuditTable({ tableName: 'unused', client }),
    log: { info: say, warn: say, error: say },
    placeholder: defaultPlaceholder,
    now: () => observed,
    ...over,
  });
  return { lines, handler };
}

const eventOf = (...clusters: ClusterTarget[]) => ({
  Records: clusters.map((cluster) => ({ body: queueEntry({ cluster, scheduledAt: at('2026-06-09T17:00:00Z') }).body })),
});
const context = { getRemainingTimeInMillis: () => 50_000 };
const key = '123456789012/ap-northeast-1/prod';

test('a message is one tick of its cluster, at most one log line when nothing happens (D1-05, PR-93)', async () => {
  const { handler, lines } = reconciling();
  expect(await handler(eventOf(target()), context)).toEqual({ ticks: [{ cluster: key, outcome: 'Ok' }] });
  expect(server.asked).toHaveLength(5);
  expect(lines).toHaveLength(1);
});

test('a tick that comes too late is dropped and told, the cluster is not asked (D1-02)', async () => {
  const { handler, lines } = reconciling({ now: () => at('2026-06-09T17:02:30.001Z') });
  expect(await handler(eventOf(target()), context)).toEqual({ ticks: [{ cluster: key, outcome: 'Stale' }] });
  expect(server.asked).toEqual([]);
  expect(lines).toMatchObject([[expect.stringContaining('too late'), { cluster: key }]]);
});

test.each([
  [401, 'AuthFailed'],
  [403, 'Forbidden'],
  [404, 'CrdMissing'],
  [500, 'Unreachable'],
])(
  'a cluster that answers %i ends as %s: recorded, and the function returns normally (D1-05, PR-90)',
  async (status, outcome) => {
    server.script = () => ({ status, body: statusBody(status, 'Any', 'words') });
    const { handler, lines } = reconciling();
    const answer = await handler(eventOf(target()), context);
    expect(answer).toMatchObject({ ticks: [{ cluster: key, outcome, detail: expect.stringContaining('words') }] });
    expect(lines).toMatchObject([['Tick failed', { cluster: key, outcome }]]);
  },
);

test('of three clusters the one without credentials fails alone, and all three are answered (PR-90, PR-42)', async () => {
  const denied = { token: () => Promise.reject(new Error('AccessDenied')), renew: async () => '' };
  const { handler } = reconciling({
    connect: (cluster) => (cluster.name === 'two' ? connectToEndpoint(cluster, denied) : open(cluster)),
  });
  const { ticks } = await handler(eventOf(target(), target({ name: 'two' }), target({ name: 'three' })), context);
  expect(ticks.map(({ outcome }) => outcome)).toEqual(['Ok', 'AuthFailed', 'Ok']);
});

test('a cluster that does not answer in time is Timeout within the time of the function (D1-06, PR-42)', async () => {
  server.script = () => ({ instead: 'hang' });
  const { handler } = reconciling();
  const begun = performance.now();
  const { ticks } = await handler(eventOf(target()), { getRemainingTimeInMillis: () => 3_300 });
  expect(ticks).toMatchObject([{ outcome: 'Timeout' }]);
  expect(performance.now() - begun).toBeLessThan(3_300);
});

test('a message that leads to no cluster is an outcome, not an error (D1-05)', async () => {
  const { handler, lines } = reconciling({
    connect: () => {
      throw new UnusableConnection('no such cluster');
    },
  });
  expect(await handler(eventOf(target()), context)).toMatchObject({
    ticks: [{ outcome: 'Unreachable', detail: 'no such cluster' }],
  });
  expect(lines).toHaveLength(1);
});

test('a message that nobody of ours wrote is an error, and so reaches the dead-letter queue (D1-02)', async () => {
  await expect(reconciling().handler({ Records: [{ body: '{}' }] }, context)).rejects.toThrow(
    /tick queue cannot be read/,
  );
});

test.each([
  [60_000, 0],
  [61_000, 1],
])('a clock %d ms apart from that of the server makes %d ClockSkew notices (D1-04)', async (apart, notices) => {
  const { handler, lines } = reconciling({ now: () => observed + apart });
  await handler(eventOf(target()), context);
  expect(lines.filter(([message]) => message.startsWith('ClockSkew'))).toHaveLength(notices);
});

test('sockets stay bounded over a hundred warm runs (PR-98)', async () => {
  const { handler } = reconciling({ connect: keepConnections(open) });
  const before = server.openSockets;
  for (let run = 0; run < 100; run += 1) await handler(eventOf(target()), context);
  expect(server.openSockets - before).toBeLessThanOrEqual(6);
});

test('a connection is kept for a cluster until its address or certificate changes (D9-02)', () => {
  const connect = keepConnections(open);
  const first = connect(target());
  expect(connect(target())).toBe(first);
  expect(connect(target({ endpoint: 'https://moved.example' }))).not.toBe(first);
  expect(connect(target({ name: 'other' }))).not.toBe(first);
});

test('what the function is told is read with its defaults, and every mistake is named (D1-07, PR-114)', () => {
  expect(readEnvironment({ [variables.tableName]: 'audit', HTTPS_PROXY: 'http://p' })).toEqual({
    tableName: 'audit',
    metricDetail: 'fleet',
    placeholder: defaultPlaceholder,
    warnings: ['HTTPS_PROXY is set but not used: clusters are reached directly'],
  });
  const wrong = { [variables.retentionDays]: 'long', [variables.metricDetail]: 'all' };
  expect(() => readEnvironment(wrong)).toThrow(
    /TABLE_NAME is not set; AUDIT_RETENTION_DAYS must .*; METRIC_DETAIL must/,
  );
});
