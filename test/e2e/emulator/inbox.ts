/**
 * A queue of a test's own, as the target of a rule or a subscription: what somebody who listens gets to hear.
 */
import { CreateQueueCommand, DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type AwsEmulator, account, region } from './aws-emulator.ts';

export class Inbox {
  readonly arn: string;
  /** All that was taken out so far. */
  readonly taken: Record<string, unknown>[] = [];
  readonly #client: SQSClient;
  readonly #url: string;

  private constructor(client: SQSClient, url: string, arn: string) {
    this.#client = client;
    this.#url = url;
    this.arn = arn;
  }

  /** Events and notifications may be sent to it. */
  static async open(emulator: AwsEmulator, name: string): Promise<Inbox> {
    const client = new SQSClient(emulator.client);
    const arn = `arn:aws:sqs:${region}:${account}:${name}`;
    const senders = ['events.amazonaws.com', 'sns.amazonaws.com'];
    const policy = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: { Service: senders }, Action: 'sqs:SendMessage', Resource: arn }],
    };
    const { QueueUrl = '' } = await client.send(
      new CreateQueueCommand({ QueueName: name, Attributes: { Policy: JSON.stringify(policy) } }),
    );
    return new Inbox(client, QueueUrl, arn);
  }

  /** All that has arrived since it was opened. */
  async look(): Promise<readonly Record<string, unknown>[]> {
    for (;;) {
      const { Messages = [] } = await this.#client.send(
        new ReceiveMessageCommand({ QueueUrl: this.#url, MaxNumberOfMessages: 10 }),
      );
      if (Messages.length === 0) return this.taken;
      for (const { Body = '{}', ReceiptHandle } of Messages) {
        this.taken.push(JSON.parse(Body));
        await this.#client.send(new DeleteMessageCommand({ QueueUrl: this.#url, ReceiptHandle }));
      }
    }
  }
}
