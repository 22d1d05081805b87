/**
 * Which findings of a cluster the audit table has already told as open: what a tick holds against the cluster itself.
 *
 * It has a row of its own in a partition of its own, because it may be large and changes seldom: neither the row that
 * every tick writes nor the one that dispatch reads every minute should carry it.
 */
import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';

const partition = 'FINDINGS';

export class ToldFindings {
  readonly #client: DynamoDBClient;
  readonly #tableName: string;

  constructor({ client, tableName }: { readonly client: DynamoDBClient; readonly tableName: string }) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** Each as it was given to `keep`. @throws what the database answers @design D10-02 */
  async of(cluster: string): Promise<readonly string[]> {
    const { Item: row } = await this.#client.send(
      new GetItemCommand({ TableName: this.#tableName, Key: findingsKey(cluster), ConsistentRead: true }),
      limited(),
    );
    return row?.open?.S?.split('\n') ?? [];
  }

  /** @throws what the database answers */
  async keep(cluster: string, findings: readonly string[]): Promise<void> {
    await this.#client.send(
      new PutItemCommand({
        TableName: this.#tableName,
        Item: { ...findingsKey(cluster), ...(findings.length === 0 ? {} : { open: { S: findings.join('\n') } }) },
      }),
      limited(),
    );
  }
}

/** Of the row of a cluster. */
export const findingsKey = (cluster: string) => ({ pk: { S: partition }, sk: { S: cluster } });

const limited = (): { abortSignal: AbortSignal } => ({ abortSignal: AbortSignal.timeout(5_000) });
