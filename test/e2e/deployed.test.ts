/**
 * The stack as it is deployed, from its schedule to a rotated node of a real cluster and everything that is told of it.
 *
 * IAM is enforced throughout: a permission that a function lacks is an error here. One of the two clusters takes
 * connections and never answers, which must hold up the other in nothing.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { EventBridgeClient, PutEventsCommand, PutRuleCommand, PutTargetsCommand } from '@aws-sdk/client-eventbridge';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from '../support/program.ts';
import { type AwsEmulator, account, region, startAwsEmulator } from './emulator/aws-emulator.ts';
import { askByQuery, invoke } from './emulator/aws-requests.ts';
import { DeployedStack, type Outputs } from './emulator/deployed-stack.ts';
import { makeClusters } from './emulator/emulated-clusters.ts';
import { denialsOf, linesOf } from './emulator/function-logs.ts';
import { Inbox } from './emulator/inbox.ts';
import { actionsOf, changeStatements } from './emulator/role-statements.ts';
import { type ControlPlane, startControlPlane } from './harness/control-plane.ts';
import { eventually } from './support/eventually.ts';
import { nodeClass, nodePool, policy, workload } from './support/fleet.ts';
import { kubernetesUnderTest } from './support/kubernetes-under-test.ts';
import { Observer } from './support/observer.ts';

const cluster = 'production';
const silent = 'silent';
const key = (name: string): string => `${account}/${region}/${name}`;
/** Listed, because the emulator's tagging API knows no clusters. */
const config = { account, region, clusters: [{ name: cluster }, { name: silent }], retention: { logDays: 30 } };
const surge = { readyTimeout: '2m' };
/** A node is due one minute after its creation: A = 8m − (2 · 1m + 2m + 1m + 2m). */
const shortLife = { expireAfter: '8m', terminationGracePeriod: '1m' };
const longLife = { expireAfter: '336h', terminationGracePeriod: '1m' };
/** A rotation is three or four ticks of a minute; a busy machine may take several times that. */
const rotationLimit = 480_000;
const minutesOfTwoTicks = 150_000;

let emulator: AwsEmulator;
let plane: ControlPlane;
let stack: DeployedStack;
let outputs: Outputs;
let observer: Observer;
let events: EventBridgeClient;
let heard: Inbox;
const blackHole = createServer();
const swallowed = new Set<Socket>();

beforeAll(async () => {
  emulator = await startAwsEmulator((line) => void process.stderr.write(`${line}\n`));
  plane = await startControlPlane({
    kubernetes: kubernetesUnderTest(),
    tokenWebhook: {
      cluster,
      region,
      sts: emulator.eks.url,
      entries: { [`arn:aws:iam::${account}:role/node-rotation-reconcile-${region}`]: ['node-rotation'] },
    },
  });
  observer = new Observer(plane);
  await plane.api.apply(nodeClass);
  blackHole.on('connection', (socket) => void swallowed.add(socket.on('error', () => {})));
  blackHole.listen(0, '127.0.0.1');
  await once(blackHole, 'listening');
  const { server, authority } = plane.accesses.admin;
  const { port } = blackHole.address() as AddressInfo;
  await makeClusters(emulator, {
    [cluster]: { endpoint: server, certificateAuthority: authority },
    [silent]: { endpoint: `https://127.0.0.1:${port}`, certificateAuthority: authority },
  });
  events = new EventBridgeClient(emulator.client);
  stack = new DeployedStack(emulator);
  await stack.bootstrap();
}, 600_000);

afterAll(async () => {
  await emulator?.stop();
  await plane?.stop();
  for (const socket of swallowed) socket.destroy();
  blackHole.close();
}, 60_000);

type Row = Readonly<Record<string, unknown>>;

/** What `history` shows of a cluster. */
async function history(name: string, kind: string, ...args: string[]): Promise<readonly Row[]> {
  const { code, out, err } = await runProgram(
    ['history', '--table', outputs.AuditTableName, '--cluster', key(name), '--kind', kind, '-o', 'json', ...args],
    { env: emulator.environment, limit: 120_000 },
  );
  expect(code, err).toBe(0);
  return JSON.parse(out);
}

const claimNames = async (pool: string): Promise<readonly string[]> =>
  (await observer.claimsOf(pool)).map(({ metadata }) => metadata.name);

/** What a rule has heard of that kind and NodeClaim. */
const toldOf = (kinds: RegExp, claim: string | undefined, limit: number): Promise<Row> =>
  eventually(`${kinds} of ${claim} on the bus`, limit, async () =>
    (await heard.look()).find((event) => {
      const { claim: rotated, nodeClaim = rotated } = event.detail as Row;
      return nodeClaim === claim && kinds.test(String(event['detail-type']));
    }),
  );

/** The steps of the only rotation of that NodeClaim, once it has ended. An event comes after its row. */
async function rotationOf(claim: string | undefined): Promise<readonly unknown[]> {
  await toldOf(/^Rotation (Completed|Failed|Expired|Aborted)$/, claim, rotationLimit);
  return (await history(cluster, 'step')).filter((row) => row.claim === claim).map(({ step }) => step);
}

const resource = async (logicalId: RegExp): Promise<string> =>
  [...(await stack.resources())].find(([id]) => logicalId.test(id))?.[1] ?? '';

/** Somebody asks for a manual run. */
const ask = (detail: object): Promise<unknown> =>
  events.send(
    new PutEventsCommand({
      Entries: [
        {
          EventBusName: outputs.EventBusName,
          Source: 'noderotation.manual',
          DetailType: 'Rotation Run Requested',
          Detail: JSON.stringify({ cluster: key(cluster), requestedBy: 'somebody', ...detail }),
        },
      ],
    }),
  );

/** Dispatch, as its schedule would call it, for the last minute: for this one its tick would be the only one. */
const dispatchNow = async (): Promise<unknown> => {
  const scheduledTime = new Date(Date.now() - 60_000).toISOString();
  return invoke(emulator, await resource(/^DispatchBundleFunction/), { scheduledTime });
};

/** The widget, as a dashboard would call it. */
const drawNow = async (): Promise<unknown> => {
  const timeRange = { mode: 'relative', start: Date.now() - 3_600_000, end: Date.now() };
  const widgetContext = { width: 900, height: 400, theme: 'light', timeRange };
  return invoke(emulator, await resource(/^WidgetBundleFunction/), { widgetContext });
};

describe('the deployed stack (D1-01)', () => {
  let dueSoon: string | undefined;

  test('is deployed by the CDK, and updated (D9-05)', async () => {
    await stack.deploy({ ...config, retention: { logDays: 90 } });
    outputs = await stack.deploy(config);
    expect(outputs.ReconcileRoleArn).toBe(`arn:aws:iam::${account}:role/node-rotation-reconcile-${region}`);
    heard = await Inbox.open(emulator, 'heard');
    const rule = { Name: 'heard', EventBusName: outputs.EventBusName };
    await events.send(new PutRuleCommand({ ...rule, EventPattern: JSON.stringify({ source: ['noderotation'] }) }));
    await events.send(
      new PutTargetsCommand({
        Rule: rule.Name,
        EventBusName: rule.EventBusName,
        Targets: [{ Id: 'inbox', Arn: heard.arn }],
      }),
    );
  }, 600_000);

  test('may do all it needs, and only the emulator asks for more (D9-03)', async () => {
    const role = outputs.DispatchRoleArn.split('/').at(-1) ?? '';
    expect(await dispatchNow()).toMatchObject({ sent: 0, failed: 2 });
    const wrong = [{ role, action: 'sqs:SendMessageBatch' }];
    expect(await denialsOf(emulator)).toEqual(wrong);
    // AWS asks for sqs:SendMessage, for a batch too.
    await changeStatements(emulator, role, (statement) =>
      actionsOf(statement).includes('sqs:SendMessage')
        ? [{ ...statement, Action: [...actionsOf(statement), 'sqs:SendMessageBatch'] }]
        : [statement],
    );
    expect(await dispatchNow()).toMatchObject({ sent: 2, failed: 0 });
  });

  test('rotates one NodeClaim for whoever asks, and answers (D12-01, D12-03)', async () => {
    for (const [name, life] of Object.entries({ api: shortLife, batch: longLife })) {
      await plane.api.apply(nodePool({ name, ...life }));
      await observer.poolReady(name);
      await plane.api.apply(workload({ name: `${name}-web`, pool: name, replicas: 2, cpu: '900m' }));
      await observer.runs(`${name}-web`, 2);
      await plane.api.apply(policy(name, { surge }));
    }
    [dueSoon] = await claimNames('api');
    const [nodeClaim] = await claimNames('batch');
    await ask({ nodePool: 'batch', nodeClaim, action: 'rotate', reason: 'a test' });
    expect(await toldOf(/^Rotation Run Answered$/, nodeClaim, minutesOfTwoTicks)).toMatchObject({
      source: 'noderotation',
      detail: { cluster: key(cluster), nodePool: 'batch', outcome: 'Started' },
    });
    expect(await history(cluster, 'run')).toMatchObject([
      { event: 'requested', account, action: 'rotate', requestedByAsClaimed: 'somebody' },
      { event: 'answered', outcome: 'Started', nodeClaim },
    ]);
    expect(await rotationOf(nodeClaim)).toEqual(['started', 'draining', 'completed']);
  }, 900_000);

  test('rotates a node of a real cluster by its schedule, and tells of it (D10-05, D11-04)', async () => {
    expect(await rotationOf(dueSoon)).toEqual(['started', 'draining', 'completed']);
    await observer.runs('api-web', 2);
    const marks = await eventually('nothing of ours to be left', minutesOfTwoTicks, async () =>
      (await observer.marksOf('api')).length === 0 ? [] : undefined,
    );
    expect({ marks, created: await observer.claimsCreated('api') }).toEqual({ marks: [], created: 2 });
    const told = (await heard.look()).filter(({ detail }) => (detail as Row).claim === dueSoon);
    expect(told.map((event) => event['detail-type']).sort()).toEqual([
      'Rotation Completed',
      'Rotation Draining',
      'Rotation Started',
    ]);
  }, 900_000);

  test('is not held up by a cluster that does not answer (D1-03, D1-05, D11-07)', async () => {
    expect(await history(silent, 'tick')).toEqual([expect.objectContaining({ change: 'failing', outcome: 'Timeout' })]);
    expect(await history(cluster, 'tick')).toEqual([]);
    const ticks = (await linesOf(emulator)).filter((line) => line.includes('"message":"Tick"'));
    const times = ticks.map((line) => Date.parse(JSON.parse(line).timestamp)).sort((a, b) => a - b);
    const pauses = times.slice(1).map((time, before) => time - (times[before] ?? 0));
    expect(times.length).toBeGreaterThan(4);
    // One that had been left out would make it two minutes.
    expect(Math.max(...pauses)).toBeLessThan(110_000);
  });

  test('draws the rotations in its dashboard (D11-05)', async () => {
    const drawn = await drawNow();
    expect(drawn).toContain('<svg');
    for (const name of [cluster, 'api', 'batch']) expect(drawn).toContain(name);
  });

  test('sends an alarm to its topic (D11-05)', async () => {
    const inbox = await Inbox.open(emulator, 'paged');
    await askByQuery(emulator, 'sns', {
      Action: 'Subscribe',
      Version: '2010-03-31',
      TopicArn: outputs.AlarmTopicArn,
      Protocol: 'sqs',
      Endpoint: inbox.arn,
    });
    const reason = { StateValue: 'ALARM', StateReason: 'a test' };
    const AlarmName = await resource(/^ObservabilityNoTick/);
    await askByQuery(emulator, 'monitoring', { Action: 'SetAlarmState', Version: '2010-08-01', AlarmName, ...reason });
    const page = await eventually('the page', 60_000, async () =>
      (await inbox.look()).map(({ Message }) => JSON.parse(String(Message))).find((it) => it.AlarmName === AlarmName),
    );
    expect(page).toMatchObject({ NewStateValue: 'ALARM', NewStateReason: 'a test' });
  });

  test('is denied nothing else on all these ways (D15-01)', async () => {
    const [, dispatch = ''] = outputs.DispatchRoleArn.split('/');
    expect(await denialsOf(emulator)).toEqual([{ role: dispatch, action: 'sqs:SendMessageBatch' }]);
  });

  // The last comes last: messages that it keeps from being done with are tried again a minute later.
  test.each<[string, RegExp, string, () => Promise<unknown>]>([
    ['sends', /^DispatchRole\w{8}$/, 'sqs:SendMessage', dispatchNow],
    ['reads its registry', /^DispatchRole\w{8}$/, 'dynamodb:Query', dispatchNow],
    ['refuses a run', /^DispatchRole\w{8}$/, 'events:PutEvents', () => ask({ action: 'rotate', reason: 'of none' })],
    ['draws', /^WidgetRole\w{8}$/, 'dynamodb:Query', drawNow],
    [
      'answers a run',
      /^ReconcileRole(Role)?\w{8}$/,
      'events:PutEvents',
      () => ask({ action: 'tick', reason: 'a test' }),
    ],
    [
      'keeps an answer',
      /^ReconcileRole(Role)?\w{8}$/,
      'dynamodb:PutItem',
      () => ask({ action: 'tick', reason: 'a test' }),
    ],
  ])(
    'is denied by name what it needs where it %s without one of its statements (D15-01)',
    async (_, logicalId, action, run) => {
      const role = await resource(logicalId);
      const taken: string[] = [];
      const putBack = await changeStatements(emulator, role, (statement) => {
        if (!actionsOf(statement).includes(action)) return [statement];
        taken.push(...actionsOf(statement));
        return [];
      });
      const since = Date.now();
      await run();
      await eventually(`${role} to be denied one of ${taken}`, 180_000, async () =>
        (await denialsOf(emulator, since)).find((denial) => denial.role === role && taken.includes(denial.action)),
      );
      await putBack();
    },
    300_000,
  );

  test('goes as it came, but for what is kept (D10-01, D9-05)', async () => {
    await stack.destroy(config);
    expect(await resource(/./)).toBe('');
    expect((await history(cluster, 'step')).length).toBeGreaterThanOrEqual(6);
  }, 300_000);
});
