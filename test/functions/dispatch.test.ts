import { expect, test } from 'vitest';
import { readEnvironment, variables } from '../../functions/dispatch/environment.ts';
import { createHandler } from '../../functions/dispatch/handler.ts';
import type { ClusterTarget } from '../../lib/adapters/aws/cluster-registry.ts';
import type { Log } from '../../lib/adapters/aws/tick-log.ts';
import { type QueueEntry, readTickMessage, type TickQueue } from '../../lib/adapters/aws/tick-queue.ts';
import { at } from '../support/builders.ts';

const now = Date.parse('2026-06-09T17:00:42Z');

const clusterOf = (n: number): ClusterTarget => ({
  account: '123456789012',
  region: 'ap-northeast-1',
  name: `c${n}`,
  endpoint: `https://c${n}.example`,
  certificateAuthority: 'QUJD',
});

function dispatching(count: number, over: { now?: number; refuse?: (entry: QueueEntry) => boolean } = {}) {
  const taken: QueueEntry[] = [];
  const lines: string[] = [];
  const queue: TickQueue = {
    send: async (batch) => {
      const refused = batch.flatMap((entry, position) => (over.refuse?.(entry) ? [position] : []));
      taken.push(...batch.filter((_, position) => !refused.includes(position)));
      return refused;
    },
  };
  const say = (message: string): void => void lines.push(message);
  const log: Log = { info: say, warn: say, error: say };
  const clusters = Array.from({ length: count }, (_, n) => clusterOf(n));
  return { taken, lines, handler: createHandler({ clusters, queue, log, now: () => over.now ?? now }) };
}

const event = { scheduledTime: '2026-06-09T17:00:00Z' };

test('every cluster gets one message with the scheduled time (D1-01)', async () => {
  const { handler, taken, lines } = dispatching(25);
  expect(await handler(event)).toEqual({ outcome: 'Sent', sent: 25, failed: 0 });
  const messages = taken.map(({ body }) => readTickMessage(body));
  expect(messages.map(({ cluster }) => cluster.name).toSorted()).toEqual(
    Array.from({ length: 25 }, (_, n) => `c${n}`).toSorted(),
  );
  expect(messages.every(({ scheduledAt }) => scheduledAt === at('2026-06-09T17:00:00Z'))).toBe(true);
  expect(lines).toEqual([]);
});

test('a schedule that fires twice sends the same deduplication ids (D1-01, D1-03)', async () => {
  const { handler, taken } = dispatching(1);
  await handler(event);
  await handler(event);
  expect(new Set(taken.map(({ deduplicationId }) => deduplicationId)).size).toBe(1);
});

test('a scheduled time that cannot be read is replaced by the current minute and reported (D1-01)', async () => {
  const { handler, taken, lines } = dispatching(1);
  await handler({ scheduledTime: '<aws.scheduler.scheduled-time>' });
  expect(readTickMessage(taken[0]?.body ?? '').scheduledAt).toBe(at('2026-06-09T17:00:00Z'));
  expect(lines).toEqual([expect.stringContaining('cannot be read')]);
});

test('a schedule that comes too late is dropped and told (D1-02)', async () => {
  const { handler, taken, lines } = dispatching(1, { now: at('2026-06-09T17:02:31Z') });
  expect(await handler(event)).toEqual({ outcome: 'Stale', sent: 0, failed: 0 });
  expect(taken).toEqual([]);
  expect(lines).toEqual([expect.stringContaining('too late')]);
});

test('what the queue does not take is counted and told; the others are sent (D1-01)', async () => {
  const { handler, lines } = dispatching(12, { refuse: ({ body }) => body.includes('"c3"') });
  expect(await handler(event)).toEqual({ outcome: 'Sent', sent: 11, failed: 1 });
  expect(lines).toEqual(['Ticks could not be sent']);
});

test('a missing or unreadable variable is named (D1-07)', () => {
  expect(() => readEnvironment({ [variables.clusters]: '{' })).toThrow(
    /TICK_QUEUE_URL is not set; CLUSTERS is not JSON/,
  );
  expect(readEnvironment({ [variables.queueUrl]: 'q', [variables.clusters]: '[]' })).toEqual({
    queueUrl: 'q',
    clusters: [],
  });
});
