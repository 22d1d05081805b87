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
  const {
    pk: _,
    sk: key,
    kind: text,
    cluster,
    nodePool,
    pool: __,
    time,
    writer: ___,
    ttl: ____,
    ...facts
  } = plainOf(item);
  const kind = noteKinds.find((known) => known === text);
  const at = parseInstant(String(time ?? ''));
  if (kind === undefined || typeof key !== 'string' || typeof cluster !== 'string' || at === undefined)
    return undefined;
  return { cluster, ...(typeof nodePool === 'string' ? { nodePool } : {}), kind, at, key, facts };
}

/** undefined for rows of another kind, and for what cannot be read. */
export function rowOf(item: Item): AuditRow | undefined {
  const plain = plainOf(item);
  const { kind, cluster, nodePool } = plain;
  const entry = kind === 'step' ? fromWire(plain) : undefined;
  if (entry === undefined || typeof cluster !== 'string' || typeof nodePool !== 'string') return undefined;
  return { cluster, nodePool, entry };
}
