import { describe, expect, test } from 'vitest';
import { LocalQueue } from '../../lib/cli/local/local-queue.ts';
import type { Duration, Instant } from '../../lib/domain/time.ts';
import { add, minutes, seconds } from '../../lib/domain/time.ts';
import { at } from '../support/builders.ts';

const entry = (groupId: string, body: string, deduplicationId = `${groupId}/${body}`) => ({
  groupId,
  body,
  deduplicationId,
});

function aQueue() {
  let now: Instant = at('2026-06-01T00:00:00Z');
  const queue = new LocalQueue(() => now);
  const pass = (length: Duration): void => {
    now = add(now, length);
  };
  const received: string[] = [];
  const drain = (consume: (body: string) => void = () => {}) =>
    queue.drain(async (message) => {
      received.push(`${message.body}#${message.received}`);
      consume(message.body);
    });
  return { queue, pass, received, drain };
}

const fail = (): never => {
  throw new Error('the consumer failed');
};

describe('the queue of a local run', () => {
  test('gives out a group in the order of sending, whatever other groups do (D1-02)', async () => {
    const { queue, received, drain } = aQueue();
    await queue.send([entry('a', 'a1'), entry('b', 'b1'), entry('a', 'a2')]);
    await queue.send([entry('a', 'a3')]);
    await drain();
    expect(received.filter((body) => body.startsWith('a'))).toEqual(['a1#1', 'a2#1', 'a3#1']);
    expect(received).toContain('b1#1');
    expect(queue.length).toBe(0);
  });

  test.each([
    { after: minutes(0), taken: false },
    { after: seconds(299), taken: false },
    { after: minutes(5), taken: true },
  ])(
    'takes a repeated deduplication id as done for five minutes: after $after ms (D1-01)',
    async ({ after, taken }) => {
      const { queue, pass, received, drain } = aQueue();
      await queue.send([entry('a', 'first', 'same')]);
      await drain();
      pass(after);
      expect(await queue.send([entry('a', 'second', 'same')])).toEqual([]);
      await drain();
      expect(received).toEqual(taken ? ['first#1', 'second#1'] : ['first#1']);
    },
  );

  test('has one message of a group in flight, and the groups side by side (D1-02)', async () => {
    const { queue } = aQueue();
    await queue.send([entry('a', 'a1'), entry('a', 'a2'), entry('b', 'b1')]);
    const inFlight = new Set<string>();
    let most = 0;
    await queue.drain(async ({ groupId }) => {
      expect(inFlight.has(groupId)).toBe(false);
      inFlight.add(groupId);
      most = Math.max(most, inFlight.size);
      await Promise.resolve();
      inFlight.delete(groupId);
    });
    expect(most).toBe(2);
  });

  test('gives out no message of a group while another drain has one of it in flight (D1-02)', async () => {
    const { queue } = aQueue();
    await queue.send([entry('a', 'a1'), entry('a', 'a2')]);
    const bodies: string[] = [];
    await queue.drain(async ({ body }) => {
      if (body === 'a1') await queue.drain(async (other) => void bodies.push(other.body));
      bodies.push(body);
    });
    expect(bodies).toEqual(['a1', 'a2']);
  });

  test.each([
    { after: seconds(59), again: false },
    { after: seconds(60), again: true },
  ])(
    'hides a failed message, and its group behind it, for the visibility timeout: after $after ms (D1-02)',
    async ({ after, again }) => {
      const { queue, pass, received, drain } = aQueue();
      await queue.send([entry('a', 'a1'), entry('a', 'a2')]);
      await drain(fail);
      expect(received).toEqual(['a1#1']);
      pass(after);
      await drain();
      expect(received).toEqual(again ? ['a1#1', 'a1#2', 'a2#1'] : ['a1#1']);
    },
  );

  test('puts a message that failed three times aside, and goes on with its group (D1-02)', async () => {
    const { queue, pass, received, drain } = aQueue();
    await queue.send([entry('a', 'bad'), entry('a', 'good')]);
    const consume = (body: string): void => void (body === 'bad' && fail());
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await drain(consume);
      pass(minutes(1));
    }
    expect(received).toEqual(['bad#1', 'bad#2', 'bad#3', 'good#1']);
    expect(queue.deadLetters.map(({ body }) => body)).toEqual(['bad']);
    expect(queue.length).toBe(0);
  });

  test('forgets a message that is five minutes old: a backlog never builds up (D1-02)', async () => {
    const { queue, pass, received, drain } = aQueue();
    await queue.send([entry('a', 'old')]);
    pass(minutes(5));
    await drain();
    expect(received).toEqual([]);
    expect(queue.length).toBe(0);
    expect(queue.deadLetters).toEqual([]);
  });
});
