/**
 * Keeps what became of a tick besides the steps of rotations: its outcome, streaks of failures, findings, policies.
 *
 * Nothing waits in this process, which may be frozen or ended at any time. What the table was not told is found again by
 * holding the cluster against what the registry says was told, in the next tick and wherever that runs.
 */
import { createHash } from 'node:crypto';
import type { TickRecord } from '../../controller/ports.ts';
import type { PolicyReading } from '../../domain/policy/rotation-policy.ts';
import type { Instant } from '../../domain/time.ts';
import type { AuditNote } from './audit-note.ts';
import type { AuditTable } from './audit-table.ts';
import { inParallel } from './in-parallel.ts';
import type { ClusterRegistry, Health, TickResult } from './registry-table.ts';
import type { Log } from './tick-log.ts';
import { findingNotes, openFindings, policyNote, streakTale, writtenChanges } from './tick-notes.ts';
import type { ToldFindings } from './told-findings.ts';

const mostPolicies = 5_000;
const atATime = 5;

export interface NoteKeeperOptions {
  readonly table: Pick<AuditTable, 'putNote'>;
  readonly registry: ClusterRegistry;
  readonly told: ToldFindings;
  readonly log: Log;
}

export class NoteKeeper {
  readonly #options: NoteKeeperOptions;
  /** Policies by row key, with the time at which this process first saw them and whether the table has the row. */
  readonly #policies = new Map<string, { readonly at: Instant; readonly put: boolean }>();

  constructor(options: NoteKeeperOptions) {
    this.#options = options;
  }

  /** Never throws: nothing here may disturb a tick. @design D10-02, D10-04, D11-07 */
  async tickEnded(cluster: string, record: TickRecord, result: TickResult): Promise<void> {
    const { registry, log } = this.#options;
    if (record.observedAt !== undefined) await this.#tellPolicies(cluster, record.policies ?? [], record.observedAt);
    try {
      const before = await registry.tickEnded(cluster, result);
      // A later tick has been kept already, and what this one saw is out of date.
      if (before === undefined) return;
      const tale = streakTale(cluster, before, result, record.detail);
      if ((await this.#put(tale.notes)) && tale.mark !== undefined) {
        await registry.markStreak(cluster, tale.mark, result);
      }
      if (record.observedAt !== undefined) await this.#tellFindings(cluster, record, record.observedAt, before);
    } catch (error) {
      // What comes and goes while the table is down is in no row: the log has it in full.
      const changes = record.pools.flatMap(writtenChanges);
      log.warn('The outcome of a tick could not be kept in the registry', {
        cluster,
        detail: String(error),
        ...(changes.length === 0 ? {} : { findings: changes }),
      });
    }
  }

  async #tellFindings(cluster: string, record: TickRecord, at: Instant, before: Health): Promise<void> {
    const { registry, told } = this.#options;
    const open = openFindings(record);
    const digest = digestOf(open);
    if (digest === before.findingsTold) return;
    const notes = findingNotes(cluster, at, await told.of(cluster), open, record.pools);
    if (!(await this.#put(notes))) return;
    await told.keep(cluster, open);
    await registry.markFindings(cluster, digest);
  }

  /** Of the same policy every process puts the same row. */
  async #tellPolicies(cluster: string, policies: readonly PolicyReading[], at: Instant): Promise<void> {
    const due = policies
      .map((reading) => policyNote(cluster, reading, at))
      .map((note) => ({ ...note, at: this.#policies.get(nameOf(note))?.at ?? at }))
      .filter((note) => this.#policies.get(nameOf(note))?.put !== true);
    for (const note of due) this.#policies.set(nameOf(note), { at: note.at, put: false });
    if (await this.#put(due)) {
      for (const note of due) this.#policies.set(nameOf(note), { at: note.at, put: true });
    }
    for (const [oldest] of this.#policies) {
      if (this.#policies.size <= mostPolicies) break;
      this.#policies.delete(oldest);
    }
  }

  /** @returns whether all of them are in the table */
  async #put(notes: readonly AuditNote[]): Promise<boolean> {
    const refused: AuditNote[] = [];
    await inParallel(notes, atATime, async (note) => {
      if (refused.length > 0 || (await this.#options.table.putNote(note)).outcome === 'failed') refused.push(note);
    });
    if (refused.length > 0) {
      this.#options.log.warn('Audit rows could not be put; the next tick tells them again', { rows: refused });
    }
    return refused.length === 0;
  }
}

const nameOf = ({ cluster, key }: AuditNote): string => `${cluster} ${key}`;

const digestOf = (findings: readonly string[]): string | undefined =>
  findings.length === 0 ? undefined : createHash('sha256').update(findings.join('\n')).digest('hex').slice(0, 16);
