/**
 * The registry of clusters, in the audit table: how each is reached, as dispatch last heard it, and how its ticks go.
 *
 * A cluster has two rows, because the one that every tick writes should be small. Neither is ever removed by age, and
 * neither is in an index. What comes late or twice never overwrites what came later.
 */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { TickRecord } from '../../controller/ports.ts';
import { formatInstant, type Instant, parseInstant } from '../../domain/time.ts';
import { findingsKey } from './told-findings.ts';

/** Where a cluster is and how it is reached. */
export interface Description {
  readonly account: string;
  readonly region: string;
  readonly name: string;
  /** What made it known: the configured list, or its tag. */
  readonly via: 'list' | 'tag';
  readonly roleArn?: string | undefined;
  readonly externalId?: string | undefined;
  readonly network?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly certificateAuthority?: string | undefined;
  /** Endpoint and certificate authority come from the configuration. */
  readonly configured: boolean;
  /** As EKS calls it, or `NOT_FOUND`. */
  readonly status: string;
  readonly describedAt: Instant;
  /** Since when it is ticked, without a break. */
  readonly tickedSince?: Instant | undefined;
  /** Since when it is neither listed nor tagged. @design D9-03 */
  readonly retiredAt?: Instant | undefined;
}

/** How its ticks go. */
export interface Health {
  readonly lastTickAt?: Instant | undefined;
  readonly lastOkAt?: Instant | undefined;
  readonly lastOutcome?: string | undefined;
  /** Begin of the present streak of failures, and its length. */
  readonly failingSince?: Instant | undefined;
  readonly failures?: number | undefined;
  /** How the streak began, and how its last failure ended. */
  readonly failingWith?: string | undefined;
  readonly lastFailure?: string | undefined;
  /** Begin of the streak whose first row is known to be in the table. */
  readonly streakTold?: Instant | undefined;
  /** Digest of the findings whose rows are known to be in the table; absent when there are none. */
  readonly findingsTold?: string | undefined;
  /** When a tick of a retired cluster last found nothing of ours on it. */
  readonly cleanAt?: Instant | undefined;
}

export interface RegistryRow {
  readonly key: string;
  readonly description: Description;
  readonly health: Health;
}

export interface TickResult {
  readonly at: Instant;
  readonly outcome: TickRecord['outcome'];
  /** Nothing of ours was left on a retired cluster. */
  readonly clean: boolean;
}

/** What is done to a streak of failures once its rows are in the table. @design D10-04 */
export interface StreakMark {
  /** Which streak. */
  readonly since: Instant;
  /** `restarted`: it had ended, and the present tick begins another. */
  readonly as: 'told' | 'ended' | 'restarted';
}

/** What one tick was told about those before it; undefined when a later one has been kept already. */
export type Before = Health | undefined;

type Item = Record<string, AttributeValue>;

/** @design D10-02 */
const partition = 'CLUSTER';
const tickSuffix = '#tick';

const texts = [
  'account',
  'region',
  'name',
  'via',
  'roleArn',
  'externalId',
  'network',
  'endpoint',
  'certificateAuthority',
  'status',
] as const;
const times = ['describedAt', 'tickedSince', 'retiredAt'] as const;

export class ClusterRegistry {
  readonly #client: DynamoDBClient;
  readonly #tableName: string;

  constructor({ client, tableName }: { client: DynamoDBClient; tableName: string }) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** Every cluster that is known, the retired ones included. @throws what the database answers */
  async all(): Promise<readonly RegistryRow[]> {
    const items = new Map<string, Item>();
    let next: Item | undefined;
    do {
      const page = await this.#client.send(
        new QueryCommand({
          TableName: this.#tableName,
          KeyConditionExpression: 'pk = :partition',
          ExpressionAttributeValues: { ':partition': { S: partition } },
          ...(next ? { ExclusiveStartKey: next } : {}),
        }),
        limited(),
      );
      for (const item of page.Items ?? []) items.set(item.sk?.S ?? '', item);
      next = page.LastEvaluatedKey;
    } while (next !== undefined);
    return [...items].flatMap(([key, item]) => {
      const description = key.endsWith(tickSuffix) ? undefined : descriptionOf(item);
      if (description === undefined) return [];
      return [{ key, description, health: healthOf(items.get(`${key}${tickSuffix}`)) }];
    });
  }

  /** Writes how a cluster is reached; what it no longer has is removed. @throws what the database answers */
  async describe(key: string, description: Description): Promise<void> {
    const values: Item = { ':configured': { BOOL: description.configured } };
    const names: Record<string, string> = { '#configured': 'configured' };
    const set = ['#configured = :configured'];
    const remove: string[] = [];
    const put = (name: string, value: string | undefined): void => {
      names[`#${name}`] = name;
      if (value === undefined) {
        remove.push(`#${name}`);
        return;
      }
      values[`:${name}`] = { S: value };
      set.push(`#${name} = :${name}`);
    };
    for (const name of texts) put(name, description[name]);
    for (const name of times) {
      const at = description[name];
      put(name, at === undefined ? undefined : formatInstant(at));
    }
    await this.#update(key, `SET ${set.join(', ')}${remove.length === 0 ? '' : ` REMOVE ${remove.join(', ')}`}`, {
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    });
  }

  /** The address that EKS gave to a tick whose trust had failed; only for a cluster that is known. @design D9-02 */
  async moved(key: string, endpoint: string, certificateAuthority: string): Promise<void> {
    const expression = 'SET endpoint = :endpoint, certificateAuthority = :certificateAuthority';
    await this.#updateIf('attribute_exists(pk)', key, expression, {
      ':endpoint': { S: endpoint },
      ':certificateAuthority': { S: certificateAuthority },
    });
  }

  /**
   * Keeps how a tick ended, unless a later one is kept already. A streak of failures stays until `markStreak` says that
   * its end is in the table.
   *
   * @returns how the ticks before it had gone
   * @throws what the database answers
   * @design D11-07, D10-02
   */
  async tickEnded(key: string, { at, outcome, clean }: TickResult): Promise<Before> {
    const good = outcome === 'Ok';
    const set = ['lastTickAt = :at', 'lastOutcome = :outcome'];
    if (good) set.push('lastOkAt = :at');
    else {
      set.push('failingSince = if_not_exists(failingSince, :at)', 'failures = if_not_exists(failures, :zero) + :one');
      set.push('failingWith = if_not_exists(failingWith, :outcome)', 'lastFailure = :outcome');
    }
    if (clean) set.push('cleanAt = :at');
    try {
      const { Attributes } = await this.#update(
        `${key}${tickSuffix}`,
        `SET ${set.join(', ')}${clean ? '' : ' REMOVE cleanAt'}`,
        {
          ConditionExpression: 'attribute_not_exists(lastTickAt) OR lastTickAt < :at',
          ExpressionAttributeValues: {
            ':at': { S: formatInstant(at) },
            ':outcome': { S: outcome },
            ...(good ? {} : { ':zero': { N: '0' }, ':one': { N: '1' } }),
          },
          ReturnValues: 'ALL_OLD',
        },
      );
      return healthOf(Attributes);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      throw error;
    }
  }

  /** Unless the streak is another one by now. @throws what the database answers @design D10-04 */
  async markStreak(key: string, { since, as }: StreakMark, { at, outcome }: TickResult): Promise<void> {
    const expression = {
      told: 'SET streakTold = :since',
      ended: 'REMOVE failingSince, failures, failingWith, lastFailure, streakTold',
      restarted: 'SET failingSince = :at, failures = :one, failingWith = :outcome, streakTold = :at',
    }[as];
    const began: Item = { ':at': { S: formatInstant(at) }, ':one': { N: '1' }, ':outcome': { S: outcome } };
    await this.#updateIf('failingSince = :since', `${key}${tickSuffix}`, expression, {
      ':since': { S: formatInstant(since) },
      ...(as === 'restarted' ? began : {}),
    });
  }

  /** @param digest of the findings whose rows are in the table @throws what the database answers */
  async markFindings(key: string, digest: string | undefined): Promise<void> {
    const expression = digest === undefined ? 'REMOVE findingsTold' : 'SET findingsTold = :digest';
    const values = digest === undefined ? undefined : { ':digest': { S: digest } };
    await this.#updateIf('attribute_exists(pk)', `${key}${tickSuffix}`, expression, values);
  }

  /** Forgets a cluster. @throws what the database answers */
  async drop(key: string): Promise<void> {
    const rows = [`${key}${tickSuffix}`, key].map((sk) => ({ pk: { S: partition }, sk: { S: sk } }));
    for (const Key of [findingsKey(key), ...rows]) {
      await this.#client.send(new DeleteItemCommand({ TableName: this.#tableName, Key }), limited());
    }
  }

  /** Nothing is written where the condition does not hold. */
  async #updateIf(
    ConditionExpression: string,
    sk: string,
    expression: string,
    values: Item | undefined,
  ): Promise<void> {
    try {
      await this.#update(sk, expression, {
        ConditionExpression,
        ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
      });
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }

  async #update(
    sk: string,
    UpdateExpression: string,
    rest: Partial<ConstructorParameters<typeof UpdateItemCommand>[0]>,
  ): Promise<{ Attributes?: Item | undefined }> {
    return await this.#client.send(
      new UpdateItemCommand({
        TableName: this.#tableName,
        Key: { pk: { S: partition }, sk: { S: sk } },
        UpdateExpression,
        ...rest,
      }),
      limited(),
    );
  }
}

const limited = (): { abortSignal: AbortSignal } => ({ abortSignal: AbortSignal.timeout(5_000) });

const time = (item: Item | undefined, name: string): Instant | undefined => parseInstant(item?.[name]?.S ?? '');

/** undefined for a row that cannot be read: it is described anew. */
function descriptionOf(item: Item): Description | undefined {
  const text = (name: string): string | undefined => item[name]?.S;
  const [account, region, name, status] = [text('account'), text('region'), text('name'), text('status')];
  const describedAt = time(item, 'describedAt');
  if (!account || !region || !name || !status || describedAt === undefined) return undefined;
  return {
    account,
    region,
    name,
    via: text('via') === 'tag' ? 'tag' : 'list',
    roleArn: text('roleArn'),
    externalId: text('externalId'),
    network: text('network'),
    endpoint: text('endpoint'),
    certificateAuthority: text('certificateAuthority'),
    configured: item.configured?.BOOL === true,
    status,
    describedAt,
    tickedSince: time(item, 'tickedSince'),
    retiredAt: time(item, 'retiredAt'),
  };
}

const healthOf = (item: Item | undefined): Health => ({
  lastTickAt: time(item, 'lastTickAt'),
  lastOkAt: time(item, 'lastOkAt'),
  lastOutcome: item?.lastOutcome?.S,
  failingSince: time(item, 'failingSince'),
  failures: item?.failures?.N === undefined ? undefined : Number(item.failures.N),
  failingWith: item?.failingWith?.S,
  lastFailure: item?.lastFailure?.S,
  streakTold: time(item, 'streakTold'),
  findingsTold: item?.findingsTold?.S,
  cleanAt: time(item, 'cleanAt'),
});
