import type { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ClusterTarget, clusterKey } from '../../lib/adapters/aws/cluster-registry.ts';
import type { ManualRun } from '../../lib/adapters/aws/manual-run.ts';
import {
  type QueueEntry,
  queueEntry,
  readTickMessage,
  SqsTickQueue,
  sendAll,
} from '../../lib/adapters/aws/tick-queue.ts';
import { at } from '../support/builders.ts';
import { FifoQueue } from '../support/fifo-queue.ts';

const scheduledAt = at('2026-06-09T17:00:00Z');
/** As long as each part may be: an EKS name has 100 characters, the longest region of AWS 14 to 16. */
const longest: ClusterTarget = {
  account: '123456789012',
  region: 'ap-southeast-99',
  name: `a${'-Z_'.repeat(33)}`,
  endpoint: `https://${'0'.repeat(32)}.gr7.ap-southeast-99.eks.amazonaws.com`,
  certificateAuthority: Buffer.from('x'.repeat(1_500)).toString('base64'),
};
const run: ManualRun = {
  id: 'e'.repeat(128),
  account: '999988887777',
  requestedAt: scheduledAt,
  cluster: clusterKey(longest),
  action: 'rotate',
  nodePool: 'p'.repeat(253),
  nodeClaim: 'c'.repeat(253),
  ignoreWindow: true,
  reason: 'r'.repeat(500),
  requestedBy: 'b'.repeat(200),
};

let queue: FifoQueue;
let client: SQSClient;
let refused: unknown[] = [];

beforeAll(async () => {
  queue = await FifoQueue.start();
  client = queue.client();
});

beforeEach(() => {
  queue.renew();
  refused = [];
});

afterAll(async () => {
  client.destroy();
  await queue.stop();
});

const sqs = (over: SQSClient = client): SqsTickQueue => new SqsTickQueue(queue.url, (e) => void refused.push(e), over);
const entries = (count: number): readonly QueueEntry[] =>
  Array.from({ length: count }, (_, n) => ({ groupId: `g${n}`, deduplicationId: `d${n}`, body: `b${n}` }));

async function received(): Promise<readonly string[]> {
  const all: string[] = [];
  for (;;) {
    const some = await queue.receive(client);
    if (some.length === 0) return all;
    for (const message of some) await queue.remove(client, message);
    all.push(...some.map(({ body }) => body));
  }
}

test('SQS takes the ids of the longest names, of ticks and of manual runs, and gives back what was sent (D1-01, D12-01)', async () => {
  const tick = queueEntry({ cluster: longest, scheduledAt });
  const asked = queueEntry({ cluster: longest, scheduledAt, run });
  expect(clusterKey(longest).length).toBeGreaterThan(128);
  expect(await sqs().send([tick, asked])).toEqual([]);
  expect((await received()).map(readTickMessage)).toEqual([
    { cluster: longest, scheduledAt },
    { cluster: longest, scheduledAt, run },
  ]);
});

test.each([
  [128, []],
  [129, [0]],
])('ids of %i characters are what the queue itself judges (D1-01)', async (length, positions) => {
  const id = 'x'.repeat(length);
  const [entry] = entries(1) as [QueueEntry];
  expect(await sqs().send([{ ...entry, groupId: id }])).toEqual(positions);
  expect(await sqs().send([{ ...entry, deduplicationId: id }])).toEqual(positions);
});

test('an entry that comes again within five minutes counts as taken and is there once (D1-01, D1-03)', async () => {
  const [tick] = [queueEntry({ cluster: longest, scheduledAt })];
  expect(await sqs().send([tick])).toEqual([]);
  expect(await sqs().send([tick])).toEqual([]);
  expect(await received()).toEqual([tick.body]);
});

test('positions of failed entries are those of the batch, and each is told (D1-01)', async () => {
  queue.refuses = ({ MessageGroupId }) => (['g3', 'g7'].includes(MessageGroupId) ? 'InternalError' : undefined);
  expect(await sqs().send(entries(10))).toEqual([3, 7]);
  expect(refused).toMatchObject([
    { Id: '3', Code: 'InternalError', SenderFault: false },
    { Id: '7', Code: 'InternalError', SenderFault: false },
  ]);
  expect(await received()).toEqual(['b0', 'b1', 'b2', 'b4', 'b5', 'b6', 'b8', 'b9']);
});

test('failed entries are sent once more, alone and together, and the rest is not sent again (D1-01)', async () => {
  queue.refuses = ({ MessageGroupId }, nth) =>
    MessageGroupId === 'g19' || (nth <= 2 && ['g1', 'g11'].includes(MessageGroupId)) ? 'InternalError' : undefined;
  const left = await sendAll(sqs(), entries(20));
  expect(left.map(({ groupId }) => groupId)).toEqual(['g19']);
  const sent = queue.batches.map((batch) => batch.map(({ MessageGroupId }) => MessageGroupId));
  expect(sent.map((batch) => batch.length)).toEqual([10, 10, 3]);
  expect(sent.at(-1)?.toSorted()).toEqual(['g1', 'g11', 'g19']);
  expect((await received()).toSorted()).toEqual(
    entries(19)
      .map(({ body }) => body)
      .toSorted(),
  );
});

test.each([
  ['AccessDeniedException', 403, 1],
  ['InternalFailure', 500, 3],
])(
  'a batch that %s answers is not taken as a whole, after so many tries (D1-01, D1-05)',
  async (code, status, tries) => {
    let calls = 0;
    queue.denies = () => {
      calls += 1;
      return { code, status };
    };
    const patient = queue.client(3);
    expect(await sqs(patient).send(entries(2))).toEqual([0, 1]);
    expect(calls).toBe(tries);
    expect(refused).toMatchObject([{ name: code }]);
    patient.destroy();
  },
);
