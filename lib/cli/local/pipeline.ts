/**
 * The deployed product in one process: the real dispatch handler, a queue, the real reconcile handler.
 *
 * What a deployment puts between them, schedule, queue and event mapping, is played here on the cluster's own clock.
 */
import { createHandler as createDispatch } from '../../../functions/dispatch/handler.ts';
import { defaultPlaceholder } from '../../../functions/reconcile/environment.ts';
import type { TickAnswer } from '../../../functions/reconcile/handler.ts';
import { createHandler as createReconcile } from '../../../functions/reconcile/handler.ts';
import type { AuditTable } from '../../adapters/aws/audit-table.ts';
import type { ClusterTarget } from '../../adapters/aws/cluster-registry.ts';
import { fixedFleet } from '../../adapters/aws/fleet.ts';
import type { Log } from '../../adapters/aws/tick-log.ts';
import type { Connection } from '../../adapters/kubernetes/connection.ts';
import type { Instant } from '../../domain/time.ts';
import { formatInstant } from '../../domain/time.ts';
import { LocalQueue } from './local-queue.ts';

export interface PipelineParts {
  readonly cluster: ClusterTarget;
  readonly connection: Connection;
  readonly table: AuditTable;
  readonly log: Log;
  readonly now: () => Instant;
}

export interface Pipeline {
  /** One beat of the schedule, and everything that follows from it. @returns the ticks that were made */
  tick(scheduledAt: Instant): Promise<readonly TickAnswer[]>;
  /** Messages that no attempt could work off. */
  deadLetters(): number;
}

/** What Lambda would give a function whose timeout is 50 s. @design D1-06 */
const context = { getRemainingTimeInMillis: () => 50_000 };

/** @design D1-01, D1-02 */
export function createPipeline({ cluster, connection, table, log, now }: PipelineParts): Pipeline {
  const queue = new LocalQueue(now);
  const dispatch = createDispatch({ fleet: fixedFleet([cluster]), queues: new Map([['', queue]]), log, now });
  const reconcile = createReconcile({ connect: () => connection, table, log, placeholder: defaultPlaceholder, now });
  return {
    tick: async (scheduledAt) => {
      await dispatch({ scheduledTime: formatInstant(scheduledAt) });
      const ticks: TickAnswer[] = [];
      await queue.drain(async ({ body }) => {
        ticks.push(...(await reconcile({ Records: [{ body }] }, context)).ticks);
      });
      return ticks;
    },
    deadLetters: () => queue.deadLetters.length,
  };
}
