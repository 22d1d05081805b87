/**
 * A small HTTP server that stands for EKS, the tagging API, STS, EventBridge and SQS. What it answers is read by the
 * SDK's own deserialisers, so a shape that AWS does not send does not get through.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeCluster {
  readonly status?: string;
  readonly endpoint?: string;
  readonly certificateAuthority?: string;
  readonly authenticationMode?: string;
  readonly publicAccessCidrs?: readonly string[];
}

interface Call {
  readonly operation: string;
  readonly input: Record<string, unknown>;
  readonly authorization: string;
}

interface Reply {
  readonly status?: number;
  readonly body: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  body: JSON.stringify(value),
  headers,
});

/** An error as AWS writes it. */
export const awsError = (type: string, status: number): Reply =>
  json({ __type: type, message: `${type} by the fake` }, status, { 'x-amzn-errortype': type });

export class AwsFake {
  readonly calls: Call[] = [];
  /** By name. */
  readonly clusters = new Map<string, FakeCluster>();
  /** Names that carry the tag, in pages of this size. */
  tagged: readonly string[] = [];
  pageSize = 100;
  /** Entries as the bus and the queue took them. */
  readonly events: { DetailType: string; Detail: string }[] = [];
  readonly messages: { Id: string; MessageDeduplicationId: string; MessageGroupId: string; MessageBody: string }[] = [];
  /** Answers instead of what the fake would say. */
  instead: (call: Call) => Reply | undefined = () => undefined;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<AwsFake> {
    const fake = new AwsFake();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** For any client of the SDK. */
  get config() {
    return {
      endpoint: this.url,
      region: 'ap-northeast-1',
      credentials: { accessKeyId: 'AKIAOWN', secretAccessKey: 'x' },
      maxAttempts: 1,
    };
  }

  reset(): void {
    this.calls.length = 0;
    this.events.length = 0;
    this.messages.length = 0;
    this.clusters.clear();
    this.tagged = [];
    this.pageSize = 100;
    this.instead = () => undefined;
  }

  count(operation: string): number {
    return this.calls.filter((call) => call.operation === operation).length;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = callOf(request, Buffer.concat(chunks).toString('utf8'));
    this.calls.push(call);
    const { status = 200, body, type = 'application/json', headers = {} } = this.instead(call) ?? this.#answer(call);
    response.writeHead(status, { 'Content-Type': type, ...headers });
    response.end(body);
  }

  #answer({ operation, input }: Call): Reply {
    switch (operation) {
      case 'DescribeCluster':
        return this.#describe(String(input.name));
      case 'GetResources':
        return this.#tagged(Number(input.PaginationToken || 0));
      case 'AssumeRole':
        return { body: assumed(String(input.RoleArn)), type: 'text/xml' };
      case 'PutEvents': {
        const entries = input.Entries as AwsFake['events'];
        this.events.push(...entries);
        return json({ FailedEntryCount: 0, Entries: entries.map((_, n) => ({ EventId: `e${n}` })) });
      }
      case 'SendMessageBatch': {
        const entries = input.Entries as AwsFake['messages'];
        this.messages.push(...entries);
        return json({ Successful: entries.map(taken), Failed: [] });
      }
      default:
        return awsError('UnknownOperationException', 400);
    }
  }

  #describe(name: string): Reply {
    const cluster = this.clusters.get(name);
    if (cluster === undefined) return awsError('ResourceNotFoundException', 404);
    const { status = 'ACTIVE', endpoint = `https://${name}.eks.example`, certificateAuthority = 'QUJD' } = cluster;
    return json({
      cluster: {
        name,
        status,
        endpoint,
        certificateAuthority: { data: certificateAuthority },
        accessConfig: { authenticationMode: cluster.authenticationMode ?? 'API' },
        resourcesVpcConfig: {
          endpointPublicAccess: true,
          publicAccessCidrs: cluster.publicAccessCidrs ?? ['0.0.0.0/0'],
        },
      },
    });
  }

  #tagged(from: number): Reply {
    const page = this.tagged.slice(from, from + this.pageSize);
    const next = from + page.length < this.tagged.length ? String(from + page.length) : '';
    return json({
      PaginationToken: next,
      ResourceTagMappingList: page.map((name) => ({
        ResourceARN: `arn:aws:eks:ap-northeast-1:123456789012:cluster/${name}`,
      })),
    });
  }
}

/** What SQS says of an entry that it took. */
export const taken = ({ Id, MessageBody }: AwsFake['messages'][number]) => ({
  Id,
  MessageId: Id,
  MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
});

const hour = 3_600_000;

const assumed = (roleArn: string): string => `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleResult><Credentials>
    <AccessKeyId>ASIA${roleArn.split(':')[4]}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
    <Expiration>${new Date(Date.now() + hour).toISOString()}</Expiration>
  </Credentials></AssumeRoleResult></AssumeRoleResponse>`;

function callOf(request: IncomingMessage, text: string): Call {
  const authorization = String(request.headers.authorization ?? '');
  const target = String(request.headers['x-amz-target'] ?? '')
    .split('.')
    .at(-1);
  if (target) return { operation: target, input: JSON.parse(text), authorization };
  const [, name, entry] = /^\/clusters\/([\w-]+)(\/access-entries\/.+)?$/.exec(request.url ?? '') ?? [];
  if (name !== undefined) {
    return { operation: entry ? 'DescribeAccessEntry' : 'DescribeCluster', input: { name }, authorization };
  }
  const form = Object.fromEntries(new URLSearchParams(text));
  return { operation: form.Action ?? 'Unknown', input: form, authorization };
}
