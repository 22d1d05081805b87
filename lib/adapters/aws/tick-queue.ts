/**
 * The queue between dispatch and reconcile: one message per cluster and tick, in order within a cluster.
 *
 * Identifiers are hashes, because SQS takes at most 128 characters of a narrow alphabet. The deduplication id is made of
 * the scheduled minute, so that a schedule that fires twice sends one tick.
 */
import { createHash } from 'node:crypto';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { assert } from '../../domain/assert.ts';
import { formatInstant, type Instant, instant, minute, parseInstant } from '../../domain/time.ts';
import { type ClusterTarget, clusterKey, clusterTargetSchema } from './cluster-registry.ts';
import { inParallel } from './in-parallel.ts';
import { type ManualRun, manualRunSchema } from './manual-run.ts';

/** A tick of one cluster. @design D1-01 */
export interface TickMessage {
  readonly cluster: ClusterTarget;
  /** When the schedule said so, which may be a minute before now; for a manual run, when it was asked for. */
  readonly scheduledAt: Instant;
  /** Somebody asked for this tick. @design D12-03 */
  readonly run?: ManualRun | undefined;
}

export interface QueueEntry {
  readonly groupId: string;
  readonly deduplicationId: string;
  readonly body: string;
}

/** At most ten entries at a time; answers the positions of those that were not taken. */
export interface TickQueue {
  send(batch: readonly QueueEntry[]): Promise<readonly number[]>;
}

const messageSchema = z.object({
  cluster: clusterTargetSchema,
  scheduledAt: z.string().transform((text, context) => {
    const at = parseInstant(text);
    if (at === undefined) {
      context.addIssue({ code: 'custom', message: 'expected an RFC 3339 time' });
      return z.NEVER;
    }
    return at;
  }),
  run: manualRunSchema.optional(),
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const wholeMinute = (at: Instant): Instant => instant(Math.floor(at / minute) * minute);

/** @design D1-01 */
export function queueEntry({ cluster, scheduledAt, run }: TickMessage): QueueEntry {
  const key = clusterKey(cluster);
  const asked = run && { ...run, requestedAt: formatInstant(run.requestedAt) };
  return {
    groupId: sha256(key),
    deduplicationId: sha256(run ? `${key}#${run.id}` : `${key}@${formatInstant(wholeMinute(scheduledAt))}`),
    body: JSON.stringify({ cluster, scheduledAt: formatInstant(scheduledAt), ...(asked ? { run: asked } : {}) }),
  };
}

/** @throws Error naming every problem: such a message was not written by our dispatch, or by another version of it */
export function readTickMessage(body: string): TickMessage {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (cause) {
    throw new Error('a message of the tick queue is not JSON', { cause });
  }
  const result = messageSchema.safeParse(json);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`a message of the tick queue cannot be read: ${problems.join('; ')}`);
}

const batchSize = 10;
const batchesAtATime = 5;

/**
 * Sends everything in batches; what a batch did not take is sent once more.
 *
 * @returns the entries that were not taken the second time either
 * @design D1-01
 */
export async function sendAll(queue: TickQueue, entries: readonly QueueEntry[]): Promise<readonly QueueEntry[]> {
  const refused = await sendOnce(queue, entries);
  return refused.length === 0 ? [] : await sendOnce(queue, refused);
}

async function sendOnce(queue: TickQueue, entries: readonly QueueEntry[]): Promise<readonly QueueEntry[]> {
  const batches: (readonly QueueEntry[])[] = [];
  for (let start = 0; start < entries.length; start += batchSize) batches.push(entries.slice(start, start + batchSize));
  const refused: QueueEntry[] = [];
  await inParallel(batches, batchesAtATime, async (batch) => {
    for (const position of await queue.send(batch)) {
      const entry = batch[position];
      assert(entry !== undefined, `position ${position} is not in the batch`);
      refused.push(entry);
    }
  });
  return refused;
}

/** The real queue. A batch that fails as a whole counts as not taken. */
export class SqsTickQueue implements TickQueue {
  readonly #client: SQSClient;
  readonly #url: string;
  readonly #failed: (error: unknown) => void;

  constructor(url: string, failed: (error: unknown) => void, client = new SQSClient({ maxAttempts: 3 })) {
    this.#url = url;
    this.#failed = failed;
    this.#client = client;
  }

  async send(batch: readonly QueueEntry[]): Promise<readonly number[]> {
    try {
      const { Failed = [] } = await this.#client.send(
        new SendMessageBatchCommand({
          QueueUrl: this.#url,
          Entries: batch.map(({ groupId, deduplicationId, body }, position) => ({
            Id: String(position),
            MessageGroupId: groupId,
            MessageDeduplicationId: deduplicationId,
            MessageBody: body,
          })),
        }),
        { abortSignal: AbortSignal.timeout(5_000) },
      );
      for (const failure of Failed) this.#failed(failure);
      return Failed.map(({ Id }) => Number(Id));
    } catch (error) {
      this.#failed(error);
      return batch.map((_, position) => position);
    }
  }
}
