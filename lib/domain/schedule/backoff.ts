/**
 * How long a claim waits after a failed rotation: longer each time, but never so long that the rest of the occurrence
 * is wasted while a shorter wait would still fit into it.
 */
import type { RotationPolicy } from '../policy/rotation-policy.ts';
import type { Instant } from '../time.ts';
import { add, times } from '../time.ts';
import { occurrenceAt } from './calendar.ts';

// retryBackoff times these, one step up with each further failure.
const ladder = [1, 2, 4, 8] as const;

/**
 * The instant from which a failed claim may be tried again.
 *
 * Only the wait depends on the occurrence; the count of failures does not. Which occurrence is meant is judged by the
 * schedule as it is at `at`, so that an edit of the windows counts at once.
 *
 * @param retryCount failures so far, the last one included
 * @design R3.2-08, R3.2-09, R3.2-10, R3.2-11, R3.2-12
 */
export function retryAt(
  policy: Pick<RotationPolicy, 'windows' | 'exclusions' | 'surge'>,
  failedAt: Instant,
  retryCount: number,
  at: Instant,
): Instant {
  const steps = ladder.slice(0, Math.min(Math.max(retryCount, 1), ladder.length));
  const retries = steps.map((step) => add(failedAt, times(step, policy.surge.retryBackoff)));
  const escalated = retries.at(-1) as Instant;
  const occurrence = occurrenceAt(policy, at);
  if (occurrence === undefined || occurrence.end === 'never') return escalated;
  const { start, end } = occurrence;
  if (failedAt < start) return escalated;
  return retries.findLast((retry) => retry < end) ?? escalated;
}
