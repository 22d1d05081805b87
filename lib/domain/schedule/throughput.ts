/**
 * How many rotations fit: what one is expected to take, and what an occurrence holds.
 *
 * Expectation only. Nothing here moves a deadline; `rotationEstimate` and `rotationBound` are never interchangeable.
 */
import type { SurgeSettings } from '../policy/rotation-policy.ts';
import type { Duration } from '../time.ts';
import { minutes, shorter, sum } from '../time.ts';

/** Stands for a drainEstimate that is unset. @design R3.2-15 */
const usualDrain: Duration = minutes(10);

type Estimates = Pick<
  SurgeSettings,
  'readyTimeout' | 'provisioningEstimate' | 'drainEstimate' | 'cooldownAfter' | 'maxUnavailable'
>;

/**
 * t_rot_est: how long a rotation is expected to take. Each estimate is clamped to its deadline.
 *
 * @param grace terminationGracePeriod; an unset one bounds nothing
 * @design R3.2-15, D4-03
 */
export function rotationEstimate(surge: Estimates, grace: Duration | undefined): Duration {
  const drain = surge.drainEstimate ?? usualDrain;
  return sum(
    shorter(surge.provisioningEstimate, surge.readyTimeout),
    grace === undefined ? drain : shorter(drain, grace),
  );
}

/** From one start to the next in the same pool, when all goes well. @design R3.2-17 */
export const startInterval = (surge: Estimates, grace: Duration | undefined): Duration =>
  sum(rotationEstimate(surge, grace), surge.cooldownAfter);

/**
 * C: how many rotations can start in one occurrence.
 *
 * @returns at least 1 for an occurrence of positive length, 0 without one
 * @design R3.2-40
 */
export const capacity = (surge: Estimates, grace: Duration | undefined, occurrenceLength: Duration): number =>
  surge.maxUnavailable * Math.ceil(occurrenceLength / startInterval(surge, grace));

/**
 * Whether more nodes come due per period than an occurrence can take: C < N·P/A, compared without dividing.
 *
 * @param age A, above zero
 * @design R3.2-41
 */
export const arrivalsExceed = (startsPerOccurrence: number, nodes: number, period: Duration, age: Duration): boolean =>
  BigInt(startsPerOccurrence) * BigInt(age) < BigInt(nodes) * BigInt(period);
