/**
 * Requests for manual runs, from the event to the answer: however often and late each of the two hops delivers them,
 * there is one row of each kind, one event and one count.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { metricNames } from '../../lib/adapters/aws/metric-names.ts';
import { formatInstant } from '../../lib/domain/time.ts';
import { Installation, Surroundings } from '../support/installation.ts';
import { opens } from '../support/story.ts';

let around: Surroundings;
let installation: Installation;
let emitted: Record<string, unknown>[] = [];

beforeAll(async () => {
  around = await Surroundings.start();
});

beforeEach(async () => {
  emitted = [];
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.spyOn(console, 'log').mockImplementation((line: string) => void emitted.push(JSON.parse(line)));
  installation = await Installation.start(around);
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await installation.stop();
});

afterAll(async () => {
  await around.stop();
});

const request = (over: object) => ({
  source: 'noderotation.manual',
  'detail-type': 'Rotation Run Requested',
  id: 'event-1',
  account: '999988887777',
  time: formatInstant(opens),
  detail: { cluster: installation.key, reason: 'kernel fix', requestedBy: 'alice', ...over },
});

/** The youngest NodeClaim, which is not due. */
const young = (): string => installation.cluster.world.store.all('NodeClaim').at(-1)?.metadata.name ?? '';

const answers = (): readonly Record<string, unknown>[] =>
  around.aws.events
    .filter(({ DetailType }) => DetailType === 'Rotation Run Answered')
    .map(({ Detail }) => JSON.parse(Detail));
const runs = async () => (await installation.notes()).filter(({ kind }) => kind === 'run');
const counted = (): readonly unknown[] =>
  emitted.filter((line) => metricNames.manualRuns in line).map(({ outcome }) => outcome);

/** One row of each kind, one event, one count. */
async function expectOneAnswer(outcome: string): Promise<void> {
  const rows = await runs();
  expect(rows.map(({ key }) => key).toSorted()).toEqual([
    'RUN#2026-06-09T17:00:00Z#event-1#answered',
    'RUN#2026-06-09T17:00:00Z#event-1#requested',
  ]);
  expect(answers()).toMatchObject([{ run: 'event-1', event: 'answered', outcome }]);
  expect(counted()).toEqual([outcome]);
}

test.each<readonly [string, () => object, string]>([
  ['tick', () => ({ action: 'tick' }), 'Done'],
  ['plan', () => ({ action: 'plan', nodePool: 'api' }), 'Done'],
  ['rotation', () => ({ action: 'rotate', nodeClaim: young() }), 'Started'],
  ['rotation outside the window', () => ({ action: 'rotate', nodeClaim: young(), ignoreWindow: true }), 'Started'],
  ['rotation of what is not there', () => ({ action: 'rotate', nodeClaim: 'elsewhere' }), 'Refused'],
])(
  'a %s that is asked for is answered once, however often event and message come (D12-01, D12-02, D12-03)',
  async (_, over, outcome) => {
    const event = request(over());
    for (let n = 0; n < 3; n += 1) await installation.event(event);
    const bodies = await installation.receive();
    expect(bodies).toHaveLength(1);
    const [body = ''] = bodies;
    expect(await installation.reconcile(body)).toMatchObject({ outcome });
    // The process is another one, and the event has been sent on once more after all.
    installation.otherProcesses();
    await installation.event(event);
    installation.forward();
    expect(await installation.reconcile(body)).toEqual({ cluster: installation.key, outcome: 'AnsweredBefore' });
    await expectOneAnswer(outcome);
  },
  30_000,
);

test('an event that comes after its ten minutes is Expired, once (D1-02, D12-03)', async () => {
  installation.forward(11);
  for (let n = 0; n < 3; n += 1) {
    expect(await installation.event(request({ action: 'tick' }))).toEqual({ outcome: 'Expired', sent: 0, failed: 0 });
  }
  expect(around.queue.batches).toEqual([]);
  await expectOneAnswer('Expired');
}, 30_000);

test('a message that comes after its ten minutes is Expired, once, and rotates nothing (D1-02, D12-03)', async () => {
  await installation.event(request({ action: 'rotate', nodeClaim: young() }));
  const [body = ''] = await installation.receive();
  installation.forward(11);
  expect(await installation.reconcile(body)).toMatchObject({ outcome: 'Expired' });
  expect(await installation.reconcile(body)).toMatchObject({ outcome: 'AnsweredBefore' });
  expect(await installation.steps()).toEqual([]);
  await expectOneAnswer('Expired');
}, 30_000);

test.each([
  ['half a request', () => ({ action: 'rotate' })],
  ['a request for an unknown cluster', () => ({ action: 'tick', cluster: '123456789012/eu-west-1/elsewhere' })],
])(
  '%s is refused once, and reaches no queue (D12-03, D12-04)',
  async (_, over) => {
    const event = request(over());
    for (let n = 0; n < 3; n += 1) expect(await installation.event(event)).toMatchObject({ outcome: 'Refused' });
    expect(around.queue.batches).toEqual([]);
    expect(answers()).toMatchObject([{ outcome: 'Refused' }]);
    expect(counted()).toEqual(['Refused']);
  },
  30_000,
);

test('a rotation whose process ended before it could answer is told as started, and is one rotation (D12-03, D1-03)', async () => {
  const nodeClaim = young();
  await installation.event(request({ action: 'rotate', nodeClaim }));
  const [body = ''] = await installation.receive();
  const ended = new Promise<'ended'>((resolve) => {
    installation.databaseFault = ({ input }) => {
      if (!input.includes('#answered') || !input.includes('attribute_not_exists')) return undefined;
      resolve('ended');
      return 'never answers';
    };
  });
  expect(await Promise.race([installation.reconcile(body), ended])).toBe('ended');
  installation.databaseFault = () => undefined;
  installation.otherProcesses();
  installation.forward();
  expect(await installation.reconcile(body)).toMatchObject({ outcome: 'Started' });
  await expectOneAnswer('Started');
  expect((await installation.steps()).map(({ step, claim }) => [step, claim])).toEqual([['started', nodeClaim]]);
}, 30_000);

test('a request that the table did not take when it came is in it with the answer (D12-03, D10-04)', async () => {
  installation.databaseFault = () => 'ProvisionedThroughputExceededException';
  await installation.event(request({ action: 'tick' }));
  installation.databaseFault = () => undefined;
  expect(emitted.filter((line) => metricNames.auditLost in line)).toMatchObject([{ [metricNames.auditLost]: 1 }]);
  const [body = ''] = await installation.receive();
  await installation.reconcile(body);
  await expectOneAnswer('Done');
}, 30_000);
