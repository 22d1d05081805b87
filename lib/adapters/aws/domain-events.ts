/**
 * Events on the installation's own bus, one for each audit row that is new, so that users can hang their own rules on them.
 */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { type RotationStep, toWire } from '../../domain/rotation/unrecorded.ts';
import type { AuditRow } from './audit-table.ts';

const source = 'noderotation';
const batchSize = 10;

const detailTypes: Readonly<Record<RotationStep, string>> = {
  started: 'Rotation Started',
  fallbackStarted: 'Rotation Fallback Started',
  draining: 'Rotation Draining',
  completed: 'Rotation Completed',
  failed: 'Rotation Failed',
  expired: 'Rotation Expired',
  aborted: 'Rotation Aborted',
};

/** What goes onto the bus for a row. @design D11-04 */
export const domainEvent = ({ cluster, nodePool, entry }: AuditRow): { detailType: string; detail: string } => ({
  detailType: detailTypes[entry.step],
  detail: JSON.stringify({ cluster, nodePool, ...toWire(entry) }),
});

export class DomainEvents {
  readonly #busName: string;
  readonly #client: EventBridgeClient;

  constructor(busName: string, client = new EventBridgeClient({ maxAttempts: 3 })) {
    this.#busName = busName;
    this.#client = client;
  }

  /**
   * Entries that a 200 answer names as failed are sent once more.
   *
   * @returns how many were not taken
   * @design D11-04
   */
  async publish(rows: readonly AuditRow[]): Promise<number> {
    let lost = 0;
    for (let start = 0; start < rows.length; start += batchSize) {
      const refused = await this.#send(rows.slice(start, start + batchSize));
      lost += refused.length === 0 ? 0 : (await this.#send(refused)).length;
    }
    return lost;
  }

  async #send(rows: readonly AuditRow[]): Promise<readonly AuditRow[]> {
    const { Entries = [] } = await this.#client.send(
      new PutEventsCommand({
        Entries: rows.map(domainEvent).map(({ detailType, detail }) => ({
          EventBusName: this.#busName,
          Source: source,
          DetailType: detailType,
          Detail: detail,
        })),
      }),
      { abortSignal: AbortSignal.timeout(5_000) },
    );
    return rows.filter((_, index) => Entries[index]?.ErrorCode !== undefined);
  }
}
