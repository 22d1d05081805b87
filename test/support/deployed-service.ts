/**
 * The deployment at work, on stand-ins for everything around it: its functions under the real runtime client, its queue
 * on an SQS server, its table on an embedded DynamoDB, and clusters whose clock is moved on by a minute per tick.
 *
 * The schedule moves on with them, ahead of our own clock: what is early is ticked like what is on time.
 */
import { randomUUID } from 'node:crypto';
import { CreateTableCommand, type CreateTableCommandInput, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { type EmbeddedTable, startEmbeddedTable } from '../../lib/cli/embedded-table.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../lib/cli/local/embedded-cluster.ts';
import { add, formatInstant, type Instant, instant, minute, minutes } from '../../lib/domain/time.ts';
import type { Fleet } from '../../lib/simulator/fleet.ts';
import { AwsFake } from './aws-fake.ts';
import { DeployedFunction } from './deployed-function.ts';
import { account, type Built, otherAccount, region } from './deployment.ts';
import { MappedQueue } from './mapped-queue.ts';
import type { Invoked } from './runtime-api.ts';
import { opens } from './story.ts';
import { type Caller, isTokenOf } from './sts-token.ts';
import { theOnly, valuesOf } from './template-values.ts';

export interface DeployedCluster {
  readonly name: string;
  /** Whose role lets ticks in: the function's own, or one that it assumes in the other account. */
  readonly through: 'own' | 'assumed';
  readonly fleet: Fleet;
}

/** One beat of the schedule, or one request, and everything that followed from it. */
export interface Beat {
  readonly dispatched: Invoked;
  readonly reconciled: readonly Invoked[];
}

const callers: Readonly<Record<DeployedCluster['through'], Caller>> = {
  own: { accessKeyId: `ASIA${account}`, secretAccessKey: 'secret', sessionToken: 'token' },
  // As the stand-in for STS hands them out.
  assumed: { accessKeyId: `ASIA${otherAccount}`, secretAccessKey: 's', sessionToken: 't' },
};

const scheduledTime = '<aws.scheduler.scheduled-time>';

export class DeployedService {
  readonly aws: AwsFake;
  readonly queue: MappedQueue;
  readonly table: AuditTable;
  readonly clusters: ReadonlyMap<string, EmbeddedCluster>;
  readonly functions: Readonly<Record<'dispatch' | 'reconcile' | 'widget', DeployedFunction>>;
  readonly #schedule: string;
  readonly #stops: readonly (() => Promise<void>)[];
  #scheduledAt: Instant = instant(Math.floor(Date.now() / minute) * minute);
  #last: Instant = this.#scheduledAt;

  private constructor(parts: Parts) {
    this.aws = parts.aws;
    this.queue = parts.queue;
    this.table = parts.table;
    this.clusters = parts.clusters;
    this.functions = parts.functions;
    this.#schedule = parts.schedule;
    this.#stops = parts.stops;
  }

  /** @param client the file of the runtime client */
  static async start(built: Built, client: string, clusters: readonly DeployedCluster[]): Promise<DeployedService> {
    const stops: (() => Promise<void>)[] = [];
    try {
      return new DeployedService(await startParts(built, client, clusters, stops));
    } catch (error) {
      await stopAll(stops);
      throw error;
    }
  }

  /** The schedule's next minute. Afterwards every cluster is a minute on. */
  async minute(): Promise<Beat> {
    const beat = await this.schedule(this.#scheduledAt);
    this.#last = this.#scheduledAt;
    this.#scheduledAt = add(this.#scheduledAt, minutes(1));
    for (const { world } of this.clusters.values()) world.advance(add(world.now, minutes(1)));
    return beat;
  }

  /** The schedule fires for its last minute once more. */
  async again(): Promise<Beat> {
    return await this.schedule(this.#last);
  }

  /** The schedule fires for this time. */
  async schedule(at: Instant): Promise<Beat> {
    const event = JSON.parse(this.#schedule.replace(scheduledTime, formatInstant(at)));
    return await this.#beat(await this.functions.dispatch.invoke(event));
  }

  /** An event on the stack's own bus, as a rule sends it on. */
  async ask(detail: object, id: string = randomUUID()): Promise<Beat> {
    const event = {
      version: '0',
      id,
      'detail-type': 'Rotation Run Requested',
      source: 'noderotation.manual',
      account: otherAccount,
      time: formatInstant(instant(Math.floor(Date.now() / 1000) * 1000)),
      region,
      resources: [],
      detail,
    };
    return await this.#beat(await this.functions.dispatch.invoke(event, 'manual-runs'));
  }

  async #beat(dispatched: Invoked): Promise<Beat> {
    return { dispatched, reconciled: await this.queue.drain((event) => this.functions.reconcile.invoke(event)) };
  }

  async stop(): Promise<void> {
    await stopAll(this.#stops);
  }
}

interface Parts extends Pick<DeployedService, 'aws' | 'queue' | 'table' | 'clusters' | 'functions'> {
  readonly schedule: string;
  readonly stops: readonly (() => Promise<void>)[];
}

async function startParts(
  built: Built,
  client: string,
  wanted: readonly DeployedCluster[],
  stops: (() => Promise<void>)[],
): Promise<Parts> {
  const aws = await AwsFake.start();
  stops.push(() => aws.stop());
  const queue = await MappedQueue.start(built);
  stops.push(() => queue.stop());
  const database = await startEmbeddedTable();
  stops.push(() => database.close());
  const dynamoDb = clientOf(database);
  stops.push(async () => dynamoDb.destroy());
  const tableName = await makeTable(dynamoDb, built);

  const clusters = new Map<string, EmbeddedCluster>();
  for (const { name, through, fleet } of wanted) {
    const accepts = (token: string): boolean => isTokenOf(token, name, callers[through]);
    const cluster = await startEmbeddedCluster({ startsAt: opens, fleet, accepts });
    stops.push(() => cluster.stop());
    clusters.set(name, cluster);
    const { endpoint = '', certificateAuthority = '' } = cluster.target;
    aws.clusters.set(name, { endpoint, certificateAuthority });
  }

  const values = valuesOf(built, { queueUrl: queue.url, tableName });
  const endpoints = {
    AWS_ENDPOINT_URL: aws.url,
    AWS_ENDPOINT_URL_DYNAMODB: database.endpoint,
    AWS_ENDPOINT_URL_SQS: queue.endpoint,
  };
  const start = async (name: 'dispatch' | 'reconcile' | 'widget'): Promise<DeployedFunction> => {
    const started = await DeployedFunction.start({ client, built, name, values, endpoints });
    stops.push(() => started.stop());
    return started;
  };
  const functions = {
    dispatch: await start('dispatch'),
    reconcile: await start('reconcile'),
    widget: await start('widget'),
  };
  const [, { Properties: schedule }] = theOnly(built, 'AWS::Scheduler::Schedule');
  const { Input } = schedule.Target as { readonly Input: string };
  return {
    aws,
    queue,
    table: new AuditTable({ tableName, client: dynamoDb }),
    clusters,
    functions,
    schedule: Input,
    stops,
  };
}

const clientOf = ({ endpoint }: EmbeddedTable): DynamoDBClient =>
  dynamoDbClient({ endpoint, region, credentials: { accessKeyId: 'x', secretAccessKey: 'x' }, maxAttempts: 1 });

/** The table of the template, but for what only a global one has. @returns its name */
async function makeTable(client: DynamoDBClient, built: Built): Promise<string> {
  const [id, { Properties }] = theOnly(built, 'AWS::DynamoDB::GlobalTable');
  const { AttributeDefinitions, BillingMode, GlobalSecondaryIndexes, KeySchema } =
    Properties as Partial<CreateTableCommandInput>;
  const TableName = `NodeRotation-${id}-0123456789AB`;
  await client.send(
    new CreateTableCommand({ TableName, AttributeDefinitions, BillingMode, GlobalSecondaryIndexes, KeySchema }),
  );
  return TableName;
}

async function stopAll(stops: readonly (() => Promise<void>)[]): Promise<void> {
  for (const stop of [...stops].reverse()) await stop();
}
