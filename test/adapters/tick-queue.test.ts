import { expect, test } from 'vitest';
import type { ClusterTarget } from '../../lib/adapters/aws/cluster-registry.ts';
import { isStale, readSchedule } from '../../lib/adapters/aws/schedule-event.ts';
import { type QueueEntry, queueEntry, readTickMessage, sendAll } from '../../lib/adapters/aws/tick-queue.ts';
import { at } from '../support/builders.ts';

const cluster: ClusterTarget = {
  account: '123456789012',
  region: 'ap-northeast-1',
  name: 'prod',
  endpoint: 'https://example.eks.amazonaws.com',
  certificateAuthority: 'QUJD',
};
const scheduledAt = at('2026-06-09T17:00:00Z');

test('a message survives the queue (D1-01, D9-02)', () => {
  expect(readTickMessage(queueEntry({ cluster, scheduledAt }).body)).toEqual({ cluster, scheduledAt });
});

test('ids are short however long the names are (D1-01)', () => {
  const long = { ...cluster, region: 'us-isob-east-1', name: 'x'.repeat(100) };
  const { groupId, deduplicationId } = queueEntry({ cluster: long, scheduledAt });
  expect(groupId).toMatch(/^[0-9a-f]{64}$/);
  expect(deduplicationId).toMatch(/^[0-9a-f]{64}$/);
});

test('a schedule that fires twice in a minute makes the same deduplication id (D1-01)', () => {
  const first = queueEntry({ cluster, scheduledAt });
  const second = queueEntry({ cluster, scheduledAt: at('2026-06-09T17:00:59.999Z') });
  const next = queueEntry({ cluster, scheduledAt: at('2026-06-09T17:01:00Z') });
  expect(second.deduplicationId).toBe(first.deduplicationId);
  expect(next.deduplicationId).not.toBe(first.deduplicationId);
  expect(next.groupId).toBe(first.groupId);
});

test('another cluster has another group (D1-01)', () => {
  const other = queueEntry({ cluster: { ...cluster, name: 'test' }, scheduledAt });
  expect(other.groupId).not.toBe(queueEntry({ cluster, scheduledAt }).groupId);
});

test('a message that cannot be read names every problem (D1-01)', () => {
  expect(() => readTickMessage('{')).toThrow('not JSON');
  expect(() =>
    readTickMessage(JSON.stringify({ cluster: { ...cluster, endpoint: 'http://x' }, scheduledAt: 'soon' })),
  ).toThrow(/cluster\.endpoint: .*scheduledAt: /);
});

const entries = (count: number): QueueEntry[] =>
  Array.from({ length: count }, (_, n) => ({ groupId: `g${n}`, deduplicationId: `d${n}`, body: '' }));

test('messages go in batches of ten, a few at a time (D1-01)', async () => {
  const sizes: number[] = [];
  let underWay = 0;
  let most = 0;
  const queue = {
    send: async (batch: readonly QueueEntry[]) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 1));
      sizes.push(batch.length);
      underWay -= 1;
      return [];
    },
  };
  expect(await sendAll(queue, entries(123))).toEqual([]);
  expect(sizes.toSorted((a, b) => a - b)).toEqual([3, ...Array(12).fill(10)]);
  expect(most).toBe(5);
});

test('what a batch did not take is sent once more, then counted (D1-01)', async () => {
  const sent: string[][] = [];
  const queue = {
    send: async (batch: readonly QueueEntry[]) => {
      sent.push(batch.map(({ groupId }) => groupId));
      return batch.flatMap(({ groupId }, position) =>
        groupId === 'g1' || (groupId === 'g2' && sent.length === 1) ? [position] : [],
      );
    },
  };
  expect((await sendAll(queue, entries(3))).map(({ groupId }) => groupId)).toEqual(['g1']);
  expect(sent).toEqual([
    ['g0', 'g1', 'g2'],
    ['g1', 'g2'],
  ]);
});

test.each([
  [{ scheduledTime: '2026-06-09T17:00:00Z' }, { scheduledAt }],
  [{ time: '2026-06-09T17:00:00Z', source: 'aws.events' }, { scheduledAt }],
  [{ scheduledTime: 'soon' }, { scheduledAt, replaced: 'soon' }],
  [{}, { scheduledAt, replaced: '{}' }],
  [undefined, { scheduledAt, replaced: 'nothing' }],
])('the scheduled time is read, or the current minute taken and said so (D1-01): %j', (event, schedule) => {
  expect(readSchedule(event, Date.parse('2026-06-09T17:00:42Z'))).toEqual(schedule);
});

test.each([
  [150_000, false],
  [150_001, true],
  [-60_000, false],
])('a tick scheduled %d ms ago is stale: %s (D1-02)', (age, stale) => {
  expect(isStale(scheduledAt, scheduledAt + age)).toBe(stale);
});

test('a manual run survives the queue, and two requests are two messages (D12-01, D1-01)', () => {
  const run = {
    id: 'event-1',
    account: '123456789012',
    requestedAt: scheduledAt,
    cluster: '123456789012/ap-northeast-1/prod',
    action: 'rotate' as const,
    nodeClaim: 'api-1',
    reason: 'kernel fix',
    requestedBy: 'alice',
  };
  const entry = queueEntry({ cluster, scheduledAt, run });
  expect(readTickMessage(entry.body)).toEqual({ cluster, scheduledAt, run });
  const scheduled = queueEntry({ cluster, scheduledAt });
  const again = queueEntry({ cluster, scheduledAt, run: { ...run, id: 'event-2' } });
  expect(new Set([entry, scheduled, again].map(({ deduplicationId }) => deduplicationId)).size).toBe(3);
  expect(new Set([entry, scheduled, again].map(({ groupId }) => groupId)).size).toBe(1);
});
