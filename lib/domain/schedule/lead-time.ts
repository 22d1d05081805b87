/**
 * When a claim is due: early enough that K chances to rotate it lie before its deadline, on the calendar as it will be.
 *
 * Everything counts from the claim's own lifetime; the pool's template has no say here. `rotationBound` is the bound
 * that deadlines are held against; how long a rotation is expected to take is another number (`throughput.ts`).
 */
import type { NodeClaim } from '../cluster/node-claim.ts';
import { deadlineOf } from '../cluster/node-claim.ts';
import type { RotationPolicy, SurgeSettings } from '../policy/rotation-policy.ts';
import type { Duration, Instant } from '../time.ts';
import {
  add,
  between,
  duration,
  earliest,
  formatDuration,
  formatInstant,
  hours,
  latest,
  minutes,
  subtract,
  sum,
  times,
} from '../time.ts';
import type { Calendar, Occurrence } from './calendar.ts';
import { calendarOf, closedBy, countStarts, horizon, lastStarts, occurrenceAround, openTime } from './calendar.ts';
import type { Finding } from './finding.ts';
import { warn } from './finding.ts';
import type { WindowPeriods } from './window.ts';
import { tick } from './window.ts';

/** Slack between our last step and the deadline: four looks of 30 seconds. */
export const deadlineBuffer: Duration = minutes(2);
/** Stands for a terminationGracePeriod that is unset. @design R3.2-14 */
const graceFallback: Duration = hours(1);

/**
 * t_rot: the longest that a rotation may take from its start to the old node's end.
 *
 * @param grace the claim's own terminationGracePeriod, or the template's where a pool is meant
 * @design R3.2-14, R3.2-17
 */
export const rotationBound = (surge: Pick<SurgeSettings, 'readyTimeout'>, grace: Duration | undefined): Duration =>
  sum(surge.readyTimeout, grace ?? graceFallback, deadlineBuffer);

/** K·P + t_rot. A K below one, which is fatal for the pool, counts as none. @design R3.2-01, R3.2-13 */
export const leadTime = (
  policy: Pick<RotationPolicy, 'minRotationChances' | 'surge'>,
  periods: WindowPeriods,
  grace: Duration | undefined,
): Duration =>
  sum(times(Math.max(0, policy.minRotationChances), periods.worstCasePeriod), rotationBound(policy.surge, grace));

export interface Dueness {
  readonly deadline: Instant | 'never';
  /** K·P + t_rot with the claim's own grace. */
  readonly leadTime: Duration;
  /**
   * The instant around which the claim becomes due. Where the rule is strict it is due only after it; `due` knows.
   * Null when it never will be.
   */
  readonly from: Instant | null;
  readonly due: boolean;
  /** The claim's whole life is no longer than its lead time. @design R3.2-50 */
  readonly shortLead: boolean;
  /** Chances that begin after now and not after `deadline − t_rot`, counted over at most 400 days; Infinity without a deadline. */
  readonly laterChances: number;
  readonly notices: readonly Finding[];
}

type Plan = Pick<RotationPolicy, 'windows' | 'exclusions' | 'ageThreshold' | 'minRotationChances' | 'surge'>;

/**
 * Whether the claim may be rotated at `at`, and from when.
 *
 * Under `auto` by its deadline and the real calendar, under an explicit threshold by its age; in both not before the
 * occurrence it was born in has closed.
 *
 * @param periods those of the policy's windows at the same instant
 * @returns undefined when the claim's lifetime cannot be read
 * @design R3.2-01, R3.2-16, R3.2-18, R3.2-19, R3.2-50, R3.2-51, D3-07, D3-09
 */
export function dueness(claim: NodeClaim, policy: Plan, periods: WindowPeriods, at: Instant): Dueness | undefined {
  const deadline = deadlineOf(claim);
  if (!claim.lifetime.readable || deadline === undefined) return undefined;
  const { created, expireAfter, terminationGracePeriod: grace } = claim.lifetime;
  const lead = leadTime(policy, periods, grace);
  const life: Life = {
    created,
    deadline,
    bound: rotationBound(policy.surge, grace),
    calendar: calendarOf(policy, at),
    endless: periods.endless,
  };
  const shortLead = expireAfter !== 'Never' && expireAfter <= lead;
  const laterChances = chancesAfter(life, at);
  const trigger = policy.ageThreshold === 'auto' ? automatic(life, policy, lead) : byAge(life, policy.ageThreshold);
  const settled = settledAt(life);
  return {
    deadline,
    leadTime: lead,
    from: firstInstant(trigger, settled),
    due: due(trigger, at) && (settled === undefined || at >= settled),
    shortLead,
    laterChances,
    notices: claim.meta.deleting
      ? []
      : noticesOf(claim, policy, periods, life, { at, lead, shortLead, laterChances, trigger }),
  };
}

function noticesOf(
  claim: NodeClaim,
  policy: Plan,
  periods: WindowPeriods,
  life: Life,
  found: { at: Instant; lead: Duration; shortLead: boolean; laterChances: number; trigger: Trigger },
): readonly Finding[] {
  const { at, lead, shortLead, laterChances, trigger } = found;
  const notices: Finding[] = [];
  if (shortLead) notices.push(shortLeadWarning(policy, periods, life, lead));
  // Without any window the pool's own finding says it all.
  if (policy.windows.length > 0 && life.deadline !== 'never') {
    const none = trigger.fewer === 0 || (laterChances === 0 && occurrenceAround(life.calendar, at) === undefined);
    if (none) notices.push(nothingLeft(life, policy, life.deadline));
    if (trigger.fewer !== undefined && trigger.fewer > 0)
      notices.push(...chancesLost(life, policy, life.deadline, trigger.fewer, shortLead));
  }
  return notices.map((notice) => ({ ...notice, claim: claim.meta.name }));
}

function firstInstant({ after, fromChance }: Trigger, settled: Instant | undefined): Instant | null {
  if (after === null) return null;
  const from = fromChance === undefined ? after : earliest(after, fromChance);
  return settled === undefined ? from : latest(from, settled);
}

const due = ({ after, fromChance }: Trigger, at: Instant): boolean =>
  (after !== null && at > after) || (fromChance !== undefined && at >= fromChance);

/**
 * An operator's opt-out with no chance left to withdraw it: the claim will be expired by force.
 *
 * @returns undefined while at least one chance remains, or without a deadline
 * @design D4-03
 */
export function optedOutWithoutChance(claim: NodeClaim, { deadline, laterChances }: Dueness): Finding | undefined {
  if (deadline === 'never' || laterChances >= 1) return undefined;
  return {
    ...warn(
      'WillExpireForcefully',
      `it is opted out by its operator (karpenter.sh/do-not-disrupt) and no maintenance window opens in time before its deadline ${formatInstant(deadline)}: remove the annotation or replace the node by hand before then`,
    ),
    claim: claim.meta.name,
  };
}

/** What the rules about one claim ask for. */
interface Life {
  readonly created: Instant;
  readonly deadline: Instant | 'never';
  readonly bound: Duration;
  readonly calendar: Calendar;
  readonly endless: boolean;
}

interface Trigger {
  /** Due strictly after this instant; null when time alone never makes it due. */
  readonly after: Instant | null;
  /** Due at this chance and later, should it come first. */
  readonly fromChance?: Instant;
  /** How many chances there are in all, when they are fewer than wanted. */
  readonly fewer?: number;
}

const byAge = ({ created }: Life, ageThreshold: Duration): Trigger => ({ after: add(created, ageThreshold) });

/** @design R3.2-01, R3.2-18, D3-07 */
function automatic(life: Life, policy: Plan, lead: Duration): Trigger {
  if (life.deadline === 'never') return { after: null };
  const after = subtract(life.deadline, lead);
  const wanted = Math.max(0, policy.minRotationChances);
  const chances = life.endless
    ? lastOpenMinutes(life, life.deadline, wanted)
    : lastOccurrences(life, life.deadline, wanted);
  // While nothing is excluded the K-th last minute is the plain instant itself, which is not yet due.
  const earlier = chances.first !== undefined && (life.endless ? chances.first < after : chances.first <= after);
  const trigger = chances.first !== undefined && earlier ? { after, fromChance: chances.first } : { after };
  return chances.count >= wanted ? trigger : { ...trigger, fewer: chances.count };
}

/** The chances that are left when only the last `wanted` are looked at, and the first of these. */
interface Chances {
  readonly count: number;
  readonly first?: Instant;
}

function lastOccurrences({ created, bound, calendar }: Life, deadline: Instant, wanted: number): Chances {
  const starts = lastStarts(calendar, created, subtract(deadline, bound), wanted);
  const first = starts.at(-1);
  return first === undefined ? { count: 0 } : { count: starts.length, first };
}

/** While the union never closes, a chance is a minute of open time. @design D3-07 */
function lastOpenMinutes({ created, bound, calendar }: Life, deadline: Instant, wanted: number): Chances {
  let missing = wanted * tick;
  let upTo = subtract(deadline, bound);
  let first: Instant | undefined;
  for (const closed of [...calendar.excluded.toReversed(), undefined]) {
    if (missing <= 0 || upTo <= created) break;
    const opens = closed === undefined ? created : latest(created, closed.end);
    if (opens < upTo) {
      first = latest(opens, subtract(upTo, duration(missing)));
      missing -= upTo - first;
    }
    if (closed !== undefined) upTo = earliest(upTo, closed.start);
  }
  const count = Math.floor((wanted * tick - missing) / tick);
  return first === undefined || count === 0 ? { count: 0 } : { count, first };
}

function chancesAfter(life: Life, at: Instant): number {
  const { created, deadline, bound, calendar, endless } = life;
  if (deadline === 'never') return calendar.windows.length === 0 ? 0 : Number.POSITIVE_INFINITY;
  const after = latest(created, at);
  const upTo = earliest(subtract(deadline, bound), add(after, horizon));
  if (upTo <= after || calendar.windows.length === 0) return 0;
  return endless ? Math.floor(openTime(calendar, after, upTo) / tick) : countStarts(calendar, after, upTo);
}

/**
 * Before this instant the claim is not due whatever else holds: rotating a node in the occurrence that bore it gains
 * nothing. Too little time before the deadline ends the wait.
 *
 * @design D3-09
 */
function settledAt({ created, deadline, bound, calendar, endless }: Life): Instant | undefined {
  const birth: Occurrence | undefined = endless ? undefined : occurrenceAround(calendar, created);
  if (birth === undefined || birth.end === 'never') return undefined;
  return deadline === 'never' ? birth.end : earliest(birth.end, subtract(deadline, times(2, bound)));
}

function shortLeadWarning(
  policy: Plan,
  periods: WindowPeriods,
  { created, deadline, bound }: Life,
  lead: Duration,
): Finding {
  const life = deadline === 'never' ? 'Never' : formatDuration(between(created, deadline));
  const terms = `${Math.max(0, policy.minRotationChances)} × ${formatDuration(periods.worstCasePeriod)} + ${formatDuration(bound)}`;
  return warn(
    'ShortLead',
    `its expireAfter ${life} is no longer than its lead time K·P + t_rot = ${terms} = ${formatDuration(lead)}: it is rotated at the first opportunity and may have fewer chances than wanted; raise expireAfter in the NodePool's template, add windows or lower minRotationChances`,
  );
}

function chancesLost(life: Life, policy: Plan, deadline: Instant, count: number, shortLead: boolean): Finding[] {
  const exclusions = exclusionsIn(life, policy, deadline);
  // Without exclusions a short life is its own explanation, and ShortLead gives it.
  if (exclusions === '' && shortLead) return [];
  return [
    warn(
      'ChancesLost',
      `${count} of the ${policy.minRotationChances} wanted chances lie before ${formatInstant(subtract(deadline, life.bound))}, the last start in time for its deadline; the others are lost to ${exclusions || 'changes of the clocks'}: shorten the exclusions, add windows, or raise expireAfter`,
    ),
  ];
}

function nothingLeft(life: Life, policy: Plan, deadline: Instant): Finding {
  const exclusions = exclusionsIn(life, policy, deadline);
  return warn(
    'WillExpireForcefully',
    `no maintenance window is left in which its rotation (up to ${formatDuration(life.bound)}) could end before its deadline ${formatInstant(deadline)}${exclusions && `, ${exclusions} considered`}: Karpenter will expire it by force; open a window, shorten the exclusions, or rotate it by a manual run`,
  );
}

/** Names the exclusions that lie in the claim's life; empty when there are none. @design D3-07 */
function exclusionsIn({ created, bound }: Life, policy: Plan, deadline: Instant): string {
  const last = subtract(deadline, bound);
  const named = policy.exclusions
    .filter((exclusion) => {
      const closed = closedBy(exclusion);
      return closed !== undefined && closed.start <= last && closed.end > created;
    })
    .map(({ from, to, reason }) => `${from} to ${to}${reason === undefined ? '' : ` (${reason})`}`);
  return named.length === 0 ? '' : `the exclusions ${named.join(', ')}`;
}
