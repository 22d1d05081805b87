/**
 * The audit table: one row per step of a rotation, put once however often it is tried, and read by cluster, pool or rotation.
 *
 * A row's key is made of what the NodePool's outbox says and never of the time of writing, so a repeated put meets itself.
 */
import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/client-dynamodb';
import { entryKey, toWire, type UnrecordedStep } from '../../domain/rotation/unrecorded.ts';
import { day, formatInstant, type Instant, second } from '../../domain/time.ts';
import { type AuditRow, type Item, marshalled, noteOf, poolKey, rowOf } from './audit-item.ts';
import type { AuditNote } from './audit-note.ts';

export type { AuditRow } from './audit-item.ts';

/** @design D10-01, D10-03 */
export const tableKeys = {
  partition: 'pk',
  sort: 'sk',
  ttl: 'ttl',
  byClusterTime: { name: 'byClusterTime', partition: 'cluster', sort: 'time' },
  byPoolTime: { name: 'byPoolTime', partition: 'pool', sort: 'time' },
} as const;

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

  /**
   * Puts the row of a step, unless it is there.
   *
   * @returns never throws for an answer of the database: a step that could not be put stays on the outbox
   * @design D10-03
   */
  async putStep(cluster: string, nodePool: string, entry: UnrecordedStep): Promise<PutOutcome> {
    return await this.#put(this.#itemOf(cluster, nodePool, entry));
  }

  /** Puts a row that is no step, unless it is there. Never throws for an answer of the database. @design D10-02 */
  async putNote({ cluster, nodePool, kind, at, key, facts }: AuditNote): Promise<PutOutcome> {
    return await this.#put(
      marshalled({
        ...facts,
        pk: cluster,
        sk: key,
        kind,
        cluster,
        ...(nodePool === undefined ? {} : { nodePool, pool: poolKey(cluster, nodePool) }),
        time: formatInstant(at),
        writer: randomUUID(),
        ...this.#ttl(at),
      }),
    );
  }

  /** Whether a row with this key is there. @throws what the database answers */
  async has(cluster: string, key: string): Promise<boolean> {
    const { Item: there } = await this.#client.send(
      new GetItemCommand({
        TableName: this.#tableName,
        Key: { pk: { S: cluster }, sk: { S: key } },
        ConsistentRead: true,
      }),
      limited(),
    );
    return there !== undefined;
  }

  async #put(item: Item): Promise<PutOutcome> {
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
    return marshalled({
      pk: cluster,
      sk: `ROT#${entryKey(entry)}`,
      kind: 'step',
      cluster,
      nodePool,
      pool: poolKey(cluster, nodePool),
      time: formatInstant(entry.at),
      writer: randomUUID(),
      ...this.#ttl(entry.at),
      ...toWire(entry),
    });
  }

  /** Whole seconds. @design D10-01 */
  #ttl(at: Instant): { ttl?: number } {
    if (this.#retentionDays <= 0) return {};
    return { ttl: Math.floor(at / second) + this.#retentionDays * (day / second) };
  }

  /** Oldest first. @design D10-05 */
  byCluster(cluster: string, range: TimeRange = {}): AsyncGenerator<AuditRow> {
    return this.#query(byTime(tableKeys.byClusterTime, cluster, range), rowOf);
  }

  /** The rows that are no steps, oldest first. @design D10-02, D10-05 */
  notesOf(cluster: string, nodePool?: string, range: TimeRange = {}): AsyncGenerator<AuditNote> {
    const query =
      nodePool === undefined
        ? byTime(tableKeys.byClusterTime, cluster, range)
        : byTime(tableKeys.byPoolTime, poolKey(cluster, nodePool), range);
    return this.#query(query, noteOf);
  }

  /** Oldest first. @design D10-05 */
  byPool(cluster: string, nodePool: string, range: TimeRange = {}): AsyncGenerator<AuditRow> {
    return this.#query(byTime(tableKeys.byPoolTime, poolKey(cluster, nodePool), range), rowOf);
  }

  /** The steps of one rotation, in the order of their names. @design D10-05 */
  byRotation(cluster: string, claimUid: string, startedAt: Instant): AsyncGenerator<AuditRow> {
    const query = {
      ConsistentRead: true,
      KeyConditionExpression: '#partition = :partition AND begins_with(#sort, :prefix)',
      ExpressionAttributeNames: { '#partition': 'pk', '#sort': 'sk' },
      ExpressionAttributeValues: {
        ':partition': { S: cluster },
        ':prefix': { S: `ROT#${claimUid}#${formatInstant(startedAt)}#` },
      },
    };
    return this.#query(query, rowOf);
  }

  async *#query<T>(
    query: Omit<QueryCommandInput, 'TableName'>,
    read: (item: Item) => T | undefined,
  ): AsyncGenerator<T> {
    const now = Math.floor(this.#now() / second);
    let next: Item | undefined;
    do {
      const page = await this.#client.send(
        new QueryCommand({ TableName: this.#tableName, ...query, ...(next ? { ExclusiveStartKey: next } : {}) }),
        limited(),
      );
      for (const item of page.Items ?? []) {
        const row = read(item);
        if (row !== undefined && Number(item[tableKeys.ttl]?.N ?? Infinity) > now) yield row;
      }
      next = page.LastEvaluatedKey;
    } while (next !== undefined);
  }
}

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

function failed(error: unknown): PutOutcome {
  const { name = '', message = String(error) } = error instanceof Error ? error : {};
  return { outcome: 'failed', throttled: throttling.has(name), detail: `${name}: ${message}` };
}
