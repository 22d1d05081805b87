/**
 * `node-rotation run`: a tick against a real cluster, again and again, until interrupted.
 *
 * The first look has to succeed, because what is wrong then is wrong with the command; later failures are told and the
 * next tick looks again.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import type { AuditTable } from '../adapters/aws/audit-table.ts';
import { TickRecorder } from '../adapters/aws/recorder.ts';
import type { Log } from '../adapters/aws/tick-log.ts';
import { clockSkew } from '../adapters/kubernetes/clock-skew.ts';
import type { Connection } from '../adapters/kubernetes/connection.ts';
import { KubernetesCluster } from '../adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../adapters/kubernetes/tick-budget.ts';
import type { PoolRecord, TickRecord } from '../controller/ports.ts';
import { runTick } from '../controller/run-tick.ts';
import {
  type Duration,
  duration,
  formatInstant,
  longer,
  minutes,
  parseGoDuration,
  seconds,
  zero,
} from '../domain/time.ts';
import { openStore, type StoreOptions, withStoreOptions } from './audit-store.ts';
import { type ExitCode, exitCodes, lookFailed } from './failure.ts';
import { watchInterruption } from './interruption.ts';
import { type ContextOptions, connect, keyOfContext, withContextOptions } from './kubeconfig-context.ts';
import { type Progress, showProgress } from './progress.ts';

interface RunOptions extends StoreOptions, ContextOptions {
  readonly interval: Duration;
  readonly cluster?: string;
}

export function addRunCommand(program: Command, finish: (code: ExitCode) => void): void {
  const command = program
    .command('run')
    .addOption(
      new Option('--interval <duration>', 'from the beginning of one tick to that of the next')
        .argParser(readInterval)
        .default(minutes(1), '1m'),
    )
    .option('--cluster <key>', 'account/region/name under which the audit table knows the cluster');
  withContextOptions(withStoreOptions(command)).action(async (options: RunOptions) => {
    await run(options);
    finish(exitCodes.ok);
  });
}

async function run(options: RunOptions): Promise<void> {
  const connection = connect(options);
  const key = options.cluster ?? keyOfContext(connection);
  const interruption = watchInterruption();
  const progress = showProgress();
  const store = await openStore(options, 'write');
  try {
    await mustAnswer(store.table, key);
    for (let first = true; !interruption.requested; first = false) {
      const began = performance.now();
      const record = await tick({ connection, key, table: store.table, log: troubles(progress) });
      const failed =
        record.outcome === 'Ok' ? undefined : lookFailed(connection.server.origin, record.outcome, record.detail ?? '');
      if (first && failed) throw failed;
      if (first)
        progress.note(
          `Rotating ${key} at ${connection.server.origin}, audit rows in ${store.place}. Ctrl-C ends it after the tick in hand.`,
        );
      if (failed) progress.note(failed.message);
      else report(progress, record);
      const took = duration(Math.round(performance.now() - began));
      if (!interruption.requested) await interruption.sleep(longer(zero, duration(options.interval - took)));
    }
    progress.note('Ended. A rotation in flight goes on with the next tick, whoever makes it.');
  } finally {
    progress.end();
    interruption.release();
    connection.close();
    await store.close();
  }
}

/** A table that is not there would otherwise be noticed only when there is something to write. */
async function mustAnswer(table: AuditTable, key: string): Promise<void> {
  await table.byCluster(key).next();
}

interface TickParts {
  readonly connection: Connection;
  readonly key: string;
  readonly table: AuditTable;
  readonly log: Log;
}

async function tick({ connection, key, table, log }: TickParts): Promise<TickRecord> {
  const budget = new TickBudget({ toBegin: seconds(40), toEnd: seconds(47) });
  const cluster = new KubernetesCluster({
    connection,
    budget,
    instance: key,
    settings: defaultPlaceholder,
    retired: false,
  });
  const recorder = new TickRecorder({ cluster: key, table, log });
  const record = await runTick({ cluster, recorder, budget });
  for (const problem of cluster.refused) log.warn('An object was left out', { problem });
  const skew = record.observedAt === undefined ? undefined : clockSkew(record.observedAt, Date.now());
  if (skew !== undefined) log.warn(skew, {});
  return record;
}

/** What went wrong within a tick; how the tick as a whole went is told by `run`. */
function troubles(progress: Progress): Log {
  const tell = (message: string, details: Record<string, unknown>): void => {
    if (message === 'Tick failed') return;
    progress.note(Object.keys(details).length === 0 ? message : `${message}: ${JSON.stringify(details)}`);
  };
  return { info: () => {}, warn: tell, error: tell };
}

function report(progress: Progress, { observedAt, pools }: TickRecord): void {
  if (observedAt === undefined) return;
  const at = formatInstant(observedAt);
  for (const { decision, landed } of pools) {
    const { transition, nodePool } = decision;
    if (landed && transition) progress.note(`${at}  ${nodePool}  ${transition.claim}  ${transition.step}`);
  }
  progress.lasting(`${at}  ${pools.map(inWords).join(', ') || 'no NodePools'}`);
}

function inWords({ decision: { nodePool, step, blocked } }: PoolRecord): string {
  if (!blocked) return `${nodePool}: ${step}`;
  return `${nodePool}: ${blocked.reason}${blocked.until === undefined ? '' : ` until ${formatInstant(blocked.until)}`}`;
}

function readInterval(text: string): Duration {
  const interval = parseGoDuration(text);
  if (interval === undefined || interval < seconds(1)) {
    throw new InvalidArgumentError('It is a duration such as 60s or 1m30s, and at least 1s.');
  }
  return interval;
}
