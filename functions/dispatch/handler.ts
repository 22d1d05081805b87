/**
 * Once a minute: one message for each cluster. It looks at no cluster itself, so none can hold up another.
 *
 * The same function takes the requests for manual runs, which go through the same queue and the same group.
 */
import { Logger } from '@aws-lambda-powertools/logger';
import { AccountRoles } from '../../lib/adapters/aws/account-roles.ts';
import { AuditTable, dynamoDbClient } from '../../lib/adapters/aws/audit-table.ts';
import { type ClusterTarget, clusterKey, readFleet } from '../../lib/adapters/aws/cluster-registry.ts';
import { DomainEvents } from '../../lib/adapters/aws/domain-events.ts';
import { EksClusters } from '../../lib/adapters/aws/eks-clusters.ts';
import { type Fleet, type FleetSurvey, RegisteredFleet } from '../../lib/adapters/aws/fleet.ts';
import { type RunReading, readManualRun } from '../../lib/adapters/aws/manual-run.ts';
import { metricService } from '../../lib/adapters/aws/metric-names.ts';
import { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import { ClusterRegistry } from '../../lib/adapters/aws/registry-table.ts';
import { RunDesk } from '../../lib/adapters/aws/run-desk.ts';
import { isForeign, isStale, ourClock, readSchedule } from '../../lib/adapters/aws/schedule-event.ts';
import { TagDiscovery } from '../../lib/adapters/aws/tag-discovery.ts';
import type { Log } from '../../lib/adapters/aws/tick-log.ts';
import {
  queueEntry,
  SqsTickQueue,
  sendAll,
  type TickMessage,
  type TickQueue,
} from '../../lib/adapters/aws/tick-queue.ts';
import type { DispatchAnswer } from './answer.ts';
import { type DispatchEnvironment, readEnvironment } from './environment.ts';
import { takeRun } from './manual-runs.ts';

export interface DispatchDependencies {
  readonly fleet: Fleet;
  /** By network; the key of clusters in none is the empty text. */
  readonly queues: ReadonlyMap<string, TickQueue>;
  readonly log: Log;
  readonly metrics?: TickMetrics;
  /** Takes requests for manual runs; without one they are not taken. */
  readonly desk?: RunDesk;
  /** Milliseconds since the epoch by our own clock, against which a schedule grows stale. */
  readonly now?: () => number;
}

/** @design D1-01, D1-02 */
export function createHandler(dependencies: DispatchDependencies) {
  const { log, desk, now = Date.now } = dependencies;
  return async (event: unknown): Promise<DispatchAnswer> => {
    const reading: RunReading | undefined = desk && readManualRun(event, ourClock(now()));
    if (desk && reading) {
      const survey = (): Promise<FleetSurvey> => dependencies.fleet.survey(ourClock(now()));
      return await takeRun(
        { ...dependencies, desk, survey, send: (messages) => send(dependencies, messages) },
        reading,
      );
    }
    if (isForeign(event)) {
      log.warn('An event that is not ours was ignored', { event: JSON.stringify(event).slice(0, 500) });
      return { outcome: 'Ignored', sent: 0, failed: 0 };
    }
    return await tickAll(dependencies, event);
  };
}

async function tickAll(dependencies: DispatchDependencies, event: unknown): Promise<DispatchAnswer> {
  const { fleet, log, metrics, now = Date.now } = dependencies;
  const { scheduledAt, replaced } = readSchedule(event, now());
  if (replaced !== undefined) {
    log.warn('The scheduled time cannot be read; the current minute is taken', { found: replaced });
  }
  if (isStale(scheduledAt, now())) {
    log.warn('A schedule came too late and was dropped', {});
    metrics?.stale();
    return { outcome: 'Stale', sent: 0, failed: 0 };
  }
  const { targets, health } = await fleet.survey(ourClock(now()));
  const failed = await send(
    dependencies,
    targets.map((cluster) => ({ cluster, scheduledAt })),
  );
  if (failed > 0) log.error('Ticks could not be sent', { failed, of: targets.length });
  metrics?.dispatched(targets.length - failed, health);
  return { outcome: 'Sent', sent: targets.length - failed, failed };
}

/** Each to the queue of its network. @returns how many were not taken @design D1-07 */
async function send({ queues, log }: DispatchDependencies, messages: readonly TickMessage[]): Promise<number> {
  let failed = 0;
  for (const [network, ofNetwork] of Map.groupBy(messages, ({ cluster }) => cluster.network ?? '')) {
    const queue = queues.get(network);
    if (queue === undefined) {
      const clusters = ofNetwork.map(({ cluster }: { cluster: ClusterTarget }) => clusterKey(cluster));
      log.error('There is no queue for the network of these clusters', { network, clusters });
      failed += ofNetwork.length;
    } else failed += (await sendAll(queue, ofNetwork.map(queueEntry))).length;
  }
  return failed;
}

/** @throws Error naming every problem of the configured clusters */
function fromEnvironment(environment: DispatchEnvironment): DispatchDependencies {
  const { queueUrl, networkQueueUrls, tableName, retentionDays, busName, account, clusters } = environment;
  const log = new Logger({ serviceName: metricService });
  const reading = readFleet(clusters, account);
  if (!reading.valid) {
    const problems = reading.problems.map(({ path, problem }) => `${path}: ${problem}`);
    throw new Error(`the configured clusters cannot be read: ${problems.join('; ')}`);
  }
  const client = dynamoDbClient();
  const asked = { roles: new AccountRoles(), work: 'dispatch' };
  const table = new AuditTable({ tableName, client, ...(retentionDays === undefined ? {} : { retentionDays }) });
  const metrics = new TickMetrics();
  const refused = (error: unknown): void => log.warn('A batch of ticks was not taken', { detail: String(error) });
  return {
    fleet: new RegisteredFleet({
      config: reading.fleet,
      registry: new ClusterRegistry({ client, tableName }),
      table,
      source: new EksClusters(asked),
      tags: new TagDiscovery(asked),
      log,
    }),
    queues: new Map(
      Object.entries({ '': queueUrl, ...networkQueueUrls }).map(([name, url]) => [
        name,
        new SqsTickQueue(url, refused),
      ]),
    ),
    log,
    metrics,
    desk: new RunDesk({ table, log, metrics, events: busName === undefined ? undefined : new DomainEvents(busName) }),
  };
}

let inLambda: ReturnType<typeof createHandler> | undefined;

/** The Lambda entry point; whoever imports this file for `createHandler` needs no environment. */
export const handler = async (event: unknown): Promise<DispatchAnswer> => {
  inLambda ??= createHandler(fromEnvironment(readEnvironment()));
  return await inLambda(event);
};
