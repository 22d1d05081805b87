import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DomainEvent, DomainEvents } from '../../lib/adapters/aws/domain-events.ts';
import { AwsFake, awsError } from '../support/aws-fake.ts';

let aws: AwsFake;
let client: EventBridgeClient;

beforeAll(async () => {
  aws = await AwsFake.start();
  client = new EventBridgeClient(aws.config);
});

beforeEach(() => aws.reset());

afterAll(async () => {
  client.destroy();
  await aws.stop();
});

const events = (count: number): readonly DomainEvent[] =>
  Array.from({ length: count }, (_, n) => ({ detailType: 'Rotation Started', detail: `{"n":${n}}` }));
const batches = (): readonly (readonly number[])[] =>
  aws.calls.map(({ input }) => (input.Entries as { Detail: string }[]).map(({ Detail }) => JSON.parse(Detail).n));

/** Refuses entries by what they carry; takes the others. */
function refuse(which: (n: number, call: number) => boolean): void {
  aws.instead = ({ input }) => {
    const entries = input.Entries as typeof aws.events;
    const verdicts = entries.map((entry) => {
      if (which(JSON.parse(entry.Detail).n, aws.calls.length))
        return { ErrorCode: 'InternalFailure', ErrorMessage: 'x' };
      aws.events.push(entry);
      return { EventId: 'e' };
    });
    const FailedEntryCount = verdicts.filter((verdict) => 'ErrorCode' in verdict).length;
    return { body: JSON.stringify({ FailedEntryCount, Entries: verdicts }) };
  };
}

test('events go to their bus under our source, ten at a time, in order (D11-04)', async () => {
  expect(await new DomainEvents('installation', client).publish(events(23))).toBe(0);
  expect(batches().map((batch) => batch.length)).toEqual([10, 10, 3]);
  expect(aws.events[0]).toEqual({
    EventBusName: 'installation',
    Source: 'noderotation',
    DetailType: 'Rotation Started',
    Detail: '{"n":0}',
  });
  expect(aws.events.map(({ Detail }) => JSON.parse(Detail).n)).toEqual(Array.from({ length: 23 }, (_, n) => n));
});

test('no events are no call (D11-04)', async () => {
  expect(await new DomainEvents('bus', client).publish([])).toBe(0);
  expect(aws.calls).toEqual([]);
});

test('entries that a 200 answer names as failed are sent once more, alone, then counted (D11-04)', async () => {
  refuse((n, call) => n === 7 || (n === 2 && call === 1));
  expect(await new DomainEvents('bus', client).publish(events(12))).toBe(1);
  expect(batches()).toEqual([
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [2, 7],
    [10, 11],
  ]);
  expect(aws.events.map(({ Detail }) => JSON.parse(Detail).n)).toEqual([0, 1, 3, 4, 5, 6, 8, 9, 2, 10, 11]);
});

test.each([
  ['AccessDeniedException', 400, 1],
  ['InternalException', 500, 3],
])(
  'a bus that answers %s is an error after so many tries: whoever publishes tells it (D11-04)',
  async (type, status, tries) => {
    aws.instead = () => awsError(type, status);
    const patient = new EventBridgeClient({ ...aws.config, maxAttempts: 3 });
    await expect(new DomainEvents('bus', patient).publish(events(2))).rejects.toThrow(type);
    expect(aws.calls).toHaveLength(tries);
    patient.destroy();
  },
);
