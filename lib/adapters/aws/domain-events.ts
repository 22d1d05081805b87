/**
 * Events on the installation's own bus, one for each audit row that is new, so that users can hang their own rules on them.
 */
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { type RotationStep, toWire } from '../../domain/rotation/unrecorded.ts';
import type { AuditRow } from './audit-item.ts';
import type { AuditNote } from './audit-note.ts';

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

/** An event as it goes onto the bus. */
export interface DomainEvent {
  readonly detailType: string;
  /** JSON. */
  readonly detail: string;
}

/** What goes onto the bus for a row. @design D11-04 */
export const domainEvent = ({ cluster, nodePool, entry }: AuditRow): DomainEvent => ({
  detailType: detailTypes[entry.step],
  detail: JSON.stringify({ cluster, nodePool, ...toWire(entry) }),
});

/** What goes onto the bus for the answer to a manual run. @design D12-03 */
export const runAnswered = ({ cluster, nodePool, facts }: AuditNote): DomainEvent => ({
  detailType: 'Rotation Run Answered',
  detail: JSON.stringify({ cluster, ...(nodePool === undefined ? {} : { nodePool }), ...facts }),
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
  async publish(events: readonly DomainEvent[]): Promise<number> {
    let lost = 0;
    for (let start = 0; start < events.length; start += batchSize) {
      const refused = await this.#send(events.slice(start, start + batchSize));
      lost += refused.length === 0 ? 0 : (await this.#send(refused)).length;
    }
    return lost;
  }

  async #send(events: readonly DomainEvent[]): Promise<readonly DomainEvent[]> {
    const { Entries = [] } = await this.#client.send(
      new PutEventsCommand({
        Entries: events.map(({ detailType, detail }) => ({
          EventBusName: this.#busName,
          Source: source,
          DetailType: detailType,
          Detail: detail,
        })),
      }),
      { abortSignal: AbortSignal.timeout(5_000) },
    );
    return events.filter((_, index) => Entries[index]?.ErrorCode !== undefined);
  }
}
