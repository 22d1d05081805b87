/**
 * Puts rows that are no steps, and keeps those that the database did not take for the next tick of this process.
 *
 * They have no outbox on an object: what this process cannot keep any longer goes to the log in full.
 */
import type { PolicyReading } from '../../domain/policy/rotation-policy.ts';
import type { Instant } from '../../domain/time.ts';
import type { AuditNote } from './audit-note.ts';
import type { AuditTable } from './audit-table.ts';
import { inParallel } from './in-parallel.ts';
import type { Log } from './tick-log.ts';
import { policyNote } from './tick-notes.ts';

const mostWaiting = 500;
const mostPolicies = 5_000;
const atATime = 5;

export class NoteKeeper {
  readonly #table: AuditTable;
  readonly #log: Log;
  #waiting: readonly AuditNote[] = [];
  /** Keys of policies whose rows are known to be in the table. */
  readonly #seen = new Set<string>();

  constructor({ table, log }: { readonly table: AuditTable; readonly log: Log }) {
    this.#table = table;
    this.#log = log;
  }

  /** Never throws. @returns how many rows were given up @design D10-02 */
  async keep(notes: readonly AuditNote[]): Promise<number> {
    const due = [...this.#waiting, ...notes];
    this.#waiting = [];
    const refused: AuditNote[] = [];
    let down = false;
    await inParallel(due, atATime, async (note) => {
      if (down || (await this.#table.putNote(note)).outcome === 'failed') {
        down = true;
        refused.push(note);
      } else if (note.kind === 'policy') this.#remember(`${note.cluster} ${note.key}`);
    });
    if (refused.length > 0) this.#log.warn('Audit rows could not be put and wait', { waiting: refused.length });
    const lost = refused.slice(0, Math.max(0, refused.length - mostWaiting));
    for (const note of lost) this.#log.error('Audit row lost', { ...note });
    this.#waiting = [...refused.slice(lost.length), ...this.#waiting];
    return lost.length;
  }

  /** Those that this process has not put yet. */
  newPolicies(cluster: string, policies: readonly PolicyReading[], at: Instant): readonly AuditNote[] {
    return policies
      .map((reading) => policyNote(cluster, reading, at))
      .filter(({ key }) => !this.#seen.has(`${cluster} ${key}`) && !this.#waits(cluster, key));
  }

  #waits(cluster: string, key: string): boolean {
    return this.#waiting.some((note) => note.cluster === cluster && note.key === key);
  }

  #remember(key: string): void {
    this.#seen.add(key);
    const [oldest] = this.#seen;
    if (this.#seen.size > mostPolicies && oldest !== undefined) this.#seen.delete(oldest);
  }
}
