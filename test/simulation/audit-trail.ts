/**
 * The audit oracle: every step that landed has exactly one row, and no row is without its step (D10-03, D10-04).
 *
 * What a step is, it reads off the NodePool before and after each of our writes, not off what the product says it did.
 */
import type { KubeObject } from '../../lib/simulator/kube-object.ts';
import type { Landed } from './safety.ts';
import { anchorOf, key, note } from './seen-cluster.ts';

interface Entry {
  readonly step: string;
  readonly at: string;
  readonly uid: string;
  readonly startedAt: string;
}

export class AuditTrail {
  /** Row key → pool, for every step that has landed. */
  readonly landed = new Map<string, string>();
  readonly #report: (rule: string, message: string) => void;
  /** Row keys that somebody may have taken off an outbox before they were in the table. */
  readonly #excused = new Set<string>();
  #rows: { has(key: string): boolean; keys(): Iterable<string> } = new Map();

  constructor(report: (rule: string, message: string) => void) {
    this.#report = report;
  }

  /** The table's rows by key. */
  watch(rows: { has(key: string): boolean; keys(): Iterable<string> }): void {
    this.#rows = rows;
  }

  tamper(pool: string): void {
    for (const [row, of] of this.landed)
      if ((pool === '' || of === pool) && !this.#rows.has(row)) this.#excused.add(row);
  }

  see({ before, after, sight }: Landed): void {
    if (!before || !after) return;
    const [had, has] = [outboxOf(before), outboxOf(after)];
    const pool = after.metadata.name;
    const fresh = [...has].filter(([row]) => !had.has(row)).map(([, entry]) => entry);
    for (const [row] of had) {
      const full = had.size >= 20 || (note(before, key('unrecorded')) ?? '').length > 6 * 1024;
      if (has.has(row) || this.#rows.has(row)) continue;
      if (full) this.#excused.add(row);
      else this.#report('auditLost', `pool ${pool}: ${row} left the outbox without its row`);
    }
    const second = `${new Date(Math.floor(sight.observedAt / 1000) * 1000).toISOString().slice(0, 19)}Z`;
    const wanted = stepOf(before, after);
    const restored = !anchorOf(before) && (anchorOf(after)?.startedAt ?? 0) !== Date.parse(second);
    const steps = fresh.map(({ step }) => step).join();
    // The start of a restored anchor has the key of the first one, which may still be on the list.
    if (wanted !== 'any' && steps !== (wanted ?? '') && !(restored && steps === ''))
      this.#report(
        'auditStep',
        `pool ${pool}: the write is ${wanted ?? 'no step'}, its outbox says ${steps || 'nothing'}`,
      );
    for (const { at, step } of fresh) {
      if (at !== second && !restored)
        this.#report('auditTime', `pool ${pool}: ${step} says ${at} and was decided at ${second}`);
    }
    this.#keep(pool, fresh);
  }

  /** Once the table works and the outboxes are empty. */
  atEnd(): void {
    for (const row of this.#rows.keys()) if (!this.landed.has(row)) this.#report('rowWithoutStep', row);
    for (const row of this.landed.keys())
      if (!this.#rows.has(row) && !this.#excused.has(row)) this.#report('stepWithoutRow', row);
    const counts = new Map<string, number>();
    for (const row of this.#rows.keys()) {
      const [uid, startedAt, tail] = row.split('#');
      const step = (tail ?? '').split('@')[0] ?? '';
      const attempt = `${uid}#${startedAt}`;
      if (step !== 'draining')
        counts.set(
          `${attempt} ${isEnd(step) ? 'end' : 'start'}`,
          (counts.get(`${attempt} ${isEnd(step) ? 'end' : 'start'}`) ?? 0) + 1,
        );
    }
    for (const [what, count] of counts) if (count > 1) this.#report('rowsTwice', `${what}: ${count} rows`);
  }

  #keep(pool: string, entries: readonly Entry[]): void {
    for (const entry of entries) this.landed.set(rowOf(entry), pool);
  }
}

const isEnd = (step: string): boolean => ['completed', 'failed', 'expired', 'aborted'].includes(step);

const rowOf = ({ uid, startedAt, step, at }: Entry): string => `${uid}#${startedAt}#${step}@${at}`;

const isEntry = (each: unknown): each is Entry =>
  ['step', 'at', 'uid', 'startedAt'].every(
    (part) => typeof (each as Record<string, unknown> | null)?.[part] === 'string',
  );

/** By row key; elements that somebody garbled are nobody's. */
function outboxOf(pool: KubeObject): ReadonlyMap<string, Entry> {
  const text = note(pool, key('unrecorded'));
  if (text === undefined) return new Map();
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return new Map();
    return new Map(list.filter(isEntry).map((entry) => [rowOf(entry), entry]));
  } catch {
    return new Map();
  }
}

/** The step that a write makes; `any` where an unreadable anchor leaves room for several. */
function stepOf(before: KubeObject, after: KubeObject): string | undefined {
  const [was, is] = [anchorOf(before), anchorOf(after)];
  if (was?.malformed) return 'any';
  if (!was && is) return is.fallback ? 'fallbackStarted' : 'started';
  if (was && !is) return (note(after, key('last-ended')) ?? '').split('=').pop();
  return was && is && was.state === undefined && is.state === 'draining' && !is.fallback ? 'draining' : undefined;
}
