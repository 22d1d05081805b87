/**
 * Once a minute: one message for each cluster. It looks at no cluster itself, so none can hold up another.
 */
import { Logger } from '@aws-lambda-powertools/logger';
import { type ClusterTarget, readClusters } from '../../lib/adapters/aws/cluster-registry.ts';
import { metricService } from '../../lib/adapters/aws/metric-names.ts';
import { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import { isStale, readSchedule } from '../../lib/adapters/aws/schedule-event.ts';
import type { Log } from '../../lib/adapters/aws/tick-log.ts';
import { queueEntry, SqsTickQueue, sendAll, type TickQueue } from '../../lib/adapters/aws/tick-queue.ts';
import { type DispatchEnvironment, readEnvironment } from './environment.ts';

export interface DispatchDependencies {
  readonly clusters: readonly ClusterTarget[];
  readonly queue: TickQueue;
  readonly log: Log;
  readonly metrics?: TickMetrics;
  /** Milliseconds since the epoch by our own clock, against which a schedule grows stale. */
  readonly now?: () => number;
}

export interface DispatchAnswer {
  readonly outcome: 'Sent' | 'Stale';
  readonly sent: number;
  readonly failed: number;
}

/** @design D1-01, D1-02 */
export function createHandler({ clusters, queue, log, metrics, now = Date.now }: DispatchDependencies) {
  return async (event: unknown): Promise<DispatchAnswer> => {
    const { scheduledAt, replaced } = readSchedule(event, now());
    if (replaced !== undefined) {
      log.warn('The scheduled time cannot be read; the current minute is taken', { found: replaced });
    }
    if (isStale(scheduledAt, now())) {
      log.warn('A schedule came too late and was dropped', {});
      metrics?.stale();
      return { outcome: 'Stale', sent: 0, failed: 0 };
    }
    const failed = await sendAll(
      queue,
      clusters.map((cluster) => queueEntry({ cluster, scheduledAt })),
    );
    if (failed.length > 0) log.error('Ticks could not be sent', { failed: failed.length, of: clusters.length });
    metrics?.dispatched(clusters.length - failed.length);
    return { outcome: 'Sent', sent: clusters.length - failed.length, failed: failed.length };
  };
}

/** @throws Error naming every problem of the configured clusters */
function fromEnvironment({ queueUrl, clusters }: DispatchEnvironment): DispatchDependencies {
  const log = new Logger({ serviceName: metricService });
  const reading = readClusters(clusters);
  if (!reading.valid) {
    const problems = reading.problems.map(({ path, problem }) => `${path}: ${problem}`);
    throw new Error(`the configured clusters cannot be read: ${problems.join('; ')}`);
  }
  return {
    clusters: reading.clusters,
    queue: new SqsTickQueue(queueUrl, (error) => log.warn('A batch of ticks was not taken', { detail: String(error) })),
    log,
    metrics: new TickMetrics(),
  };
}

let inLambda: ReturnType<typeof createHandler> | undefined;

/** The Lambda entry point; whoever imports this file for `createHandler` needs no environment. */
export const handler = async (event: unknown): Promise<DispatchAnswer> => {
  inLambda ??= createHandler(fromEnvironment(readEnvironment()));
  return await inLambda(event);
};
