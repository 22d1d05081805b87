/**
 * The outbox: steps that have landed on the NodePool and whose audit rows are not yet known to be in the table.
 *
 * An entry is written in the same patch as the step it names, so a step without an entry cannot exist, and it is taken
 * off only after its row is in the table. Unreadable text is kept aside and reported, never overwritten silently.
 */
import type { Duration, Instant } from '../time.ts';
import { formatDuration, formatInstant, parseGoDuration, parseInstant } from '../time.ts';

export const steps = ['started', 'fallbackStarted', 'draining', 'completed', 'failed', 'expired', 'aborted'] as const;
export type RotationStep = (typeof steps)[number];

/** What is worth knowing about a step later. Absent facts are left out, never written as empty text. @design D10-01 */
export interface StepFacts {
  readonly node?: string;
  readonly deadline?: Instant;
  readonly expireAfter?: Duration;
  /** Why the claim was due, or why the rotation ended. */
  readonly reason?: string;
  readonly surgeClaim?: string;
  readonly surgePath?: 'provisioned' | 'absorbed';
  readonly surgeWait?: Duration;
  readonly drain?: Duration;
  readonly mode?: 'surge' | 'forceful-fallback';
  readonly retryCount?: number;
  /** The API server's own words. */
  readonly refusal?: string;
}

export interface UnrecordedStep extends StepFacts {
  readonly step: RotationStep;
  readonly at: Instant;
  readonly claim: string;
  readonly uid: string;
  readonly startedAt: Instant;
}

/** The identity of an entry, and the tail of its audit row's key. @design D10-03 */
export const entryKey = (entry: UnrecordedStep): string =>
  `${entry.uid}#${formatInstant(entry.startedAt)}#${entry.step}@${formatInstant(entry.at)}`;

/** Most entries and bytes that an annotation may hold before the oldest is given to the log instead. @design D10-04 */
export const outboxLimit = { entries: 20, bytes: 8 * 1024 } as const;

export interface Outbox {
  readonly entries: readonly UnrecordedStep[];
  /** Elements that could not be read, as text: they are logged in full before they are dropped. */
  readonly unreadable: readonly string[];
}

const instantFacts = ['deadline'] as const;
const durationFacts = ['expireAfter', 'surgeWait', 'drain'] as const;
const textFacts = ['node', 'reason', 'surgeClaim', 'refusal'] as const;

export function writeOutbox(entries: readonly UnrecordedStep[]): string | null {
  return entries.length === 0 ? null : JSON.stringify(entries.map(toWire));
}

/** The entry as plain JSON: times RFC 3339, durations Go strings. */
export function toWire(entry: UnrecordedStep): Record<string, string | number> {
  const wire: Record<string, string | number> = {
    step: entry.step,
    at: formatInstant(entry.at),
    claim: entry.claim,
    uid: entry.uid,
    startedAt: formatInstant(entry.startedAt),
  };
  for (const fact of instantFacts) if (entry[fact] !== undefined) wire[fact] = formatInstant(entry[fact]);
  for (const fact of durationFacts) if (entry[fact] !== undefined) wire[fact] = formatDuration(entry[fact]);
  for (const fact of textFacts) if (entry[fact]) wire[fact] = entry[fact];
  if (entry.surgePath !== undefined) wire['surgePath'] = entry.surgePath;
  if (entry.mode !== undefined) wire['mode'] = entry.mode;
  if (entry.retryCount !== undefined) wire['retryCount'] = entry.retryCount;
  return wire;
}

export function readOutbox(text: string | undefined): Outbox {
  if (text === undefined || text === '') return { entries: [], unreadable: [] };
  const list = parseJson(text);
  if (!Array.isArray(list)) return { entries: [], unreadable: [text] };
  const entries: UnrecordedStep[] = [];
  const unreadable: string[] = [];
  for (const element of list) {
    const entry = fromWire(element);
    if (entry) entries.push(entry);
    else unreadable.push(JSON.stringify(element));
  }
  return { entries, unreadable };
}

/** @returns undefined when a part that identifies the entry is missing or unreadable; unreadable facts are left out. */
export function fromWire(element: unknown): UnrecordedStep | undefined {
  if (typeof element !== 'object' || element === null) return undefined;
  const wire = element as Record<string, unknown>;
  const text = (key: string): string | undefined => (typeof wire[key] === 'string' ? (wire[key] as string) : undefined);
  const step = steps.find((name) => name === wire['step']);
  const at = parseInstant(text('at') ?? '');
  const startedAt = parseInstant(text('startedAt') ?? '');
  const [claim, uid] = [text('claim'), text('uid')];
  if (!step || at === undefined || startedAt === undefined || !claim || !uid) return undefined;
  const facts: Record<string, unknown> = {};
  for (const fact of instantFacts) facts[fact] = parseInstant(text(fact) ?? '');
  for (const fact of durationFacts) facts[fact] = parseGoDuration(text(fact) ?? '');
  for (const fact of textFacts) facts[fact] = text(fact);
  facts['surgePath'] = (['provisioned', 'absorbed'] as const).find((path) => path === wire['surgePath']);
  facts['mode'] = (['surge', 'forceful-fallback'] as const).find((mode) => mode === wire['mode']);
  facts['retryCount'] = Number.isSafeInteger(wire['retryCount']) ? wire['retryCount'] : undefined;
  const known = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  return { step, at, claim, uid, startedAt, ...known };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
