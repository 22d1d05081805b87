/**
 * A row of the audit table as `history` shows it, whatever it is about.
 */
import { type AuditNote, type NoteKind, noteKinds } from '../adapters/aws/audit-note.ts';
import type { AuditRow } from '../adapters/aws/audit-table.ts';
import { toWire } from '../domain/rotation/unrecorded.ts';
import { formatInstant, type Instant } from '../domain/time.ts';
import type { Column } from './text-table.ts';

export type RowKind = 'step' | NoteKind;
export const rowKinds: readonly RowKind[] = ['step', ...noteKinds];

type Facts = Readonly<Record<string, string | number>>;

export interface HistoryRow {
  readonly at: Instant;
  readonly nodePool: string;
  readonly claim: string;
  /** The step of a rotation, or what kind of row it is. */
  readonly what: string;
  readonly facts: Facts;
  /** For programs. */
  readonly document: Facts;
}

const toldOfStep = new Set(['step', 'at', 'claim', 'uid', 'startedAt']);

export function rowOfStep({ cluster, nodePool, entry }: AuditRow): HistoryRow {
  const wire = toWire(entry);
  return {
    at: entry.at,
    nodePool,
    claim: entry.claim,
    what: entry.step,
    facts: Object.fromEntries(Object.entries(wire).filter(([name]) => !toldOfStep.has(name))),
    document: { kind: 'step', cluster, nodePool, ...wire },
  };
}

export function rowOfNote({ cluster, nodePool = '', kind, at, facts }: AuditNote): HistoryRow {
  const { nodeClaim = '', ...others } = facts;
  return {
    at,
    nodePool,
    claim: String(nodeClaim),
    what: kind,
    facts: others,
    document: { kind, cluster, ...(nodePool === '' ? {} : { nodePool }), at: formatInstant(at), ...facts },
  };
}

/** Oldest first. The answer to a manual run has the time of the request, and comes after it. @design D10-05, D12-03 */
export const oldestFirst = (a: HistoryRow, b: HistoryRow): number =>
  a.at - b.at || inAlphabet(a.nodePool, b.nodePool) || Number(isAnswer(a)) - Number(isAnswer(b));

const inAlphabet = (a: string, b: string): number => Number(a > b) - Number(a < b);

const isAnswer = ({ what, facts }: HistoryRow): boolean => what === 'run' && facts.event === 'answered';

export const historyColumns: readonly Column<HistoryRow>[] = [
  { title: 'TIME', of: ({ at }) => formatInstant(at) },
  { title: 'NODEPOOL', of: ({ nodePool }) => nodePool },
  { title: 'NODECLAIM', of: ({ claim }) => claim },
  { title: 'STEP', of: ({ what }) => what },
  { title: 'FACTS', of: ({ facts }) => inWords(facts) },
];

/** Of a fact that is a whole document, such as a plan, a table shows the beginning. */
const longestFact = 200;

const inWords = (facts: Facts): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name}=${String(value).slice(0, longestFact)}`)
    .join(' ');
