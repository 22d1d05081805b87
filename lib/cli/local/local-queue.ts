/**
 * An SQS FIFO queue inside the process, on a clock that is handed in.
 *
 * It keeps what the real one promises and the handlers rely on: order within a group, one message of a group in flight
 * at a time, five minutes of deduplication, a visibility timeout after which a failed message comes back, a dead-letter
 * queue after too many receptions, and a retention after which a message is gone.
 */
import type { QueueEntry, TickQueue } from '../../adapters/aws/tick-queue.ts';
import type { Duration, Instant } from '../../domain/time.ts';
import { add, minutes, seconds } from '../../domain/time.ts';

export interface QueueMessage extends QueueEntry {
  readonly sentAt: Instant;
  /** How often it has been received, this time included. */
  readonly received: number;
}

export interface QueueSettings {
  readonly visibility: Duration;
  readonly retention: Duration;
  readonly maxReceiveCount: number;
}

/** @design D1-02 */
const tickQueueSettings: QueueSettings = {
  visibility: seconds(60),
  retention: seconds(300),
  maxReceiveCount: 3,
};

const deduplicationLasts = minutes(5);

interface Waiting {
  readonly message: Omit<QueueMessage, 'received'>;
  received: number;
  /** Not given out before. */
  visibleAt: Instant;
}

export class LocalQueue implements TickQueue {
  readonly deadLetters: QueueMessage[] = [];
  readonly #now: () => Instant;
  readonly #settings: QueueSettings;
  readonly #groups = new Map<string, Waiting[]>();
  /** When each deduplication id was first sent. */
  readonly #seen = new Map<string, Instant>();

  constructor(now: () => Instant, settings: QueueSettings = tickQueueSettings) {
    this.#now = now;
    this.#settings = settings;
  }

  /** Takes every entry. One whose deduplication id was sent within five minutes is taken and not queued again. */
  async send(batch: readonly QueueEntry[]): Promise<readonly number[]> {
    const now = this.#now();
    for (const [id, at] of this.#seen) if (now >= add(at, deduplicationLasts)) this.#seen.delete(id);
    for (const entry of batch) {
      if (this.#seen.has(entry.deduplicationId)) continue;
      this.#seen.set(entry.deduplicationId, now);
      const waiting: Waiting = { message: { ...entry, sentAt: now }, received: 0, visibleAt: now };
      this.#groups.set(entry.groupId, [...(this.#groups.get(entry.groupId) ?? []), waiting]);
    }
    return [];
  }

  /** Messages that are waiting or in flight. */
  get length(): number {
    return [...this.#groups.values()].reduce((total, group) => total + group.length, 0);
  }

  /**
   * Gives every message that may be received to the consumer, groups side by side and each group in order, until none
   * is left. A message whose consumer throws stays first of its group and is hidden for the visibility timeout.
   */
  async drain(consume: (message: QueueMessage) => Promise<void>): Promise<void> {
    await Promise.all([...this.#groups.keys()].map((groupId) => this.#drainGroup(groupId, consume)));
  }

  async #drainGroup(groupId: string, consume: (message: QueueMessage) => Promise<void>): Promise<void> {
    for (;;) {
      const next = this.#receive(groupId);
      if (!next) return;
      try {
        await consume({ ...next.message, received: next.received });
      } catch {
        // As a Lambda mapping does: a failed message is simply not deleted.
        continue;
      }
      this.#take(groupId, next);
    }
  }

  #receive(groupId: string): Waiting | undefined {
    const now = this.#now();
    for (;;) {
      const first = this.#groups.get(groupId)?.[0];
      if (!first) return undefined;
      if (now >= add(first.message.sentAt, this.#settings.retention)) {
        this.#take(groupId, first);
        continue;
      }
      if (now < first.visibleAt) return undefined;
      if (first.received >= this.#settings.maxReceiveCount) {
        this.deadLetters.push({ ...first.message, received: first.received });
        this.#take(groupId, first);
        continue;
      }
      first.received += 1;
      first.visibleAt = add(now, this.#settings.visibility);
      return first;
    }
  }

  #take(groupId: string, taken: Waiting): void {
    const rest = (this.#groups.get(groupId) ?? []).filter((each) => each !== taken);
    if (rest.length === 0) this.#groups.delete(groupId);
    else this.#groups.set(groupId, rest);
  }
}
