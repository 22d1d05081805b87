/**
 * The tick queue of the template on an SQS server in this process, and what Lambda puts between a queue and its
 * function: the event source mapping, which receives, invokes, and deletes what the function did not fail on.
 */
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { account, type Built, region } from './deployment.ts';
import type { Invoked } from './runtime-api.ts';
import { theOnly } from './template-values.ts';

type SqsServer = ReturnType<typeof buildApp>;

export class MappedQueue {
  readonly endpoint: string;
  readonly url: string;
  readonly #server: SqsServer;
  readonly #client: SQSClient;
  readonly #arn: string;
  readonly #deadLettersUrl: string;
  readonly #batchSize: number;
  /** Receipts of what a function failed on: hidden until the visibility timeout. */
  #hidden: string[] = [];

  private constructor(server: SqsServer, endpoint: string, client: SQSClient, made: Made) {
    this.#server = server;
    this.#client = client;
    this.endpoint = endpoint;
    this.url = made.url;
    this.#arn = made.arn;
    this.#deadLettersUrl = made.deadLettersUrl;
    this.#batchSize = made.batchSize;
  }

  static async start(built: Built): Promise<MappedQueue> {
    const server = buildApp({ logger: false, defaultRegion: region });
    const endpoint = await server.listen({ port: 0, host: '127.0.0.1' });
    const credentials = { accessKeyId: `ASIA${account}`, secretAccessKey: 'secret' };
    const client = new SQSClient({ endpoint, region, credentials, maxAttempts: 1 });
    const made = await makeQueues(client, built);
    // The server names a host of its own that not every machine can look up; only the path counts.
    return new MappedQueue(server, endpoint, client, {
      ...made,
      url: new URL(new URL(made.url).pathname, endpoint).href,
    });
  }

  /** Puts something on the queue that no dispatch of ours has sent. */
  async send(body: string): Promise<void> {
    const entry = { QueueUrl: this.url, MessageBody: body, MessageGroupId: 'foreign', MessageDeduplicationId: body };
    await this.#client.send(new SendMessageCommand(entry));
  }

  /** Invokes the function with batch after batch until nothing can be received. */
  async drain(invoke: (event: unknown) => Promise<Invoked>): Promise<readonly Invoked[]> {
    const all: Invoked[] = [];
    for (;;) {
      const messages = await this.#receive(this.url);
      if (messages.length === 0) return all;
      const invoked = await invoke({ Records: messages.map((message) => this.#record(message)) });
      all.push(invoked);
      for (const { ReceiptHandle = '' } of messages) {
        if ('error' in invoked) this.#hidden.push(ReceiptHandle);
        else await this.#client.send(new DeleteMessageCommand({ QueueUrl: this.url, ReceiptHandle }));
      }
    }
  }

  /** Lets the visibility timeout of everything that failed run out. */
  async reappear(): Promise<void> {
    for (const ReceiptHandle of this.#hidden.splice(0)) {
      await this.#client.send(
        new ChangeMessageVisibilityCommand({ QueueUrl: this.url, ReceiptHandle, VisibilityTimeout: 0 }),
      );
    }
  }

  /** Bodies of the messages in the dead-letter queue. */
  async deadLetters(): Promise<readonly string[]> {
    return (await this.#receive(this.#deadLettersUrl)).map(({ Body = '' }) => Body);
  }

  async stop(): Promise<void> {
    this.#client.destroy();
    await this.#server.close();
  }

  async #receive(url: string): Promise<readonly Message[]> {
    const { Messages = [] } = await this.#client.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: this.#batchSize,
        MessageSystemAttributeNames: ['All'],
      }),
    );
    return Messages;
  }

  #record({ MessageId, ReceiptHandle, Body, MD5OfBody, Attributes }: Message) {
    return {
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: Attributes,
      messageAttributes: {},
      md5OfBody: MD5OfBody,
      eventSource: 'aws:sqs',
      eventSourceARN: this.#arn,
      awsRegion: region,
    };
  }
}

interface Made {
  readonly url: string;
  readonly arn: string;
  readonly deadLettersUrl: string;
  readonly batchSize: number;
}

async function makeQueues(client: SQSClient, built: Built): Promise<Made> {
  const [, { Properties: queue }] = theOnly(built, 'AWS::SQS::Queue', 'TicksQueue');
  const [, { Properties: deadLetters }] = theOnly(built, 'AWS::SQS::Queue', 'TicksDeadLetters');
  const [, { Properties: mapping }] = theOnly(built, 'AWS::Lambda::EventSourceMapping');
  const dead = await makeQueue(client, 'dead-letters.fifo', deadLetters);
  const { RedrivePolicy, ...others } = queue;
  const redrive = JSON.stringify({ ...(RedrivePolicy as object), deadLetterTargetArn: dead.arn });
  const { url, arn } = await makeQueue(client, 'ticks.fifo', { ...others, RedrivePolicy: redrive });
  return { url, arn, deadLettersUrl: dead.url, batchSize: Number(mapping.BatchSize) };
}

async function makeQueue(client: SQSClient, QueueName: string, properties: Readonly<Record<string, unknown>>) {
  const Attributes = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, String(value)]));
  const { QueueUrl: url = '' } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
  const asked = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] });
  const { QueueArn: arn = '' } = (await client.send(asked)).Attributes ?? {};
  return { url, arn };
}
