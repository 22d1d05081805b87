/**
 * Everything that AWS may do to a rotation short of losing it: doubled, late, refused, throttled. Each story is told as
 * whole sets of rows, events and counts, and held against the one in which nothing went wrong.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { metricNames } from '../../lib/adapters/aws/metric-names.ts';
import { awsError } from '../support/aws-fake.ts';
import { Installation, Surroundings } from '../support/installation.ts';
import { opens } from '../support/story.ts';

/** Minutes in which the rotation of the one due node is over. */
const length = 22;

let around: Surroundings;
let made: Installation | undefined;
let emitted: Record<string, unknown>[] = [];
let undisturbed: Awaited<ReturnType<Installation['account']>>;

beforeAll(async () => {
  around = await Surroundings.start();
});

beforeEach(() => {
  emitted = [];
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.spyOn(console, 'log').mockImplementation((line: string) => void emitted.push(JSON.parse(line)));
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await made?.stop();
  made = undefined;
});

afterAll(async () => {
  await around.stop();
});

async function installed(...options: [Parameters<typeof Installation.start>[1]?]): Promise<Installation> {
  made = await Installation.start(around, ...options);
  return made;
}

/** The story, a minute at a time. */
async function told(minute: (n: number, installation: Installation) => Promise<void>): Promise<typeof undisturbed> {
  const installation = made ?? (await installed());
  for (let n = 0; n < length; n += 1) await minute(n, installation);
  return await installation.account(emitted);
}

const measured = (name: string): number => emitted.reduce((sum, line) => sum + Number(line[name] ?? 0), 0);

test('undisturbed, one node is rotated and nothing of ours is left (D10-02, D11-01)', async () => {
  undisturbed = await told((_, installation) => installation.minute());
  expect(undisturbed.steps.map(({ step }) => step)).toEqual(['started', 'draining', 'completed']);
  expect(undisturbed.events.map(({ DetailType }) => DetailType)).toEqual([
    'Rotation Started',
    'Rotation Draining',
    'Rotation Completed',
  ]);
  expect(undisturbed.counted).toEqual([
    expect.stringMatching(/^noderotation_completed_total success 1$/),
    expect.stringMatching(/^noderotation_duration_seconds drain \d+$/),
    expect.stringMatching(/^noderotation_duration_seconds surge_wait \d+$/),
  ]);
  expect(undisturbed.notes.map(({ kind }) => kind)).toContain('policy');
  expect(undisturbed.leftovers).toEqual([]);
  expect(undisturbed.nodes).toHaveLength(2);
}, 60_000);

test('every schedule fires twice, and every message is delivered twice at once (D1-01, D1-03, D7-09, PR-38)', async () => {
  const account = await told(async (_, installation) => {
    await Promise.all([installation.schedule(), installation.schedule()]);
    const bodies = await installation.receive();
    expect(bodies).toHaveLength(1);
    await Promise.all([...bodies, ...bodies].map((body) => installation.reconcile(body)));
    installation.forward();
  });
  expect(account).toEqual(undisturbed);
}, 120_000);

/** What stays the same when steps come at other times. */
const timeless = ({ steps, events, counted, leftovers, nodes }: typeof undisturbed) => ({
  steps: steps.map(({ nodePool, step, claim, surgePath }) => ({ nodePool, step, claim, surgePath })),
  events: events.map(({ DetailType }) => DetailType),
  counted: counted.map((text) => text.replace(/ \d+$/, '')),
  leftovers,
  nodes: nodes.length,
});

test('messages that come late and in the wrong order rotate the same; the stale ones are dropped and counted (D1-02, D1-03)', async () => {
  const held: string[] = [];
  const account = await told(async (n, installation) => {
    await installation.schedule();
    held.push(...(await installation.receive()));
    // Of the ages of 5, 4, 3, 2, 1 and 0 minutes three are over 150 s.
    if (n < 3 || n >= 8) for (const body of held.splice(0).toReversed()) await installation.reconcile(body);
    installation.forward();
  });
  expect(timeless(account)).toEqual(timeless(undisturbed));
  expect(measured(metricNames.staleTicks)).toBe(3);
}, 120_000);

test('a schedule that comes late is dropped and counted before anything is asked (D1-02)', async () => {
  const installation = await installed();
  installation.forward(3);
  expect(await installation.schedule(opens)).toEqual({ outcome: 'Stale', sent: 0, failed: 0 });
  expect({ batches: around.queue.batches, calls: around.aws.calls, database: installation.databaseCalls }).toEqual({
    batches: [],
    calls: [],
    database: 0,
  });
  expect(measured(metricNames.staleTicks)).toBe(1);
}, 30_000);

test('a queue that refuses part of every batch takes it the second time: no cluster misses a tick or has two (D1-01)', async () => {
  const { account, region, name } = (await installed()).cluster.target;
  const others = Array.from({ length: 11 }, (_, n) => ({
    account,
    region,
    name: `other-${n}`,
    endpoint: 'https://127.0.0.1:1',
    certificateAuthority: 'QUJD',
  }));
  await made?.stop();
  const installation = await installed({ config: { clusters: [{ account, region, name }, ...others] } });
  let refused = 0;
  const seen = new Set<string>();
  around.queue.refuses = ({ MessageDeduplicationId: id }) => {
    // Every third entry, the first time it comes.
    if (seen.has(id)) return undefined;
    seen.add(id);
    refused += Number(seen.size % 3 === 0);
    return seen.size % 3 === 0 ? 'InternalError' : undefined;
  };
  const ticked = new Map<string, number>();
  const story = await told(async () => {
    expect(await installation.schedule()).toEqual({ outcome: 'Sent', sent: 12, failed: 0 });
    for (let bodies = await installation.receive(); bodies.length > 0; bodies = await installation.receive()) {
      for (const body of bodies) {
        const { cluster } = JSON.parse(body);
        if (cluster.name === name) await installation.reconcile(body);
        else ticked.set(cluster.name, (ticked.get(cluster.name) ?? 0) + 1);
      }
    }
    installation.forward();
  });
  expect(story).toEqual(undisturbed);
  expect([...ticked].toSorted()).toEqual(others.map((other) => [other.name, length] as [string, number]).toSorted());
  expect(refused).toBe((12 * length) / 3);
  // Two batches of 10 and 2, and one more for what they refused.
  expect(around.queue.batches).toHaveLength(3 * length);
}, 120_000);

test('a tick that the queue refuses twice is counted, told, and made a minute later (D1-01)', async () => {
  const account = await told(async (n, installation) => {
    around.queue.refuses = () => (n === 4 ? 'InternalError' : undefined);
    const { sent, failed } = await installation.schedule();
    expect({ sent, failed }).toEqual(n === 4 ? { sent: 0, failed: 1 } : { sent: 1, failed: 0 });
    for (const body of await installation.receive()) await installation.reconcile(body);
    installation.forward();
  });
  expect(timeless(account)).toEqual(timeless(undisturbed));
  expect(made?.lines.filter(([line]) => line === 'Ticks could not be sent')).toEqual([
    ['Ticks could not be sent', { failed: 1, of: 1 }],
  ]);
  expect(around.queue.batches).toHaveLength(length + 1);
}, 120_000);

test('a database that throttles for ten minutes holds up nothing, and has every row afterwards, once (D10-04, D10-03)', async () => {
  let most = 0;
  const account = await told(async (n, installation) => {
    const down = n >= 1 && n < 11;
    installation.databaseFault = () => (down ? 'ProvisionedThroughputExceededException' : undefined);
    installation.databaseCalls = 0;
    await installation.minute();
    if (down) most = Math.max(most, installation.databaseCalls);
  });
  expect(account.steps).toEqual(undisturbed.steps);
  expect(account.events.toSorted(byText)).toEqual(undisturbed.events.toSorted(byText));
  expect(account.counted).toEqual(undisturbed.counted);
  expect(account.notes.filter(({ kind }) => kind === 'policy')).toEqual(
    undisturbed.notes.filter(({ kind }) => kind === 'policy'),
  );
  expect({ leftovers: account.leftovers, nodes: account.nodes }).toEqual({
    leftovers: undisturbed.leftovers,
    nodes: undisturbed.nodes,
  });
  // The registry is read and written, its outcome kept, each waiting step tried once.
  expect(most).toBeLessThanOrEqual(6);
}, 120_000);

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

test('EKS that says 429 is asked ever less, and the clusters that it told of are ticked on (D9-02, PR-94)', async () => {
  const { account, region, name } = (await installed()).cluster.target;
  await made?.stop();
  const installation = await installed({ config: { clusters: [], discovery: [{ account, region }] } });
  around.aws.tagged = [name];
  const asked: number[] = [];
  const story = await told(async (n) => {
    if (n === 10) {
      around.aws.tagged = ['a-new-one', name];
      around.aws.instead = ({ operation }) =>
        operation === 'DescribeCluster' ? awsError('ThrottlingException', 429) : undefined;
    }
    const before = around.aws.count('DescribeCluster');
    expect(await installation.schedule()).toEqual({ outcome: 'Sent', sent: 1, failed: 0 });
    if (around.aws.count('DescribeCluster') > before) asked.push(n);
    for (const body of await installation.receive()) await installation.reconcile(body);
    installation.forward();
  });
  expect(story).toEqual(undisturbed);
  // Found at the tenth minute, then left alone for one minute, two, four and eight.
  expect(asked).toEqual([0, 10, 11, 13, 17]);
  const before = around.aws.count('DescribeCluster');
  around.aws.instead = () => undefined;
  around.aws.clusters.set('a-new-one', {});
  installation.forward(16);
  expect(await installation.schedule()).toEqual({ outcome: 'Sent', sent: 2, failed: 0 });
  expect(around.aws.count('DescribeCluster') - before).toBe(2);
}, 120_000);
