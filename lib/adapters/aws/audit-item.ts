/**
 * How a row of the audit table is written as an item, and read again. Absent values have no attribute, never an empty one.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { fromWire, type UnrecordedStep } from '../../domain/rotation/unrecorded.ts';
import { parseInstant } from '../../domain/time.ts';
import { type AuditNote, noteKinds } from './audit-note.ts';

export type Item = Record<string, AttributeValue>;

/** A step as it is in the table. */
export interface AuditRow {
  readonly cluster: string;
  readonly nodePool: string;
  readonly entry: UnrecordedStep;
}

export const poolKey = (cluster: string, nodePool: string): string => `${cluster}#${nodePool}`;

/** Absent and empty values have no attribute. @design D10-01 */
export function marshalled(values: Readonly<Record<string, string | number>>): Item {
  const item: Item = {};
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'number') item[name] = { N: String(value) };
    else if (value !== '') item[name] = { S: value };
  }
  return item;
}

function plainOf(item: Item): Record<string, string | number> {
  const plain: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(item)) {
    if (value.S !== undefined) plain[name] = value.S;
    else if (value.N !== undefined) plain[name] = Number(value.N);
  }
  return plain;
}

/** undefined for rows of another kind, and for what cannot be read. */
export function noteOf(item: Item): AuditNote | undefined {
  const plain = plainOf(item);
  const { sk: key, cluster, nodePool } = plain;
  const kind = noteKinds.find((known) => known === plain.kind);
  const at = parseInstant(String(plain.time ?? ''));
  if (kind === undefined || at === undefined) return undefined;
  if (typeof key !== 'string' || typeof cluster !== 'string') return undefined;
  // The database keeps no order of attributes.
  const facts = Object.entries(plain)
    .filter(([name]) => !about.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const where = typeof nodePool === 'string' ? { cluster, nodePool } : { cluster };
  return { ...where, kind, at, key, facts: Object.fromEntries(facts) };
}

/** Attributes that are not what the row tells. */
const about = new Set(['pk', 'sk', 'kind', 'cluster', 'nodePool', 'pool', 'time', 'writer', 'ttl']);

/** undefined for rows of another kind, and for what cannot be read. */
export function rowOf(item: Item): AuditRow | undefined {
  const plain = plainOf(item);
  const { kind, cluster, nodePool } = plain;
  const entry = kind === 'step' ? fromWire(plain) : undefined;
  if (entry === undefined || typeof cluster !== 'string' || typeof nodePool !== 'string') return undefined;
  return { cluster, nodePool, entry };
}
