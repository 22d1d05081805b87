/**
 * A request for a manual run: written down at once, then sent to its cluster's queue, or answered here when it cannot be.
 */
import { type ClusterTarget, clusterKey } from '../../lib/adapters/aws/cluster-registry.ts';
import type { FleetSurvey } from '../../lib/adapters/aws/fleet.ts';
import {
  expiredAnswer,
  isExpired,
  malformedAnswer,
  type RunAnswer,
  type RunReading,
} from '../../lib/adapters/aws/manual-run.ts';
import type { TickMetrics } from '../../lib/adapters/aws/metrics.ts';
import type { RunDesk } from '../../lib/adapters/aws/run-desk.ts';
import { ourClock } from '../../lib/adapters/aws/schedule-event.ts';
import type { TickMessage } from '../../lib/adapters/aws/tick-queue.ts';
import type { DispatchAnswer } from './answer.ts';

interface RunIntake {
  readonly desk: RunDesk;
  readonly survey: () => Promise<FleetSurvey>;
  readonly metrics?: TickMetrics;
  readonly now?: () => number;
  /** @returns how many were not taken */
  readonly send: (messages: readonly TickMessage[]) => Promise<number>;
}

/** @throws Error when the queue does not take it, so that the event comes again @design D12-03, D12-04 */
export async function takeRun(intake: RunIntake, reading: RunReading): Promise<DispatchAnswer> {
  const { desk, survey, now = Date.now } = intake;
  const { run } = reading;
  const answered = async (outcome: 'Refused' | 'Expired', answer: RunAnswer): Promise<DispatchAnswer> => {
    if (await desk.answer(run, answer)) intake.metrics?.run(outcome);
    return { outcome, sent: 0, failed: 0 };
  };
  await desk.requested(run);
  if (reading.kind === 'malformed') {
    return await answered('Refused', malformedAnswer(reading.problems));
  }
  if (isExpired(reading.run, ourClock(now()))) {
    return await answered('Expired', expiredAnswer(reading.run));
  }
  const { targets } = await survey();
  const cluster: ClusterTarget | undefined = targets.find((target) => clusterKey(target) === run.cluster);
  if (cluster === undefined) {
    const message = `cluster ${run.cluster} is not among the ${targets.length} that are ticked: list it, give it the tag, or wait until it is active`;
    return await answered('Refused', { outcome: 'Refused', reason: 'UnknownCluster', message });
  }
  const failed = await intake.send([{ cluster, scheduledAt: run.requestedAt, run: reading.run }]);
  if (failed > 0) throw new Error(`the queue did not take the manual run ${run.id}`);
  return { outcome: 'Sent', sent: 1, failed: 0 };
}
