/**
 * `node-rotation history`: what the audit table says, by cluster, pool, rotation, kind and time.
 */
import { type Command, InvalidArgumentError } from 'commander';
import type { AuditRow, AuditTable } from '../adapters/aws/audit-table.ts';
import { type Instant, parseInstant } from '../domain/time.ts';
import { openStore, type StoreOptions, withStoreOptions } from './audit-store.ts';
import { type ExitCode, exitCodes, Failure } from './failure.ts';
import {
  type HistoryRow,
  historyColumns,
  oldestFirst,
  type RowKind,
  rowKinds,
  rowOfNote,
  rowOfStep,
} from './history-row.ts';
import { type ContextOptions, connect, keyOfContext, withContextOptions } from './kubeconfig-context.ts';
import { type OutputFormat, readFormat, written } from './output.ts';
import { textTable } from './text-table.ts';

interface RotationId {
  readonly claimUid: string;
  readonly startedAt: Instant;
}

interface HistoryOptions extends StoreOptions, ContextOptions {
  readonly cluster?: string;
  readonly pool?: string;
  readonly rotation?: RotationId;
  readonly kind?: RowKind;
  readonly from?: Instant;
  readonly to?: Instant;
  readonly output: OutputFormat;
}

export function addHistoryCommand(program: Command, finish: (code: ExitCode) => void): void {
  const command = program
    .command('history')
    .option('--cluster <key>', 'account/region/name (default: that of the kubeconfig context)')
    .option('--pool <name>', 'one NodePool only')
    .option('--rotation <id>', 'one rotation only, as CLAIM-UID@STARTED-AT', readRotation)
    .option('--kind <kind>', `one kind of rows only: ${rowKinds.join(', ')}`, readKind)
    .option('--from <time>', 'RFC 3339; rows at that time are shown', readTime)
    .option('--to <time>', 'RFC 3339; rows at that time are shown', readTime)
    .option(
      '-o, --output <format>',
      'text, json, ndjson or yaml',
      readFormat('text', 'json', 'ndjson', 'yaml'),
      'text',
    );
  withContextOptions(withStoreOptions(command)).action(async (options: HistoryOptions) => {
    await history(options);
    finish(exitCodes.ok);
  });
}

async function history(options: HistoryOptions): Promise<void> {
  const cluster = options.cluster ?? clusterOfContext(options);
  const store = await openStore(options, 'read');
  try {
    const rows = await rowsOf(store.table, cluster, options);
    if (options.output === 'text') process.stdout.write(`${textTable(historyColumns, rows).join('\n')}\n`);
    else {
      const documents = rows.map(({ document }) => document);
      process.stdout.write(written(options.output, documents));
    }
  } finally {
    await store.close();
  }
}

function clusterOfContext(options: ContextOptions): string {
  try {
    const connection = connect(options);
    return keyOfContext(connection);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(exitCodes.usage, `Which cluster is not known: ${why}. Name it with --cluster.`, { cause });
  }
}

/** Oldest first; of one rotation only its steps. @design D10-05 */
async function rowsOf(table: AuditTable, cluster: string, options: HistoryOptions): Promise<readonly HistoryRow[]> {
  const { kind, pool, rotation } = options;
  const rows: HistoryRow[] = [];
  if (kind === undefined || kind === 'step') {
    for await (const row of select(table, cluster, options)) rows.push(rowOfStep(row));
  }
  if (kind !== 'step' && rotation === undefined) {
    for await (const note of table.notesOf(cluster, pool, rangeOf(options))) {
      if (kind === undefined || kind === note.kind) rows.push(rowOfNote(note));
    }
  }
  return rows.sort(oldestFirst);
}

const rangeOf = ({ from, to }: HistoryOptions) => ({
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
});

async function* select(table: AuditTable, cluster: string, options: HistoryOptions): AsyncGenerator<AuditRow> {
  const { pool, rotation, from, to } = options;
  const range = rangeOf(options);
  const rows = rotation
    ? table.byRotation(cluster, rotation.claimUid, rotation.startedAt)
    : pool === undefined
      ? table.byCluster(cluster, range)
      : table.byPool(cluster, pool, range);
  for await (const row of rows) {
    const { at } = row.entry;
    if (
      (pool === undefined || row.nodePool === pool) &&
      (from === undefined || at >= from) &&
      (to === undefined || at <= to)
    )
      yield row;
  }
}

function readKind(text: string): RowKind {
  const kind = rowKinds.find((known) => known === text);
  if (kind === undefined) throw new InvalidArgumentError(`Choose one of ${rowKinds.join(', ')}.`);
  return kind;
}

function readTime(text: string): Instant {
  const at = parseInstant(text);
  if (at === undefined) throw new InvalidArgumentError('It is no RFC 3339 time such as 2026-06-01T00:00:00Z.');
  return at;
}

function readRotation(text: string): RotationId {
  const [, claimUid, time] = /^([^@]+)@(.+)$/.exec(text) ?? [];
  const startedAt = parseInstant(time ?? '');
  if (claimUid === undefined || startedAt === undefined) {
    throw new InvalidArgumentError('A rotation is named as CLAIM-UID@STARTED-AT.');
  }
  return { claimUid, startedAt };
}
