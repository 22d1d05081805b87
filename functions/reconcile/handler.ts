/**
 * One message, one cluster, one tick. Whatever a cluster can do to us is an outcome that is recorded; only our own bugs
 * leave this function as errors, so that a message in the dead-letter queue always means one.
 */
import { Logger } from '@aws-lambda-powertools/logger';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { AccountRoles } from '../../lib/adapters/aws/account-roles.ts';
import { AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { clusterKey } from '../../lib/adapters/aws/cluster-registry.ts';
import { DomainEvents } from '../../lib/adapters/aws/domain-events.ts';
import { EksClusters } from '../../lib/adapters/aws/eks-clusters.ts';
import type { RunAnswer } from '../../lib/adapters/aws/manual-run.ts';
import { metricService } from '../../lib/adapters/aws/metric-names.ts';
import { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import { NoteKeeper } from '../../lib/adapters/aws/note-keeper.ts';
import { ClusterRegistry } from '../../lib/adapters/aws/registry-table.ts';
import { RunDesk } from '../../lib/adapters/aws/run-desk.ts';
import { isStale } from '../../lib/adapters/aws/schedule-event.ts';
import { readTickMessage } from '../../lib/adapters/aws/tick-queue.ts';
import { ToldFindings } from '../../lib/adapters/aws/told-findings.ts';
import { connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { EksTokens } from '../../lib/adapters/kubernetes/eks-credentials.ts';
import type { TickRecord } from '../../lib/controller/ports.ts';
import { keepConnections } from './connections.ts';
import { type ReconcileEnvironment, readEnvironment } from './environment.ts';
import { answerRun } from './manual-runs.ts';
import { makeTick, type ReconcileDependencies, type Remaining } from './tick.ts';

export type { ReconcileDependencies } from './tick.ts';

export interface TickAnswer {
  readonly cluster: string;
  readonly outcome: TickRecord['outcome'] | RunAnswer['outcome'] | 'Stale' | 'AnsweredBefore';
  readonly detail?: string;
}

export interface ReconcileAnswer {
  readonly ticks: readonly TickAnswer[];
}

type ReconcileEvent = { readonly Records: readonly Pick<SQSRecord, 'body'>[] };

export function createHandler(dependencies: ReconcileDependencies) {
  return async (event: ReconcileEvent, context: Remaining): Promise<ReconcileAnswer> => {
    const ticks: TickAnswer[] = [];
    for (const { body } of event.Records) ticks.push(await reconcile(dependencies, body, context));
    return { ticks };
  };
}

/** @design D1-02, D1-05 */
async function reconcile(dependencies: ReconcileDependencies, body: string, context: Remaining): Promise<TickAnswer> {
  const { log, metrics, desk, now = Date.now } = dependencies;
  const { cluster: target, scheduledAt, run } = readTickMessage(body);
  const cluster = clusterKey(target);
  if (run !== undefined && desk !== undefined) {
    const answer = await answerRun({ ...dependencies, desk }, target, run, context);
    return { cluster, outcome: answer?.outcome ?? 'AnsweredBefore', ...(answer ? { detail: answer.message } : {}) };
  }
  if (isStale(scheduledAt, now())) {
    log.warn('A tick came too late and was dropped', { cluster });
    metrics?.stale();
    return { cluster, outcome: 'Stale' };
  }
  const { outcome, detail } = await makeTick(dependencies, target, { scheduledAt }, context);
  return { cluster, outcome, ...(detail === undefined ? {} : { detail }) };
}

/** The dependencies in Lambda. Only clients are constructed; nothing is signed or dated. @design D1-07 */
function fromEnvironment(environment: ReconcileEnvironment): ReconcileDependencies {
  const log = new Logger({ serviceName: metricService });
  for (const warning of environment.warnings) log.warn(warning);
  const client = dynamoDbClient();
  const { tableName, retentionDays, busName, metricDetail, placeholder } = environment;
  const roles = new AccountRoles();
  const table = new AuditTable({ tableName, client, ...(retentionDays === undefined ? {} : { retentionDays }) });
  const events = busName === undefined ? undefined : new DomainEvents(busName);
  const registry = new ClusterRegistry({ client, tableName });
  const metrics = new TickMetrics(metricDetail);
  return {
    connect: keepConnections((cluster) => {
      const { name, region, roleArn, externalId } = cluster;
      const own = (): ReturnType<typeof client.config.credentials> => client.config.credentials();
      const credentials = roleArn === undefined ? own : roles.provider({ roleArn, externalId }, name);
      return connectToEndpoint(cluster, new EksTokens({ clusterName: name, region, credentials }));
    }),
    table,
    log,
    metrics,
    ...(events === undefined ? {} : { events }),
    source: new EksClusters({ roles, work: 'reconcile' }),
    registry,
    notes: new NoteKeeper({ table, registry, told: new ToldFindings({ client, tableName }), log }),
    desk: new RunDesk({ table, log, events, metrics }),
    placeholder,
  };
}

let inLambda: ReturnType<typeof createHandler> | undefined;

/** The Lambda entry point; whoever imports this file for `createHandler` needs no environment. */
export const handler = async (event: SQSEvent, context: Context): Promise<ReconcileAnswer> => {
  inLambda ??= createHandler(fromEnvironment(readEnvironment()));
  return await inLambda(event, context);
};
