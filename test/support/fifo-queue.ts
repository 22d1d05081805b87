/**
 * An SQS server with a FIFO queue, behind a gate that knows what it lets pass: the ids that SQS refuses, and whatever a
 * test wants refused. Answers are read by the SDK's own deserialisers.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';

export interface BatchEntry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly MessageGroupId: string;
  readonly MessageDeduplicationId: string;
}

export interface Received {
  readonly body: string;
  readonly receipt: string;
}

/** As SQS writes it: 1 to 128 letters, digits and punctuation. */
const legalId = /^[\w!"#$%&'()*+,\-./:;<=>?@[\\\]^`{|}~]{1,128}$/;

export class FifoQueue {
  /** Batches as they came, each by the ids of its entries' groups. */
  readonly batches: BatchEntry[][] = [];
  /** Why an entry is not taken; the others of its batch are. */
  refuses: (entry: BatchEntry, nth: number) => string | undefined = () => undefined;
  /** Why a whole call is not answered. */
  denies: (operation: string) => { readonly code: string; readonly status: number } | undefined = () => undefined;
  readonly #backend: FauxqsServer;
  readonly #gate: Server;
  #url = '';
  #made = 0;

  private constructor(backend: FauxqsServer) {
    this.#backend = backend;
    this.#gate = createServer((request, response) => {
      void this.#serve(request).then(({ status, text }) => {
        response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' });
        response.end(text);
      });
    });
  }

  static async start(): Promise<FifoQueue> {
    const queue = new FifoQueue(await startFauxqs({ port: 0, logger: false }));
    await new Promise<void>((resolve) => queue.#gate.listen(0, '127.0.0.1', resolve));
    return queue;
  }

  /** A queue that nobody has used yet. */
  renew(): void {
    this.#made += 1;
    this.batches.length = 0;
    this.refuses = () => undefined;
    this.denies = () => undefined;
    const attributes = { FifoQueue: 'true', VisibilityTimeout: '60' };
    this.#url = this.#backend.createQueue(`ticks-${this.#made}.fifo`, { attributes }).queueUrl;
  }

  get url(): string {
    return this.#url;
  }

  client(maxAttempts = 1): SQSClient {
    return new SQSClient({
      endpoint: `http://127.0.0.1:${(this.#gate.address() as AddressInfo).port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
      maxAttempts,
    });
  }

  /** What is there to be received: of a group with a message in flight, nothing. */
  async receive(client: SQSClient): Promise<readonly Received[]> {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: this.#url, MaxNumberOfMessages: 10 }),
    );
    return Messages.map(({ Body = '', ReceiptHandle = '' }) => ({ body: Body, receipt: ReceiptHandle }));
  }

  async remove(client: SQSClient, { receipt }: Received): Promise<void> {
    await client.send(new DeleteMessageCommand({ QueueUrl: this.#url, ReceiptHandle: receipt }));
  }

  async stop(): Promise<void> {
    this.#gate.closeAllConnections();
    await new Promise((resolve) => this.#gate.close(resolve));
    await this.#backend.stop();
  }

  async #serve(request: IncomingMessage): Promise<{ status: number; text: string }> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const target = String(request.headers['x-amz-target'] ?? '');
    const operation = target.split('.').at(-1) ?? '';
    const denied = this.denies(operation);
    if (denied !== undefined) {
      return { status: denied.status, text: JSON.stringify({ __type: denied.code, message: 'by the gate' }) };
    }
    if (operation !== 'SendMessageBatch') return await this.#pass(target, JSON.parse(text));
    const input = JSON.parse(text) as { readonly Entries: BatchEntry[] };
    const nth = this.batches.push(input.Entries);
    const verdicts = input.Entries.map((entry) => ({ entry, code: wrongId(entry) ?? this.refuses(entry, nth) }));
    const Failed = verdicts.flatMap(({ entry: { Id }, code }) =>
      code === undefined ? [] : [{ Id, Code: code, SenderFault: code === 'InvalidParameterValue', Message: code }],
    );
    const Entries = verdicts.flatMap(({ entry, code }) => (code === undefined ? [entry] : []));
    if (Entries.length === 0) return { status: 200, text: JSON.stringify({ Successful: [], Failed }) };
    const passed = await this.#pass(target, { ...input, Entries });
    if (passed.status !== 200) return passed;
    const answer = JSON.parse(passed.text) as { readonly Failed?: readonly object[] };
    return { status: 200, text: JSON.stringify({ ...answer, Failed: [...(answer.Failed ?? []), ...Failed] }) };
  }

  async #pass(target: string, input: object): Promise<{ status: number; text: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.#backend.port}/`, {
      method: 'POST',
      headers: {
        'X-Amz-Target': target,
        'Content-Type': 'application/x-amz-json-1.0',
        Authorization: fauxAuthorization,
      },
      body: JSON.stringify(input),
    });
    return { status: answer.status, text: await answer.text() };
  }
}

const fauxAuthorization =
  'AWS4-HMAC-SHA256 Credential=x/20260609/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=x';

const wrongId = ({ MessageGroupId, MessageDeduplicationId }: BatchEntry): string | undefined =>
  legalId.test(MessageGroupId) && legalId.test(MessageDeduplicationId) ? undefined : 'InvalidParameterValue';
