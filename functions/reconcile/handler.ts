/**
 * One message, one cluster, one tick. Whatever a cluster can do to us is an outcome that is recorded; only our own bugs
 * leave this function as errors, so that a message in the dead-letter queue always means one.
 */
import { Logger } from '@aws-lambda-powertools/logger';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { type ClusterTarget, clusterKey } from '../../lib/adapters/aws/cluster-registry.ts';
import { DomainEvents } from '../../lib/adapters/aws/domain-events.ts';
import { metricService } from '../../lib/adapters/aws/metric-names.ts';
import { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import { TickRecorder } from '../../lib/adapters/aws/recorder.ts';
import { isStale } from '../../lib/adapters/aws/schedule-event.ts';
import type { Log } from '../../lib/adapters/aws/tick-log.ts';
import { readTickMessage } from '../../lib/adapters/aws/tick-queue.ts';
import { clockSkew } from '../../lib/adapters/kubernetes/clock-skew.ts';
import { type Connection, connectToEndpoint, UnusableConnection } from '../../lib/adapters/kubernetes/connection.ts';
import { EksTokens } from '../../lib/adapters/kubernetes/eks-credentials.ts';
import { KubernetesCluster } from '../../lib/adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../../lib/adapters/kubernetes/tick-budget.ts';
import type { TickRecord } from '../../lib/controller/ports.ts';
import { runTick } from '../../lib/controller/run-tick.ts';
import { keepConnections } from './connections.ts';
import { type ReconcileEnvironment, readEnvironment } from './environment.ts';

export interface ReconcileDependencies {
  /** @throws UnusableConnection when the message leads to no cluster */
  readonly connect: (cluster: ClusterTarget) => Connection;
  readonly table: AuditTable;
  readonly log: Log;
  readonly metrics?: TickMetrics;
  readonly events?: DomainEvents;
  readonly placeholder: ReconcileEnvironment['placeholder'];
  /** Milliseconds since the epoch by our own clock, against which messages grow stale. */
  readonly now?: () => number;
}

export interface TickAnswer {
  readonly cluster: string;
  readonly outcome: TickRecord['outcome'] | 'Stale';
  readonly detail?: string;
}

export interface ReconcileAnswer {
  readonly ticks: readonly TickAnswer[];
}

type ReconcileEvent = { readonly Records: readonly Pick<SQSRecord, 'body'>[] };
type Remaining = Pick<Context, 'getRemainingTimeInMillis'>;

/** Milliseconds after which a tick begins nothing more, and kept back at its end for recording. @design D1-06 */
const tickBudget = 40_000;
const keptForRecording = 3_000;

export function createHandler(dependencies: ReconcileDependencies) {
  return async (event: ReconcileEvent, context: Remaining): Promise<ReconcileAnswer> => {
    const ticks: TickAnswer[] = [];
    for (const { body } of event.Records) ticks.push(await reconcile(dependencies, body, context));
    return { ticks };
  };
}

/** @design D1-02, D1-05 */
async function reconcile(dependencies: ReconcileDependencies, body: string, context: Remaining): Promise<TickAnswer> {
  const { log, metrics, now = Date.now } = dependencies;
  const { cluster, scheduledAt } = readTickMessage(body);
  const key = clusterKey(cluster);
  if (isStale(scheduledAt, now())) {
    log.warn('A tick came too late and was dropped', { cluster: key });
    metrics?.stale();
    return { cluster: key, outcome: 'Stale' };
  }
  const { outcome, detail } = await tick(dependencies, cluster, key, context);
  return { cluster: key, outcome, ...(detail === undefined ? {} : { detail }) };
}

async function tick(
  dependencies: ReconcileDependencies,
  target: ClusterTarget,
  key: string,
  context: Remaining,
): Promise<TickRecord> {
  const { connect, table, log, metrics, events, placeholder, now = Date.now } = dependencies;
  const recorder = new TickRecorder({
    cluster: key,
    table,
    log,
    ...(metrics === undefined ? {} : { metrics }),
    ...(events === undefined ? {} : { events }),
  });
  let connection: Connection;
  try {
    connection = connect(target);
  } catch (error) {
    if (!(error instanceof UnusableConnection)) throw error;
    const failed: TickRecord = {
      outcome: 'Unreachable',
      detail: error.message,
      pools: [],
      unrecorded: new Map(),
      unreadable: [],
    };
    await recorder.record(failed);
    return failed;
  }
  const toEnd = context.getRemainingTimeInMillis() - keptForRecording;
  const budget = new TickBudget({ toBegin: Math.min(tickBudget, toEnd), toEnd });
  const cluster = new KubernetesCluster({
    connection,
    budget,
    instance: key,
    settings: placeholder,
    retired: target.retired ?? false,
  });
  const record = await runTick({ cluster, recorder, budget });
  for (const problem of cluster.refused) log.error('An object was left out', { cluster: key, problem });
  const skew = record.observedAt === undefined ? undefined : clockSkew(record.observedAt, now());
  if (skew !== undefined) log.warn(skew, { cluster: key });
  return record;
}

/** The dependencies in Lambda. Only clients are constructed; nothing is signed or dated. @design D1-07 */
function fromEnvironment(environment: ReconcileEnvironment): ReconcileDependencies {
  const log = new Logger({ serviceName: metricService });
  for (const warning of environment.warnings) log.warn(warning);
  const client = dynamoDbClient();
  const { tableName, retentionDays, busName, metricDetail, placeholder } = environment;
  return {
    connect: keepConnections((cluster) =>
      connectToEndpoint(
        cluster,
        new EksTokens({
          clusterName: cluster.name,
          region: cluster.region,
          credentials: () => client.config.credentials(),
        }),
      ),
    ),
    table: new AuditTable({ tableName, client, ...(retentionDays === undefined ? {} : { retentionDays }) }),
    log,
    metrics: new TickMetrics(metricDetail),
    ...(busName === undefined ? {} : { events: new DomainEvents(busName) }),
    placeholder,
  };
}

let inLambda: ReturnType<typeof createHandler> | undefined;

/** The Lambda entry point; whoever imports this file for `createHandler` needs no environment. */
export const handler = async (event: SQSEvent, context: Context): Promise<ReconcileAnswer> => {
  inLambda ??= createHandler(fromEnvironment(readEnvironment()));
  return await inLambda(event, context);
};
