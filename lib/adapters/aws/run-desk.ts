/**
 * Where manual runs are written down and answered: a row for the request, a row and an event for the answer.
 *
 * Nothing waits for the database: what it does not take goes to the log in full and is counted, and the run goes on.
 */
import type { AuditTable } from './audit-table.ts';
import { type DomainEvents, runAnswered } from './domain-events.ts';
import { type Addressed, answerKey, answerNote, type ManualRun, type RunAnswer, requestNote } from './manual-run.ts';
import type { TickMetrics } from './metrics.ts';
import type { Log } from './tick-log.ts';

export interface RunDeskOptions {
  readonly table: AuditTable;
  readonly log: Log;
  readonly events?: DomainEvents | undefined;
  /** Counts rows that are only in the log. */
  readonly metrics?: Pick<TickMetrics, 'lost'> | undefined;
}

export class RunDesk {
  readonly #options: RunDeskOptions;

  constructor(options: RunDeskOptions) {
    this.#options = options;
  }

  /** Never throws. @design D12-03 */
  async requested(run: ManualRun | Addressed): Promise<void> {
    const { table, log, metrics } = this.#options;
    const note = requestNote(run);
    const { outcome, ...failure } = await table.putNote(note);
    if (outcome !== 'failed') return;
    log.error('The request of a manual run could not be kept', { ...note, ...failure });
    metrics?.lost(1);
  }

  /** Whether this very request has its answer, so that a second delivery does nothing. Never throws. */
  async isAnswered(run: ManualRun): Promise<boolean> {
    const { table, log } = this.#options;
    try {
      return await table.has(run.cluster, answerKey(run));
    } catch (error) {
      log.warn('Whether a manual run has its answer is not known', { run: run.id, detail: String(error) });
      return false;
    }
  }

  /**
   * The event goes out with the row, when it is new, and also when the row could not be put. The request is put once
   * more before it, for the table may not have taken it when it came. Never throws.
   *
   * @returns whether this is the answer, and not one that comes after another
   * @design D12-03
   */
  async answer(run: ManualRun | Addressed, answer: RunAnswer): Promise<boolean> {
    const { table, log, events, metrics } = this.#options;
    const note = answerNote(run, answer);
    await table.putNote(requestNote(run));
    const { outcome, ...failure } = await table.putNote(note);
    if (outcome === 'alreadyThere') return false;
    if (outcome === 'failed') {
      log.error('The answer to a manual run could not be kept', { ...note, ...failure });
      metrics?.lost(1);
    }
    log.info('Manual run', { cluster: run.cluster, run: run.id, outcome: answer.outcome, detail: answer.message });
    try {
      const lost = (await events?.publish([runAnswered(note)])) ?? 0;
      if (lost > 0) log.error('Domain events were not taken by the bus', { cluster: run.cluster, lost });
    } catch (error) {
      log.error('Domain events could not be sent', { cluster: run.cluster, lost: 1, detail: String(error) });
    }
    return true;
  }
}
