/**
 * Keeps what a tick did: rows in the audit table, events on the bus for rows that are new, metrics and log lines.
 *
 * Nothing here may disturb a tick. What could not be kept stays on the NodePool's outbox, or is told to the log.
 */
import type { Recorder, TickRecord } from '../../controller/ports.ts';
import { entryKey, type UnrecordedStep } from '../../domain/rotation/unrecorded.ts';
import { duration } from '../../domain/time.ts';
import type { AuditRow, AuditTable } from './audit-table.ts';
import { type DomainEvents, domainEvent } from './domain-events.ts';
import type { TickMetrics } from './metrics.ts';
import { type Log, logTick } from './tick-log.ts';

export interface TickRecorderOptions {
  /** The cluster's key. */
  readonly cluster: string;
  readonly table: AuditTable;
  readonly log: Log;
  readonly metrics?: TickMetrics;
  readonly events?: DomainEvents;
}

/** Of one tick of one cluster. */
export class TickRecorder implements Recorder {
  readonly #options: TickRecorderOptions;
  readonly #begun = performance.now();

  constructor(options: TickRecorderOptions) {
    this.#options = options;
  }

  /** @design D10-03, D10-04 */
  async putSteps(nodePool: string, entries: readonly UnrecordedStep[]): Promise<ReadonlySet<string>> {
    const { cluster, table, log } = this.#options;
    const put = await Promise.all(
      entries.map(async (entry) => ({ entry, result: await table.putStep(cluster, nodePool, entry) })),
    );
    const kept = new Set<string>();
    const fresh: AuditRow[] = [];
    for (const { entry, result } of put) {
      if (result.outcome === 'failed') {
        const { detail, throttled } = result;
        log.warn('An audit row could not be put and waits on the outbox', {
          cluster,
          nodePool,
          row: entryKey(entry),
          throttled,
          detail,
        });
        continue;
      }
      kept.add(entryKey(entry));
      if (result.outcome === 'new') fresh.push({ cluster, nodePool, entry });
    }
    await this.#publish(fresh);
    return kept;
  }

  async #publish(rows: readonly AuditRow[]): Promise<void> {
    const { cluster, events, log } = this.#options;
    if (events === undefined || rows.length === 0) return;
    try {
      const lost = await events.publish(rows.map(domainEvent));
      if (lost > 0) log.error('Domain events were not taken by the bus', { cluster, lost });
    } catch (error) {
      log.error('Domain events could not be sent', { cluster, lost: rows.length, detail: String(error) });
    }
  }

  async record(tick: TickRecord): Promise<void> {
    const { cluster, log, metrics } = this.#options;
    const took = duration(Math.round(performance.now() - this.#begun));
    try {
      logTick(log, cluster, tick);
      metrics?.tick(cluster, tick, took);
    } catch (error) {
      log.error('A tick could not be recorded in full', { cluster, detail: String(error) });
    }
  }
}
