/**
 * What is wrong around a tick for good: a table that is not there, rights that are missing, credentials that have run
 * out. Each has a name in the answer, in the table and in the metrics, and none makes anybody ask without end.
 */
import { STSClient } from '@aws-sdk/client-sts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { AccountRoles } from '../../lib/adapters/aws/account-roles.ts';
import type { ClusterTarget } from '../../lib/adapters/aws/cluster-registry.ts';
import { metricNames } from '../../lib/adapters/aws/metric-names.ts';
import { connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { type EksIdentity, EksTokens } from '../../lib/adapters/kubernetes/eks-credentials.ts';
import { awsError } from '../support/aws-fake.ts';
import { HttpsFake, statusBody } from '../support/https-fake.ts';
import { Installation, type InstallationOptions, Surroundings } from '../support/installation.ts';

let around: Surroundings;
let server: HttpsFake;
let installation: Installation | undefined;
let emitted: Record<string, unknown>[] = [];

beforeAll(async () => {
  around = await Surroundings.start();
  server = await HttpsFake.start();
});

beforeEach(() => {
  server.asked.length = 0;
  emitted = [];
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.spyOn(console, 'log').mockImplementation((line: string) => void emitted.push(JSON.parse(line)));
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await installation?.stop();
  installation = undefined;
});

afterAll(async () => {
  await around.stop();
  await server.stop();
});

async function installed(options: InstallationOptions = {}): Promise<Installation> {
  installation = await Installation.start(around, options);
  return installation;
}

/** The cluster's address leads to a server that answers by script. */
function scripted({ aws, cluster }: Installation): void {
  const { url: endpoint, certificateAuthority } = server;
  aws.clusters.set(cluster.target.name, { endpoint, certificateAuthority });
}

const tokensFor = ({ name, region }: ClusterTarget, credentials: EksIdentity['credentials']): EksTokens =>
  new EksTokens({ clusterName: name, region, credentials });
const ownCredentials = async () => ({ accessKeyId: 'AKIAOWN', secretAccessKey: 'x' });

const accessDenied = {
  status: 403,
  type: 'text/xml',
  body: '<ErrorResponse><Error><Code>AccessDenied</Code><Message>the role may not be assumed</Message></Error></ErrorResponse>',
};

const failures = (): readonly unknown[] =>
  emitted.filter((line) => metricNames.tickFailed in line).map((line) => line[metricNames.tickFailed]);

test.each([
  [401, 'AuthFailed', 4],
  [403, 'Forbidden', 2],
  [404, 'CrdMissing', 2],
  [500, 'Unreachable', 2],
])(
  'a cluster that answers %i is %s in answer, row, registry and metric, after %i requests (D11-07, D10-02)',
  async (status, outcome, requests) => {
    const installation = await installed();
    scripted(installation);
    server.script = () => ({ status, body: statusBody(status, 'Any', 'words') });
    installation.otherProcesses({ connect: (target) => connectToEndpoint(target, tokensFor(target, ownCredentials)) });
    await installation.schedule();
    const [body = ''] = await installation.receive();
    expect(await installation.reconcile(body)).toMatchObject({ outcome, detail: expect.stringContaining('words') });
    // Policies and NodePools are asked for side by side; each refused token is made anew once.
    expect(server.asked).toHaveLength(requests);
    expect((await installation.notes()).map(({ kind, facts }) => [kind, facts.change, facts.outcome])).toEqual([
      ['tick', 'failing', outcome],
    ]);
    expect((await installation.registry.all())[0]?.health).toMatchObject({ lastOutcome: outcome, failures: 1 });
    expect(failures()).toEqual([1]);
  },
  30_000,
);

test('a token that has run out is made anew once, and the tick goes on with it (D9-01, PR-99)', async () => {
  const installation = await installed();
  const { token } = installation.cluster.access;
  let renewals = 0;
  let current = 'expired';
  const renew = async (refused: string): Promise<string> => {
    renewals += Number(refused === current);
    current = token;
    return current;
  };
  installation.otherProcesses({
    connect: (target) => connectToEndpoint(target, { token: async () => current, renew }),
  });
  await installation.schedule();
  const [body = ''] = await installation.receive();
  expect(await installation.reconcile(body)).toMatchObject({ outcome: 'Ok' });
  expect(renewals).toBe(1);
}, 30_000);

test('a role that may not be assumed is AuthFailed, asked for once a tick, and nobody speaks to the cluster (D9-03, PR-90)', async () => {
  const installation = await installed();
  scripted(installation);
  installation.aws.instead = ({ operation }) => (operation === 'AssumeRole' ? accessDenied : undefined);
  const roles = new AccountRoles({ client: new STSClient(installation.aws.config) });
  const provider = roles.provider({ roleArn: 'arn:aws:iam::210987654321:role/node-rotation' }, 'demo');
  installation.otherProcesses({ connect: (target) => connectToEndpoint(target, tokensFor(target, provider)) });
  await installation.schedule();
  const [body = ''] = await installation.receive();
  expect(await installation.reconcile(body)).toMatchObject({
    outcome: 'AuthFailed',
    detail: expect.stringContaining('may not be assumed'),
  });
  expect({ asked: server.asked.length, tries: installation.aws.count('AssumeRole') }).toEqual({ asked: 0, tries: 1 });
  expect((await installation.notes()).map(({ facts }) => facts.outcome)).toEqual(['AuthFailed']);
}, 30_000);

test('a cluster without our CRD is CrdMissing, and as it was (D11-07)', async () => {
  const installation = await installed({ cluster: { absent: ['RotationPolicy'] } });
  const before = JSON.stringify(installation.cluster.world.store.all('NodePool'));
  await installation.schedule();
  const [body = ''] = await installation.receive();
  expect(await installation.reconcile(body)).toMatchObject({ outcome: 'CrdMissing' });
  expect(JSON.stringify(installation.cluster.world.store.all('NodePool'))).toBe(before);
  expect((await installation.notes()).map(({ facts }) => facts.outcome)).toEqual(['CrdMissing']);
  expect(failures()).toEqual([1]);
}, 30_000);

test.each([
  ['is not there', undefined, { tableName: 'nowhere' }],
  ['may not be used', 'AccessDeniedException' as const, {}],
])(
  'a table that %s holds up no tick; what waits is on the NodePool and told (D10-04, D1-05)',
  async (_, fault, options) => {
    const installation = await installed(options);
    installation.databaseFault = () => fault;
    for (let n = 0; n < 3; n += 1) {
      installation.databaseCalls = 0;
      expect(await installation.schedule()).toEqual({ outcome: 'Sent', sent: 1, failed: 0 });
      for (const body of await installation.receive()) {
        expect(await installation.reconcile(body)).toMatchObject({ outcome: 'Ok' });
      }
      expect(installation.databaseCalls).toBeLessThanOrEqual(6);
      installation.forward();
    }
    const [pool] = installation.cluster.world.store.all('NodePool');
    const outbox = JSON.parse(pool?.metadata.annotations?.['noderotation.io/unrecorded'] ?? '[]') as { step: string }[];
    expect(outbox.map(({ step }) => step)).toContain('started');
    expect(new Set(installation.lines.map(([line]) => line))).toEqual(
      new Set([
        'The registry of clusters could not be read; the clusters of the last minute are ticked',
        'The registry could not be written',
        'An audit row could not be put and waits on the outbox',
        'Audit rows could not be put; the next tick tells them again',
        'The outcome of a tick could not be kept in the registry',
      ]),
    );
  },
  60_000,
);

test('a queue that may not be sent to is counted and told; a minute costs two calls (D1-01, D1-05)', async () => {
  const installation = await installed();
  let calls = 0;
  around.queue.denies = (operation) => {
    calls += Number(operation === 'SendMessageBatch');
    return operation === 'SendMessageBatch' ? { code: 'AccessDeniedException', status: 403 } : undefined;
  };
  expect(await installation.schedule()).toEqual({ outcome: 'Sent', sent: 0, failed: 1 });
  expect(calls).toBe(2);
  expect(installation.lines.map(([line]) => line)).toEqual([
    'A batch of ticks was not taken',
    'A batch of ticks was not taken',
    'Ticks could not be sent',
  ]);
}, 30_000);

test('an EKS that may not be asked costs one call a minute; the clusters that it told of are ticked on (D9-02, D9-03)', async () => {
  const installation = await installed();
  await installation.minute();
  installation.aws.instead = () => awsError('AccessDeniedException', 403);
  const before = installation.aws.count('DescribeCluster');
  for (let n = 0; n < 20; n += 1) {
    installation.forward();
    expect(await installation.schedule()).toMatchObject({ outcome: 'Sent', sent: 1 });
  }
  expect(installation.aws.count('DescribeCluster') - before).toBeLessThanOrEqual(20);
  expect(installation.aws.count('DescribeCluster') - before).toBeGreaterThan(0);
  expect(new Set(installation.lines.map(([line]) => line))).toEqual(
    new Set(['EKS could not be asked about a cluster; what was known of it stays']),
  );
}, 60_000);

test.each<readonly [string, unknown, string]>([
  [
    'of another source',
    { source: 'aws.ec2', 'detail-type': 'EC2 Instance State-change Notification', detail: {} },
    'Ignored',
  ],
  [
    'of ours that asks for nothing',
    { source: 'noderotation', 'detail-type': 'Rotation Started', detail: {} },
    'Ignored',
  ],
  [
    'that asks for a run under no id',
    { source: 'noderotation.manual', 'detail-type': 'Rotation Run Requested', detail: {} },
    'Ignored',
  ],
  [
    'that asks for something else',
    { source: 'noderotation.manual', 'detail-type': 'Rotation Run Cancelled', id: 'e', detail: {} },
    'Ignored',
  ],
])(
  'an event %s ticks nothing and is told (D12-04)',
  async (_, event, outcome) => {
    const installation = await installed();
    expect(await installation.event(event)).toEqual({ outcome, sent: 0, failed: 0 });
    expect({ batches: around.queue.batches, calls: around.aws.calls, database: installation.databaseCalls }).toEqual({
      batches: [],
      calls: [],
      database: 0,
    });
    expect(installation.lines.map(([line]) => line)).toEqual(['An event that is not ours was ignored']);
  },
  30_000,
);
