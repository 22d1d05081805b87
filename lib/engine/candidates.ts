/**
 * Which claims of a pool may go, in which order, and for every other one the first reason why not.
 */
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { deadlineOf } from '../domain/cluster/node-claim.ts';
import type { RotationPolicy } from '../domain/policy/rotation-policy.ts';
import type { ClaimState } from '../domain/rotation/rotation.ts';
import { readClaimState } from '../domain/rotation/rotation.ts';
import { retryAt } from '../domain/schedule/backoff.ts';
import type { Finding } from '../domain/schedule/feasibility.ts';
import { poolFindings } from '../domain/schedule/feasibility.ts';
import type { Dueness } from '../domain/schedule/lead-time.ts';
import { dueness } from '../domain/schedule/lead-time.ts';
import type { WindowPeriods } from '../domain/schedule/window.ts';
import { windowPeriods } from '../domain/schedule/window.ts';
import type { Instant } from '../domain/time.ts';
import { formatInstant } from '../domain/time.ts';
import type { PoolView } from './pool-view.ts';
import { nodeOf } from './pool-view.ts';
import { isOptedOut } from './protect.ts';

export const disqualifiers = [
  'Unreadable',
  'OptedOut',
  'Terminating',
  'NoNode',
  'StateMalformed',
  'NotReady',
  'Disrupting',
  'Expired',
  'InFlight',
  'BackingOff',
  'NoDeadline',
  'NotDue',
] as const;
export type DisqualifierCode = (typeof disqualifiers)[number];

export interface Disqualifier {
  readonly code: DisqualifierCode;
  readonly message: string;
  readonly until?: Instant;
}

/** A claim with its verdict. Without a disqualifier it is a candidate. */
export interface Assessment {
  readonly claim: NodeClaim;
  readonly state: ClaimState;
  /** Absent when the lifetime cannot be read. */
  readonly dueness?: Dueness;
  readonly backoffUntil?: Instant;
  readonly disqualifier?: Disqualifier;
}

/** Every claim of the pool with its first disqualifier. @design D6-05, R3.2-01..-06, R3.2-18, R3.2-19 */
export function assess(view: PoolView, policy: RotationPolicy): readonly Assessment[] {
  const { claims, at } = view;
  const { nodes } = view.snapshot;
  const known = assessmentsOf.get(claims);
  if (known?.policy === policy && known.at === at && known.nodes === nodes) return known.assessments;
  const periods = windowPeriods(policy.windows, at);
  const assessments = claims.map((claim) => assessClaim(view, policy, periods, claim));
  assessmentsOf.set(claims, { policy, at, nodes, assessments });
  return assessments;
}

/** What is wrong with the pool's numbers; asked by every look of a tick. @design D4-01, D4-02 */
export function findingsOf({ pool, claims, at }: PoolView, policy: RotationPolicy): readonly Finding[] {
  const known = foundFor.get(claims);
  if (known?.policy === policy && known.at === at && known.pool === pool) return known.findings;
  const findings = poolFindings(policy, pool, claims, at);
  foundFor.set(claims, { policy, at, pool, findings });
  return findings;
}

const foundFor = new WeakMap<
  PoolView['claims'],
  {
    readonly policy: RotationPolicy;
    readonly at: Instant;
    readonly pool: PoolView['pool'];
    readonly findings: readonly Finding[];
  }
>();

/** By the claims of a pool, which stay the same through all looks of a tick: what is asked besides changes no verdict. */
const assessmentsOf = new WeakMap<
  PoolView['claims'],
  {
    readonly policy: RotationPolicy;
    readonly at: Instant;
    readonly nodes: PoolView['snapshot']['nodes'];
    readonly assessments: readonly Assessment[];
  }
>();

function assessClaim(view: PoolView, policy: RotationPolicy, periods: WindowPeriods, claim: NodeClaim): Assessment {
  const state = readClaimState(claim.meta);
  const due = dueness(claim, policy, periods, view.at);
  const backoffUntil =
    state.state === 'failed' ? retryAt(policy, state.failedAt, state.retryCount, view.at) : undefined;
  const assessed = {
    claim,
    state,
    ...(due ? { dueness: due } : {}),
    ...(backoffUntil !== undefined ? { backoffUntil } : {}),
  };
  const disqualifier = firstDisqualifier(view, assessed);
  return disqualifier ? { ...assessed, disqualifier } : assessed;
}

function firstDisqualifier(
  view: PoolView,
  { claim, state, dueness: due, backoffUntil }: Assessment,
): Disqualifier | undefined {
  const node = nodeOf(view.snapshot, claim);
  const no = (code: DisqualifierCode, message: string, until?: Instant): Disqualifier => ({
    code,
    message,
    ...(until === undefined ? {} : { until }),
  });
  if (!claim.lifetime.readable || !due) {
    const named = claim.lifetime.readable ? [] : claim.lifetime.unreadable;
    return no(
      'Unreadable',
      named.map(({ path, text, problem }) => `${path} ${JSON.stringify(text)}: ${problem}`).join('; '),
    );
  }
  if (node && isOptedOut(node))
    return no('OptedOut', `node ${node.meta.name} has karpenter.sh/do-not-disrupt "true" set by its operator`);
  if (claim.meta.deleting) return no('Terminating', 'its deletionTimestamp is set');
  if (!node || node.meta.deleting)
    return no(
      'NoNode',
      claim.nodeName === undefined ? 'it has no node yet' : `node ${claim.nodeName} is gone or going`,
    );
  if (state.state === 'malformed')
    return no('StateMalformed', `annotation ${state.key} cannot be read: ${JSON.stringify(state.text)}`);
  if (claim.ready !== 'True') return no('NotReady', `its condition Ready is ${claim.ready}`);
  if (claim.disruptionReason !== undefined)
    return no('Disrupting', `Karpenter has already chosen it (${claim.disruptionReason})`);
  if (state.state === 'expired') return no('Expired', 'it expired during a rotation; Karpenter ends it');
  if (state.state === 'pending' || state.state === 'draining') return no('InFlight', `its rotation is ${state.state}`);
  if (backoffUntil !== undefined && view.at < backoffUntil) {
    return no(
      'BackingOff',
      `after ${state.state === 'failed' ? state.retryCount : 0} failures it waits until ${formatInstant(backoffUntil)}`,
      backoffUntil,
    );
  }
  if (due.from === null) return no('NoDeadline', 'it never expires');
  if (!due.due) return no('NotDue', `it is due from ${formatInstant(due.from)}`, due.from);
  return undefined;
}

/**
 * The candidates, most urgent first: earliest deadline, then oldest, then name. The order is total.
 *
 * Claims that never expire come after all others; so do those whose last attempt failed without the API server
 * taking the `failed` mark, or they would be tried for ever before everybody else.
 *
 * @design R3.2-07, D6-05
 */
export function rank(view: PoolView, assessments: readonly Assessment[]): readonly Assessment[] {
  const key = ({ claim, state }: Assessment): readonly [number, number, number, string] => {
    const ended = view.history.lastEnded;
    const unmarked =
      ended?.claimUid === claim.meta.uid &&
      ended.step === 'failed' &&
      !(state.state === 'failed' && state.startedAt === ended.startedAt);
    const deadline = deadlineOf(claim);
    return [
      unmarked ? 1 : 0,
      typeof deadline === 'number' ? deadline : Number.POSITIVE_INFINITY,
      claim.meta.created ?? Number.POSITIVE_INFINITY,
      claim.meta.name,
    ];
  };
  return assessments
    .filter((assessment) => assessment.disqualifier === undefined)
    .map((assessment) => ({ assessment, key: key(assessment) }))
    .sort((a, b) => compareKeys(a.key, b.key))
    .map(({ assessment }) => assessment);
}

function compareKeys(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] as number | string;
    if (left < right) return -1;
    if (left > right) return 1;
  }
  return 0;
}
