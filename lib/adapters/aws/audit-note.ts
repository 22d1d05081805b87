/**
 * Rows of the audit table that are no steps of a rotation: findings that open and close, policies as they change, manual
 * runs, streaks of failed ticks, and clusters that were dropped.
 */
import type { Instant } from '../../domain/time.ts';

export const noteKinds = ['finding', 'policy', 'run', 'tick', 'cluster'] as const;
export type NoteKind = (typeof noteKinds)[number];

/** @design D10-02 */
export interface AuditNote {
  /** The cluster's key. */
  readonly cluster: string;
  readonly nodePool?: string;
  readonly kind: NoteKind;
  readonly at: Instant;
  /** The row's sort key. Made of what happened and never of the time of writing, so that a repeated put meets itself. */
  readonly key: string;
  readonly facts: Readonly<Record<string, string | number>>;
}
