import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment, variables } from '../../functions/dispatch/environment.ts';
import { createHandler } from '../../functions/dispatch/handler.ts';
import type { ClusterTarget } from '../../lib/adapters/aws/cluster-registry.ts';
import { fixedFleet } from '../../lib/adapters/aws/fleet.ts';
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
  const fleet = fixedFleet(Array.from({ length: count }, (_, n) => clusterOf(n)));
  const queues = new Map([['', queue]]);
  return { taken, lines, handler: createHandler({ fleet, queues, log, now: () => over.now ?? now }) };
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

test('each cluster goes to the queue of its network, one without a queue is told (D1-07)', async () => {
  const taken: Record<string, number> = {};
  const queueOf = (network: string): TickQueue => ({
    send: async (batch) => {
      taken[network] = (taken[network] ?? 0) + batch.length;
      return [];
    },
  });
  const lines: string[] = [];
  const say = (message: string): void => void lines.push(message);
  const fleet = fixedFleet([clusterOf(1), { ...clusterOf(2), network: 'a' }, { ...clusterOf(3), network: 'b' }]);
  const queues = new Map(['', 'a'].map((network) => [network, queueOf(network)]));
  const handler = createHandler({ fleet, queues, log: { info: say, warn: say, error: say }, now: () => now });
  expect(await handler(event)).toEqual({ outcome: 'Sent', sent: 2, failed: 1 });
  expect(taken).toEqual({ '': 1, a: 1 });
  expect(lines).toEqual(['There is no queue for the network of these clusters', 'Ticks could not be sent']);
});

test('an event of a bus that is not ours ticks nothing (D12-04)', async () => {
  const { handler, taken, lines } = dispatching(1);
  const foreign = {
    source: 'aws.ec2',
    'detail-type': 'EC2 Instance State-change Notification',
    time: event.scheduledTime,
  };
  expect(await handler(foreign)).toEqual({ outcome: 'Ignored', sent: 0, failed: 0 });
  expect(await handler({ ...foreign, source: 'aws.events', 'detail-type': 'Scheduled Event' })).toMatchObject({
    sent: 1,
  });
  expect(taken).toHaveLength(1);
  expect(lines).toEqual(['An event that is not ours was ignored']);
});

test('a missing or unreadable variable is named (D1-07)', () => {
  expect(() => readEnvironment({ [variables.clusters]: '{', [variables.networkQueueUrls]: '[1]' })).toThrow(
    /TICK_QUEUE_URL is not set; TABLE_NAME is not set; ACCOUNT_ID is not set; NETWORK_QUEUE_URLS is .*; CLUSTERS is not JSON/,
  );
  const needed = { [variables.queueUrl]: 'q', [variables.tableName]: 't', [variables.account]: '123456789012' };
  const read = { queueUrl: 'q', networkQueueUrls: {}, tableName: 't', account: '123456789012' };
  expect(readEnvironment({ ...needed, [variables.clusters]: '[]' })).toEqual({ ...read, clusters: [] });
});

test('a fleet too long for an environment is read from a file beside the code (PR-91)', () => {
  const needed = { [variables.queueUrl]: 'q', [variables.tableName]: 't', [variables.account]: '123456789012' };
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  const file = join(folder, 'clusters.json');
  const clusters = Array.from({ length: 150 }, (_, n) => ({ region: 'eu-west-1', name: `cluster-${n}` }));
  writeFileSync(file, JSON.stringify({ clusters }));
  expect(readEnvironment({ ...needed, [variables.clustersFile]: file }).clusters).toEqual({ clusters });
  rmSync(folder, { recursive: true });
  expect(() => readEnvironment({ ...needed, [variables.clustersFile]: file })).toThrow(
    /CLUSTERS_FILE .* cannot be read/,
  );
});
