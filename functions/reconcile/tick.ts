/**
 * One tick of one cluster: made, made again where the cluster's certificate has changed, and kept.
 */
import type { AuditTable } from '../../lib/adapters/aws/audit-table.ts';
import { type ClusterTarget, clusterKey } from '../../lib/adapters/aws/cluster-registry.ts';
import type { DomainEvents } from '../../lib/adapters/aws/domain-events.ts';
import type { ClusterSource } from '../../lib/adapters/aws/eks-clusters.ts';
import type { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import type { NoteKeeper } from '../../lib/adapters/aws/note-keeper.ts';
import { TickRecorder } from '../../lib/adapters/aws/recorder.ts';
import type { ClusterRegistry, TickResult } from '../../lib/adapters/aws/registry-table.ts';
import type { RunDesk } from '../../lib/adapters/aws/run-desk.ts';
import type { Log } from '../../lib/adapters/aws/tick-log.ts';
import { nothingLeft } from '../../lib/adapters/aws/tick-notes.ts';
import { clockSkew } from '../../lib/adapters/kubernetes/clock-skew.ts';
import { type Connection, UnusableConnection } from '../../lib/adapters/kubernetes/connection.ts';
import { KubernetesCluster } from '../../lib/adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../../lib/adapters/kubernetes/tick-budget.ts';
import type { TickRecord } from '../../lib/controller/ports.ts';
import { runTick, type Tick } from '../../lib/controller/run-tick.ts';
import type { ReconcileEnvironment } from './environment.ts';

export interface ReconcileDependencies {
  /** @throws UnusableConnection when the message leads to no cluster */
  readonly connect: (cluster: ClusterTarget) => Connection;
  readonly table: AuditTable;
  readonly log: Log;
  readonly metrics?: TickMetrics;
  readonly events?: DomainEvents;
  /** Asked when a cluster's certificate is not the one that is known. */
  readonly source?: Pick<ClusterSource, 'describe'>;
  /** Told of a certificate that changed. */
  readonly registry?: Pick<ClusterRegistry, 'moved'>;
  /** Keeps how ticks go, findings, policies and streaks of failures. */
  readonly notes?: NoteKeeper;
  /** Answers manual runs. */
  readonly desk?: RunDesk;
  readonly placeholder: ReconcileEnvironment['placeholder'];
  /** Milliseconds since the epoch by our own clock, against which messages grow stale. */
  readonly now?: () => number;
}

export interface Remaining {
  getRemainingTimeInMillis(): number;
}

/** Milliseconds after which a tick begins nothing more, and kept back at its end for recording. @design D1-06 */
const tickBudget = 40_000;
const keptForRecording = 3_000;

export function budgetOf(context: Remaining): TickBudget {
  const toEnd = context.getRemainingTimeInMillis() - keptForRecording;
  return new TickBudget({ toBegin: Math.min(tickBudget, toEnd), toEnd });
}

/** The cluster as a tick sees it. @throws UnusableConnection when the message leads to none */
export const openCluster = (
  { connect, placeholder }: Pick<ReconcileDependencies, 'connect' | 'placeholder'>,
  target: ClusterTarget,
  budget: TickBudget,
): KubernetesCluster =>
  new KubernetesCluster({
    connection: connect(target),
    budget,
    instance: clusterKey(target),
    settings: placeholder,
    retired: target.retired ?? false,
  });

/**
 * @param scheduledAt what the registry keeps as the time of this tick
 * @design D1-05, D9-02
 */
export async function makeTick(
  dependencies: ReconcileDependencies,
  target: ClusterTarget,
  tick: Pick<Tick, 'request'> & { readonly scheduledAt: TickResult['at'] },
  context: Remaining,
): Promise<TickRecord> {
  const { table, log, metrics, events, notes } = dependencies;
  const key = clusterKey(target);
  const recorder = new TickRecorder({
    cluster: key,
    table,
    log,
    ...(metrics === undefined ? {} : { metrics }),
    ...(events === undefined ? {} : { events }),
  });
  let record = await attempt(dependencies, target, tick, recorder, context);
  if (record.outcome === 'TlsFailed') {
    const moved = await askAgain(dependencies, target);
    if (moved !== undefined) record = await attempt(dependencies, moved, tick, recorder, context);
  }
  await recorder.record(record);
  await notes?.tickEnded(key, record, {
    at: tick.scheduledAt,
    outcome: record.outcome,
    clean: target.retired === true && nothingLeft(record),
  });
  return record;
}

/** The tick itself; its record is kept once it is the last one. */
async function attempt(
  dependencies: ReconcileDependencies,
  target: ClusterTarget,
  { request }: Pick<Tick, 'request'>,
  recorder: TickRecorder,
  context: Remaining,
): Promise<TickRecord> {
  const { log, now = Date.now } = dependencies;
  const key = clusterKey(target);
  const budget = budgetOf(context);
  let cluster: KubernetesCluster;
  try {
    cluster = openCluster(dependencies, target, budget);
  } catch (error) {
    if (!(error instanceof UnusableConnection)) throw error;
    return { outcome: 'Unreachable', detail: error.message, pools: [], unrecorded: new Map(), unreadable: [] };
  }
  const later = {
    putSteps: (...steps: Parameters<TickRecorder['putSteps']>) => recorder.putSteps(...steps),
    record: async () => {},
  };
  const record = await runTick({ cluster, recorder: later, budget, ...(request === undefined ? {} : { request }) });
  for (const problem of cluster.refused) log.error('An object was left out', { cluster: key, problem });
  const skew = record.observedAt === undefined ? undefined : clockSkew(record.observedAt, now());
  if (skew !== undefined) log.warn(skew, { cluster: key });
  return record;
}

/** Where EKS says the cluster is, when that is not what we knew. @design D9-02 */
async function askAgain(
  { source, registry, log }: ReconcileDependencies,
  target: ClusterTarget,
): Promise<ClusterTarget | undefined> {
  if (source === undefined || target.configured) return undefined;
  const key = clusterKey(target);
  try {
    const { endpoint, certificateAuthority } = await source.describe(target);
    if (endpoint === undefined || certificateAuthority === undefined) return undefined;
    if (endpoint === target.endpoint && certificateAuthority === target.certificateAuthority) return undefined;
    log.info('The certificate authority of a cluster has changed', { cluster: key });
    await registry?.moved(key, endpoint, certificateAuthority);
    return { ...target, endpoint, certificateAuthority };
  } catch (error) {
    log.warn('EKS could not be asked for the certificate of a cluster', { cluster: key, detail: String(error) });
    return undefined;
  }
}
