/**
 * What a policy means for one NodePool in numbers, and what is wrong with them.
 *
 * The template's lifetime is only representative: these findings are about the pool that the template describes.
 * Claims that differ are looked at one by one, in `lead-time.ts`.
 */
import type { NodeClaim } from '../cluster/node-claim.ts';
import type { NodePool } from '../cluster/node-pool.ts';
import type { RotationPolicy } from '../policy/rotation-policy.ts';
import type { Duration, Instant } from '../time.ts';
import { days, duration, formatDuration, hours, sum } from '../time.ts';
import type { Finding } from './finding.ts';
import { fatal, warn } from './finding.ts';
import { leadTime, rotationBound } from './lead-time.ts';
import { policyFindings } from './policy-findings.ts';
import { surgeFindings } from './surge-room.ts';
import { arrivalsExceed, capacity, rotationEstimate, startInterval } from './throughput.ts';
import { windowPeriods } from './window.ts';

export type { Finding } from './finding.ts';

/** The numbers of one pool under one policy. */
export interface Schedule {
  /** E, of the template. */
  readonly expireAfter: Duration | 'Never';
  /** tGP, of the template. */
  readonly terminationGracePeriod?: Duration;
  /** P; 0 when the windows never open. */
  readonly worstCasePeriod: Duration;
  /** D. */
  readonly occurrenceLength: Duration;
  readonly idleGap: Duration | null;
  readonly endless: boolean;
  /** t_rot. */
  readonly rotationBound: Duration;
  /** t_rot_est. */
  readonly rotationEstimate: Duration;
  /** K. */
  readonly minRotationChances: number;
  /** A: derived or explicit; null without a deadline or without windows. May be negative: that is a fatal finding. */
  readonly ageThreshold: Duration | null;
  /** G: how many chances a claim of this template has at least; null without a deadline. */
  readonly guaranteedChances: number | null;
  /** C. */
  readonly capacity: number;
  /** N. */
  readonly nodes: number;
}

/**
 * The numbers that follow from a policy for a pool.
 *
 * @param nodes N: claims of the pool that are not being deleted
 * @returns undefined when the template's lifetime cannot be read
 * @design R3.2-13, R3.2-14, R3.2-15, R3.2-16, R3.2-40, D4-02
 */
export function deriveSchedule(
  policy: RotationPolicy,
  pool: NodePool,
  nodes: number,
  at: Instant,
): Schedule | undefined {
  const { lifetime } = pool.template;
  if (!lifetime.readable) return undefined;
  const { expireAfter, terminationGracePeriod: grace } = lifetime;
  const { surge, minRotationChances } = policy;
  const periods = windowPeriods(policy.windows, at);
  const bound = rotationBound(surge, grace);
  const never = expireAfter === 'Never' || periods.worstCasePeriod === 0;
  const derived = never ? null : duration(expireAfter - leadTime(policy, periods, grace));
  const age = never || policy.ageThreshold === 'auto' ? derived : policy.ageThreshold;
  return {
    expireAfter,
    ...(grace === undefined ? {} : { terminationGracePeriod: grace }),
    ...periods,
    rotationBound: bound,
    rotationEstimate: rotationEstimate(surge, grace),
    minRotationChances,
    ageThreshold: age,
    guaranteedChances:
      age === null
        ? expireAfter === 'Never'
          ? null
          : 0
        : chances(expireAfter as Duration, bound, age, periods.worstCasePeriod),
    capacity: capacity(surge, grace, periods.occurrenceLength),
    nodes,
  };
}

/** G. A claim cannot be rotated before it is born, so an age below zero wins no chances. @design R3.2-25, D4-03 */
const chances = (expireAfter: Duration, bound: Duration, age: Duration, period: Duration): number =>
  Math.max(0, Math.floor((expireAfter - bound - Math.max(0, age)) / period));

/** N: NodeClaims of the pool that are not being deleted. @design D4-02 */
export const staying = (claims: readonly NodeClaim[]): readonly NodeClaim[] =>
  claims.filter(({ meta }) => !meta.deleting);

/**
 * Every finding about a pool that follows from its policy, its template and its claims.
 *
 * Where the template's lifetime cannot be read, what depends on it is left out.
 *
 * @param claims those of the pool, deleting ones included
 * @param optedOut names of the claims that their operator has taken out of rotation
 * @design D4-01, D4-02, D4-03
 */
export function poolFindings(
  policy: RotationPolicy,
  pool: NodePool,
  claims: readonly NodeClaim[],
  at: Instant,
  optedOut: ReadonlySet<string> = new Set(),
): readonly Finding[] {
  const ofPolicy = policyFindings(policy, at);
  if (ofPolicy.some(({ code }) => code === 'NoWindows')) return ofPolicy;
  const present = staying(claims);
  const schedule = deriveSchedule(policy, pool, present.length, at);
  return [
    ...ofPolicy,
    ...(schedule === undefined
      ? []
      : [
          ...ageFindings(policy, schedule),
          ...lifetimeFindings(policy, schedule),
          ...throughputFindings(policy, schedule),
        ]),
    ...surgeFindings(policy, pool, present),
    ...optOutFindings(present, optedOut),
  ];
}

/** @design R3.2-23, R3.2-24, R3.2-25, R3.2-26 */
function ageFindings(policy: RotationPolicy, schedule: Schedule): Finding[] {
  const { ageThreshold: age, guaranteedChances, minRotationChances: wanted, worstCasePeriod: period } = schedule;
  if (age === null || guaranteedChances === null || schedule.expireAfter === 'Never') return [];
  const found: Finding[] = [];
  const { expireAfter } = schedule;
  if (policy.ageThreshold === 'auto') {
    if (age <= 0) {
      const lead = `${wanted} × ${formatDuration(period)} + ${formatDuration(schedule.rotationBound)} = ${formatDuration(duration(expireAfter - age))}`;
      found.push(
        fatal(
          'ANonPositive',
          `expireAfter ${formatDuration(expireAfter)} leaves no room for K·P + t_rot = ${lead} (A = ${formatDuration(age)}): raise E (expireAfter in the NodePool's template), add windows or days, or lower K (minRotationChances)`,
        ),
      );
    }
  } else if (age > 0) {
    const formula = `G = floor((${formatDuration(expireAfter)} − ${formatDuration(schedule.rotationBound)} − ${formatDuration(age)}) / ${formatDuration(period)}) = ${Math.floor((expireAfter - schedule.rotationBound - age) / period)}`;
    if (guaranteedChances < 1)
      found.push(
        fatal(
          'OverrideGBelowOne',
          `ageThreshold ${formatDuration(age)} guarantees no chance before the deadline (${formula}): lower ageThreshold, use auto, raise expireAfter or add windows`,
        ),
      );
    else if (guaranteedChances < wanted)
      found.push(
        warn(
          'OverrideGBelowK',
          `ageThreshold ${formatDuration(age)} guarantees fewer chances than minRotationChances ${wanted} (${formula}): lower ageThreshold, use auto, raise expireAfter or add windows`,
        ),
      );
  }
  if (age > 0 && age < period) {
    found.push(
      warn(
        'AVeryAggressive',
        `nodes are rotated from an age of ${formatDuration(age)}, less than one window period ${formatDuration(period)}: raise expireAfter or add windows, or every node goes at its first window`,
      ),
    );
  }
  return found;
}

/** The longest that EKS Auto Mode lets a node live, its drain included. @design R3.2-27 */
const hardCap = days(21);
/** What Auto Mode takes for an unset terminationGracePeriod. @design D4-02 */
const graceOfAutoMode = hours(24);

/** @design R3.2-27, R3.2-28, D4-03 */
function lifetimeFindings(policy: RotationPolicy, { expireAfter, terminationGracePeriod: grace }: Schedule): Finding[] {
  const found: Finding[] = [];
  const counted = grace ?? graceOfAutoMode;
  if (expireAfter !== 'Never' && sum(expireAfter, counted) > hardCap) {
    const note = grace === undefined ? ' (unset counts as 24h)' : '';
    found.push(
      warn(
        'HardCapExceeded',
        `expireAfter ${formatDuration(expireAfter)} + terminationGracePeriod ${formatDuration(counted)}${note} exceeds the 21 days (${formatDuration(hardCap)}) that EKS Auto Mode allows: lower one of them`,
      ),
    );
  }
  if (grace === undefined) {
    found.push(
      warn(
        'TGPUnset',
        'the template has no terminationGracePeriod: a drain may last without bound, and 1h is assumed for deadlines; set it',
      ),
    );
  }
  const { drainEstimate } = policy.surge;
  if (grace !== undefined && drainEstimate !== undefined && drainEstimate > grace) {
    found.push(
      warn(
        'DrainEstimateAboveTGP',
        `drainEstimate ${formatDuration(drainEstimate)} exceeds terminationGracePeriod ${formatDuration(grace)} and is clamped to it: lower it or raise terminationGracePeriod`,
      ),
    );
  }
  return found;
}

/** Warnings about numbers of nodes; they never move A. @design R3.2-41, R3.2-42, R3.2-43 */
function throughputFindings({ surge }: RotationPolicy, schedule: Schedule): Finding[] {
  const {
    nodes,
    capacity: starts,
    ageThreshold: age,
    worstCasePeriod: period,
    minRotationChances: wanted,
    idleGap,
  } = schedule;
  if (nodes === 0 || schedule.expireAfter === 'Never') return [];
  const found: Finding[] = [];
  if (age !== null && age > 0 && arrivalsExceed(starts, nodes, period, age)) {
    found.push(
      warn(
        'ThroughputBelowArrival',
        `${nodes} nodes come due at ${nodes} × ${formatDuration(period)} / ${formatDuration(age)} per window period, more than the ${starts} that can start in one occurrence: widen or add windows, or raise expireAfter`,
      ),
    );
  }
  if (wanted * starts < nodes) {
    found.push(
      warn(
        'ThroughputBurstShortfall',
        `${nodes} nodes with one shared deadline need more than the K·C = ${wanted} × ${starts} = ${wanted * starts} starts before it: widen or add windows, or spread the ages of the nodes`,
      ),
    );
  }
  const interval = startInterval(surge, schedule.terminationGracePeriod);
  if (idleGap !== null && interval > idleGap) {
    found.push(
      warn(
        'RotationSpansNextWindow',
        `a rotation and its cooldown (${formatDuration(interval)}) outlast the shortest gap between windows (${formatDuration(idleGap)}): adjacent occurrences do not each hold ${starts} starts; join the windows or move them apart`,
      ),
    );
  }
  return found;
}

/** @design D4-03 */
function optOutFindings(present: readonly NodeClaim[], optedOut: ReadonlySet<string>): Finding[] {
  if (present.length === 0 || !present.every(({ meta }) => optedOut.has(meta.name))) return [];
  return [
    warn(
      'PoolOptedOut',
      `all ${present.length} nodes of the pool are opted out by their operator (karpenter.sh/do-not-disrupt): nothing is rotated and all expire by force; remove the annotation where it is not meant`,
    ),
  ];
}
