/**
 * `node-rotation history`: what the audit table says about rotations, by cluster, pool, rotation and time.
 */
import { type Command, InvalidArgumentError } from 'commander';
import type { AuditRow, AuditTable } from '../adapters/aws/audit-table.ts';
import { toWire } from '../domain/rotation/unrecorded.ts';
import { formatInstant, type Instant, parseInstant } from '../domain/time.ts';
import { openStore, type StoreOptions, withStoreOptions } from './audit-store.ts';
import { type ExitCode, exitCodes, Failure } from './failure.ts';
import { type ContextOptions, connect, keyOfContext, withContextOptions } from './kubeconfig-context.ts';
import { type OutputFormat, readFormat, written } from './output.ts';
import { type Column, textTable } from './text-table.ts';

interface RotationId {
  readonly claimUid: string;
  readonly startedAt: Instant;
}

interface HistoryOptions extends StoreOptions, ContextOptions {
  readonly cluster?: string;
  readonly pool?: string;
  readonly rotation?: RotationId;
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
    const rows: AuditRow[] = [];
    for await (const row of select(store.table, cluster, options)) rows.push(row);
    rows.sort((a, b) => a.entry.at - b.entry.at || (a.nodePool < b.nodePool ? -1 : 1));
    if (options.output === 'text') process.stdout.write(`${textTable(columns, rows).join('\n')}\n`);
    else process.stdout.write(written(options.output, rows.map(documentOf)));
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

/** @design D10-05 */
async function* select(
  table: AuditTable,
  cluster: string,
  { pool, rotation, from, to }: HistoryOptions,
): AsyncGenerator<AuditRow> {
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
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

const documentOf = ({ cluster, nodePool, entry }: AuditRow): Record<string, string | number> => ({
  cluster,
  nodePool,
  ...toWire(entry),
});

const columns: readonly Column<AuditRow>[] = [
  { title: 'TIME', of: ({ entry }) => formatInstant(entry.at) },
  { title: 'NODEPOOL', of: ({ nodePool }) => nodePool },
  { title: 'NODECLAIM', of: ({ entry }) => entry.claim },
  { title: 'STEP', of: ({ entry }) => entry.step },
  { title: 'FACTS', of: ({ entry }) => factsOf(entry) },
];

const told = new Set(['step', 'at', 'claim', 'uid', 'startedAt']);

const factsOf = (entry: AuditRow['entry']): string =>
  Object.entries(toWire(entry))
    .filter(([name]) => !told.has(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

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
