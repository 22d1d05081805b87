/**
 * The bundles exactly as they ship, under Lambda's own runtime client: from the schedule's event to a rotated node.
 *
 * The client is compiled for a minute and therefore installed apart, by `.ci/install-lambda-runtime`; without it these
 * tests are skipped, but not where CI asks for them.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AuditNote } from '../../lib/adapters/aws/audit-note.ts';
import type { AuditRow } from '../../lib/adapters/aws/audit-table.ts';
import { leftovers } from '../../lib/cli/local/leftovers.ts';
import { toWire } from '../../lib/domain/rotation/unrecorded.ts';
import { days, instant, minutes, subtract } from '../../lib/domain/time.ts';
import { AwsFake } from '../support/aws-fake.ts';
import { DeployedFunction } from '../support/deployed-function.ts';
import { type Beat, DeployedService } from '../support/deployed-service.ts';
import { account, type Built, build, foreignRole, otherAccount, region } from '../support/deployment.ts';
import { isMetricLine, metricLineProblems, metricsOf } from '../support/metric-line.ts';
import type { Invoked } from '../support/runtime-api.ts';
import { runtimeClient, runtimeClientRequired, withoutRuntimeClient } from '../support/runtime-client.ts';
import { oneDueNode } from '../support/story.ts';
import { valuesOf } from '../support/template-values.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

test('the runtime client is installed wherever it is asked for (D1-07)', () => {
  expect(runtimeClientRequired && runtimeClient === undefined ? withoutRuntimeClient : 'as asked').toBe('as asked');
});

/** One cluster by its name and with the function's own credentials, one by its tag and through a role elsewhere. */
const deployment = {
  account,
  region,
  clusters: [{ name: 'prod' }],
  discovery: [{ region, roleArn: foreignRole, externalId: 'ours' }],
};
const prod = `${account}/${region}/prod`;
const theirs = `${otherAccount}/${region}/theirs`;
const nothingDue = { ...oneDueNode, pools: oneDueNode.pools.map((pool) => ({ ...pool, ages: [days(2), days(1)] })) };
const names = ['dispatch', 'reconcile', 'widget'] as const;

async function all<T>(rows: AsyncGenerator<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

const withoutIt = runtimeClient === undefined ? ` (skipped: ${withoutRuntimeClient})` : '';

describe.skipIf(runtimeClient === undefined)(`the bundles under the real runtime client${withoutIt}`, () => {
  let built: Built;
  let service: DeployedService;

  beforeAll(async () => {
    built = build(deployment, { bundle: true });
    service = await DeployedService.start(built, runtimeClient ?? '', [
      { name: 'prod', through: 'own', fleet: nothingDue },
      { name: 'theirs', through: 'assumed', fleet: oneDueNode },
    ]);
    service.aws.tagged = ['theirs'];
  });

  afterAll(async () => await service?.stop());

  const rowsOf = (cluster: string): Promise<readonly AuditRow[]> => all(service.table.byCluster(cluster));
  const notesOf = async (cluster: string): Promise<readonly AuditNote[]> =>
    (await all(service.table.notesOf(cluster))).filter(({ kind }) => kind === 'run');
  /** Oldest first. */
  const claimsOf = (name: string): readonly string[] =>
    [...(service.clusters.get(name)?.world.store.all('NodeClaim') ?? [])]
      .sort((a, b) => String(a.metadata.creationTimestamp).localeCompare(String(b.metadata.creationTimestamp)))
      .map(({ metadata }) => metadata.name);
  const leftOn = (name: string): readonly string[] => {
    const world = service.clusters.get(name)?.world;
    return world === undefined ? ['no such cluster'] : leftovers(world.store);
  };

  /** Minute after minute, until a rotation of this cluster is recorded as completed. */
  async function rotate(cluster: string): Promise<readonly Beat[]> {
    const beats: Beat[] = [];
    while (beats.length < 12) {
      beats.push(await service.minute());
      if ((await rowsOf(cluster)).some(({ entry }) => entry.step === 'completed')) break;
    }
    return beats;
  }

  const ticked: readonly Invoked[] = [prod, theirs].map((cluster) => ({
    payload: { ticks: [{ cluster, outcome: 'Ok' }] },
  }));
  const inOrder = (invoked: readonly Invoked[]): readonly Invoked[] =>
    [...invoked].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

  /** What a function answers without asking anybody. */
  const idleEvents = {
    dispatch: { scheduledTime: '2026-01-01T00:00:00Z' },
    reconcile: { Records: [] },
    widget: { describe: true },
  };

  /** Each makes its function ask AWS for something. */
  const busyEvents = (now: string) => ({
    dispatch: { scheduledTime: now },
    reconcile: {
      Records: [
        {
          body: JSON.stringify({
            scheduledAt: now,
            cluster: {
              account,
              region,
              name: 'nowhere',
              endpoint: 'https://127.0.0.1:1',
              certificateAuthority: 'Y2E=',
            },
          }),
        },
      ],
    },
    widget: {},
  });

  test.each(names)('%s asks nothing of anybody, and says nothing, because it is loaded (D1-07)', async (name) => {
    const aws = await AwsFake.start();
    const values = valuesOf(built, { queueUrl: `${aws.url}/queue`, tableName: 'table' });
    const endpoints = { AWS_ENDPOINT_URL: aws.url };
    const loaded = await DeployedFunction.start({ client: runtimeClient ?? '', built, name, values, endpoints });
    expect(loaded.log).toEqual([]);
    // What was begun behind our back needs a moment before it gets to anybody.
    await setTimeout(500);
    expect(await loaded.invoke(idleEvents[name])).toHaveProperty('payload');
    expect(aws.calls).toEqual([]);
    await loaded.invoke(busyEvents(new Date().toISOString())[name]);
    expect(aws.calls.length).toBeGreaterThan(0);
    await loaded.stop();
    await aws.stop();
  });

  test('the schedule rotates the node that is due to its end, and no other (D1-01, D1-02, D1-04, D9-01, D9-03, D10-03, D11-04)', async () => {
    const before = claimsOf('theirs');
    const beats = await rotate(theirs);
    for (const { dispatched, reconciled } of beats) {
      expect(dispatched).toEqual({ payload: { outcome: 'Sent', sent: 2, failed: 0 } });
      expect(inOrder(reconciled)).toEqual(ticked);
    }
    const rows = await rowsOf(theirs);
    expect(rows.map(({ nodePool, entry }) => [nodePool, entry.step])).toEqual([
      ['api', 'started'],
      ['api', 'draining'],
      ['api', 'completed'],
    ]);
    const [{ entry }] = rows.slice(-1) as [AuditRow];
    expect(entry).toMatchObject({ claim: before[0], surgePath: 'provisioned', mode: 'surge' });
    expect(claimsOf('theirs')).toEqual([before[1], entry.surgeClaim]);
    expect(leftOn('theirs')).toEqual([]);
    expect(await rowsOf(prod)).toEqual([]);
    expect(service.aws.events).toEqual(
      rows.map(({ cluster, nodePool, entry }) => ({
        Source: 'noderotation',
        EventBusName: 'node-rotation',
        DetailType:
          { started: 'Rotation Started', draining: 'Rotation Draining' }[String(entry.step)] ?? 'Rotation Completed',
        Detail: JSON.stringify({ cluster, nodePool, ...toWire(entry) }),
      })),
    );
  });

  test('a cluster elsewhere is reached through its role and no other way (D9-03)', () => {
    const asked = service.aws.calls.map(({ operation, input, authorization }) => {
      const [, key] = /Credential=(\w+)/.exec(authorization) ?? [];
      return [operation, input.name ?? input.RoleArn ?? '', key];
    });
    expect(asked.filter(([operation]) => operation !== 'PutEvents').sort()).toEqual([
      // Once for each function that goes there.
      ['AssumeRole', foreignRole, `ASIA${account}`],
      ['AssumeRole', foreignRole, `ASIA${account}`],
      ['DescribeCluster', 'prod', `ASIA${account}`],
      ['DescribeCluster', 'theirs', `ASIA${otherAccount}`],
      ['GetResources', '', `ASIA${otherAccount}`],
    ]);
    const roles = service.aws.calls.filter(({ operation }) => operation === 'AssumeRole');
    expect(roles.map(({ input }) => input.ExternalId)).toEqual(['ours', 'ours']);
  });

  test('a schedule that fires twice for a minute ticks nothing twice (D1-01)', async () => {
    expect((await service.minute()).reconciled).toHaveLength(2);
    expect(await service.again()).toEqual({
      dispatched: { payload: { outcome: 'Sent', sent: 2, failed: 0 } },
      reconciled: [],
    });
  });

  test('a request on the bus starts a rotation, is answered in table and event, and the rotation ends (D12-01, D12-02, D12-03)', async () => {
    const [nodeClaim] = claimsOf('prod');
    service.aws.events.length = 0;
    const asked = { cluster: prod, nodeClaim, action: 'rotate', reason: 'kernel fix', requestedBy: 'alice' };
    const { dispatched, reconciled } = await service.ask(asked, 'event-1');
    expect(dispatched).toEqual({ payload: { outcome: 'Sent', sent: 1, failed: 0 } });
    expect(reconciled).toMatchObject([{ payload: { ticks: [{ cluster: prod, outcome: 'Started' }] } }]);

    const facts = (await notesOf(prod)).map((note) => note.facts);
    const answered = facts.find(({ event }) => event === 'answered');
    expect(facts).toHaveLength(2);
    expect(facts.find(({ event }) => event === 'requested')).toEqual({
      run: 'event-1',
      event: 'requested',
      account: otherAccount,
      action: 'rotate',
      nodeClaim,
      reason: 'kernel fix',
      requestedByAsClaimed: 'alice',
    });
    expect(answered).toMatchObject({ run: 'event-1', event: 'answered', outcome: 'Started', nodeClaim });
    const told = service.aws.events.find(({ DetailType }) => DetailType === 'Rotation Run Answered');
    expect(JSON.parse(told?.Detail ?? '{}')).toEqual({ cluster: prod, ...answered });

    await rotate(prod);
    expect((await rowsOf(prod)).map(({ entry }) => [entry.step, entry.claim])).toEqual([
      ['started', nodeClaim],
      ['draining', nodeClaim],
      ['completed', nodeClaim],
    ]);
    expect(claimsOf('prod')).not.toContain(nodeClaim);
    expect(leftOn('prod')).toEqual([]);
  });

  test('a request that cannot be read is refused by dispatch, every problem named (D12-04)', async () => {
    service.aws.events.length = 0;
    expect(await service.ask({ cluster: prod, action: 'drain', reason: '' }, 'event-2')).toEqual({
      dispatched: { payload: { outcome: 'Refused', sent: 0, failed: 0 } },
      reconciled: [],
    });
    expect(service.aws.events.map(({ DetailType }) => DetailType)).toEqual(['Rotation Run Answered']);
    const { outcome, refusal, message } = JSON.parse(service.aws.events[0]?.Detail ?? '{}');
    expect({ outcome, refusal }).toEqual({ outcome: 'Refused', refusal: 'Malformed' });
    expect(message).toMatch(/action: .*reason: .*requestedBy: /);
  });

  test('events that are not ours are ignored, and late ones dropped (D1-02)', async () => {
    const foreign = { source: 'aws.ec2', 'detail-type': 'EC2 Instance State-change Notification', detail: {} };
    expect(await service.functions.dispatch.invoke(foreign)).toEqual({
      payload: { outcome: 'Ignored', sent: 0, failed: 0 },
    });
    const late = subtract(instant(Math.floor(Date.now() / 1000) * 1000), minutes(3));
    expect(await service.schedule(late)).toEqual({
      dispatched: { payload: { outcome: 'Stale', sent: 0, failed: 0 } },
      reconciled: [],
    });
  });

  test('a payload that is no queue event is an error as Lambda tells it, and the next tick goes well (D1-05)', async () => {
    const invoked = await service.functions.reconcile.invoke({ hello: 'world' });
    expect(invoked).toMatchObject({
      error: { errorType: 'TypeError', errorMessage: expect.stringContaining('iterable') },
    });
    expect('error' in invoked && invoked.error.trace[0]).toMatch(/^TypeError: /);
    expect(inOrder((await service.minute()).reconciled)).toEqual(ticked);
  });

  test('a message that is not ours fails three times, is kept, and holds up no cluster (D1-02)', async () => {
    await service.queue.send('not ours');
    for (let received = 0; received < 3; received += 1) {
      const { reconciled } = await service.minute();
      expect(inOrder(reconciled.filter((invoked) => 'payload' in invoked))).toEqual(ticked);
      expect(reconciled.filter((invoked) => 'error' in invoked)).toMatchObject([
        { error: { errorType: 'Error', errorMessage: 'a message of the tick queue is not JSON' } },
      ]);
      await service.queue.reappear();
    }
    expect((await service.minute()).reconciled).toHaveLength(2);
    expect(await service.queue.deadLetters()).toEqual(['not ours']);
  });

  test('the widget draws both rotations (D11-05)', async () => {
    const { start, end } = { start: Date.UTC(2026, 5, 9), end: Date.UTC(2026, 5, 10) };
    const invoked = await service.functions.widget.invoke({ widgetContext: { timeRange: { start, end } } });
    const html = 'payload' in invoked ? String(invoked.payload) : JSON.stringify(invoked);
    expect(html).toContain('<svg');
    expect(html).toContain(prod);
    expect(html).toContain(theirs);
  });

  test('every line of the log is JSON with a level, or metrics that CloudWatch takes (D11-01, D11-06)', () => {
    const { dispatch, reconcile, widget } = service.functions;
    const lines = [dispatch, reconcile, widget].flatMap(({ log }) => log);
    const metricLines = lines.filter(isMetricLine);
    expect(metricLines.flatMap(metricLineProblems)).toEqual([]);
    const levels = lines.filter((line) => !isMetricLine(line)).map(({ level }) => level);
    expect([...new Set(levels)].sort()).toEqual(['ERROR', 'INFO', 'WARN']);

    const total = (name: string, where: Readonly<Record<string, unknown>> = {}): number =>
      metricLines
        .filter((line) => Object.entries(where).every(([key, value]) => line[key] === value))
        .reduce((sum, line) => sum + Number(metricsOf(line)[name] ?? 0), 0);
    expect(total('noderotation_completed_total', { outcome: 'success' })).toBe(2);
    expect(total('noderotation_manual_runs', { outcome: 'Started' })).toBe(1);
    expect(total('noderotation_manual_runs', { outcome: 'Refused' })).toBe(1);
    expect(total('noderotation_stale_ticks')).toBe(1);
    expect(total('noderotation_tick_failed')).toBe(0);

    const errors = reconcile.log.filter(({ level }) => level === 'ERROR').map(({ message }) => message);
    expect(errors).toHaveLength(4);
    expect(errors).toMatchObject([
      { errorType: 'TypeError' },
      ...Array(3).fill({ errorMessage: 'a message of the tick queue is not JSON' }),
    ]);
  });
});
