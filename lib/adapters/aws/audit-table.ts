/**
 * The audit table: one row per step of a rotation, put once however often it is tried, and read by cluster, pool or rotation.
 *
 * A row's key is made of what the NodePool's outbox says and never of the time of writing, so a repeated put meets itself.
 */
import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  CreateTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { entryKey, fromWire, toWire, type UnrecordedStep } from '../../domain/rotation/unrecorded.ts';
import { day, formatInstant, type Instant, second } from '../../domain/time.ts';

/** @design D10-01, D10-03 */
const tableKeys = {
  partition: 'pk',
  sort: 'sk',
  ttl: 'ttl',
  byClusterTime: { name: 'byClusterTime', partition: 'cluster', sort: 'time' },
  byPoolTime: { name: 'byPoolTime', partition: 'pool', sort: 'time' },
} as const;

/** A step as it is in the table. */
export interface AuditRow {
  readonly cluster: string;
  readonly nodePool: string;
  readonly entry: UnrecordedStep;
}

/** `new` when this process put the row, also when the answer to its put was lost. */
export type PutOutcome =
  | { readonly outcome: 'new' | 'alreadyThere' }
  | { readonly outcome: 'failed'; readonly throttled: boolean; readonly detail: string };

/** From and to are both included; unset means without bound. */
export interface TimeRange {
  readonly from?: Instant;
  readonly to?: Instant;
}

export interface AuditTableOptions {
  readonly tableName: string;
  /** How long rows are kept; 0 keeps them for ever. */
  readonly retentionDays?: number;
  /** Where the table is, when it is not in this account's region. */
  readonly client?: DynamoDBClient;
  /** Milliseconds since the epoch: rows past their time are not shown even before the table has removed them. */
  readonly now?: () => number;
}

type Item = Record<string, AttributeValue>;

const longestCall = 5_000;
const defaultRetentionDays = 400;
const throttling = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'RequestLimitExceededException',
  'LimitExceededException',
]);

/** A client whose calls end; nothing is signed before the first one. */
export const dynamoDbClient = (config: DynamoDBClientConfig = {}): DynamoDBClient =>
  new DynamoDBClient({ maxAttempts: 3, ...config });

export class AuditTable {
  readonly #client: DynamoDBClient;
  readonly #tableName: string;
  readonly #retentionDays: number;
  readonly #now: () => number;

  constructor({
    tableName,
    retentionDays = defaultRetentionDays,
    client = dynamoDbClient(),
    now = Date.now,
  }: AuditTableOptions) {
    this.#tableName = tableName;
    this.#retentionDays = retentionDays;
    this.#client = client;
    this.#now = now;
  }

  /** Makes the table where no deployment does: an embedded database. An existing table is left as it is. */
  async create(): Promise<void> {
    const key = (AttributeName: string, KeyType: 'HASH' | 'RANGE') => ({ AttributeName, KeyType });
    const { partition, sort, byClusterTime, byPoolTime } = tableKeys;
    const attributes = [partition, sort, byClusterTime.partition, byPoolTime.partition, byClusterTime.sort];
    const command = new CreateTableCommand({
      TableName: this.#tableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: [key(partition, 'HASH'), key(sort, 'RANGE')],
      GlobalSecondaryIndexes: [byClusterTime, byPoolTime].map((index) => ({
        IndexName: index.name,
        KeySchema: [key(index.partition, 'HASH'), key(index.sort, 'RANGE')],
        Projection: { ProjectionType: 'ALL' },
      })),
    });
    try {
      await this.#client.send(command);
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
    }
  }

  /**
   * Puts the row of a step, unless it is there.
   *
   * @returns never throws for an answer of the database: a step that could not be put stays on the outbox
   * @design D10-03
   */
  async putStep(cluster: string, nodePool: string, entry: UnrecordedStep): Promise<PutOutcome> {
    const item = this.#itemOf(cluster, nodePool, entry);
    try {
      await this.#client.send(
        new PutItemCommand({
          TableName: this.#tableName,
          Item: item,
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
        limited(),
      );
      return { outcome: 'new' };
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return await this.#whose(item);
      return failed(error);
    }
  }

  // The client repeats a put whose answer was lost; then the row that stands in its way is its own.
  async #whose(item: Item): Promise<PutOutcome> {
    try {
      const { Item: there } = await this.#client.send(
        new GetItemCommand({
          TableName: this.#tableName,
          Key: { pk: item.pk as AttributeValue, sk: item.sk as AttributeValue },
          ConsistentRead: true,
        }),
        limited(),
      );
      return { outcome: there?.writer?.S === item.writer?.S ? 'new' : 'alreadyThere' };
    } catch (error) {
      return failed(error);
    }
  }

  #itemOf(cluster: string, nodePool: string, entry: UnrecordedStep): Item {
    const ttl = Math.floor(entry.at / second) + this.#retentionDays * (day / second);
    return marshalled({
      pk: cluster,
      sk: `ROT#${entryKey(entry)}`,
      kind: 'step',
      cluster,
      nodePool,
      pool: poolKey(cluster, nodePool),
      time: formatInstant(entry.at),
      writer: randomUUID(),
      ...(this.#retentionDays > 0 ? { ttl } : {}),
      ...toWire(entry),
    });
  }

  /** Oldest first. @design D10-05 */
  byCluster(cluster: string, range: TimeRange = {}): AsyncGenerator<AuditRow> {
    return this.#query(byTime(tableKeys.byClusterTime, cluster, range));
  }

  /** Oldest first. @design D10-05 */
  byPool(cluster: string, nodePool: string, range: TimeRange = {}): AsyncGenerator<AuditRow> {
    return this.#query(byTime(tableKeys.byPoolTime, poolKey(cluster, nodePool), range));
  }

  /** The steps of one rotation, in the order of their names. @design D10-05 */
  byRotation(cluster: string, claimUid: string, startedAt: Instant): AsyncGenerator<AuditRow> {
    return this.#query({
      ConsistentRead: true,
      KeyConditionExpression: '#partition = :partition AND begins_with(#sort, :prefix)',
      ExpressionAttributeNames: { '#partition': 'pk', '#sort': 'sk' },
      ExpressionAttributeValues: {
        ':partition': { S: cluster },
        ':prefix': { S: `ROT#${claimUid}#${formatInstant(startedAt)}#` },
      },
    });
  }

  async *#query(query: Omit<QueryCommandInput, 'TableName'>): AsyncGenerator<AuditRow> {
    const now = Math.floor(this.#now() / second);
    let next: Item | undefined;
    do {
      const page = await this.#client.send(
        new QueryCommand({ TableName: this.#tableName, ...query, ...(next ? { ExclusiveStartKey: next } : {}) }),
        limited(),
      );
      for (const item of page.Items ?? []) {
        const row = rowOf(item);
        if (row !== undefined && Number(item[tableKeys.ttl]?.N ?? Infinity) > now) yield row;
      }
      next = page.LastEvaluatedKey;
    } while (next !== undefined);
  }
}

const poolKey = (cluster: string, nodePool: string): string => `${cluster}#${nodePool}`;

const limited = (): { abortSignal: AbortSignal } => ({ abortSignal: AbortSignal.timeout(longestCall) });

function byTime(
  index: { name: string; partition: string; sort: string },
  partition: string,
  { from, to }: TimeRange,
): Omit<QueryCommandInput, 'TableName'> {
  return {
    IndexName: index.name,
    KeyConditionExpression: '#partition = :partition AND #sort BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#partition': index.partition, '#sort': index.sort },
    ExpressionAttributeValues: {
      ':partition': { S: partition },
      ':from': { S: from === undefined ? '0' : formatInstant(from) },
      ':to': { S: to === undefined ? '9999' : formatInstant(to) },
    },
  };
}

/** Absent and empty values have no attribute. @design D10-01 */
function marshalled(values: Readonly<Record<string, string | number>>): Item {
  const item: Item = {};
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'number') item[name] = { N: String(value) };
    else if (value !== '') item[name] = { S: value };
  }
  return item;
}

function rowOf(item: Item): AuditRow | undefined {
  const plain: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(item)) {
    if (value.S !== undefined) plain[name] = value.S;
    else if (value.N !== undefined) plain[name] = Number(value.N);
  }
  const { kind, cluster, nodePool } = plain;
  const entry = kind === 'step' ? fromWire(plain) : undefined;
  if (entry === undefined || typeof cluster !== 'string' || typeof nodePool !== 'string') return undefined;
  return { cluster, nodePool, entry };
}

function failed(error: unknown): PutOutcome {
  const { name = '', message = String(error) } = error instanceof Error ? error : {};
  return { outcome: 'failed', throttled: throttling.has(name), detail: `${name}: ${message}` };
}
