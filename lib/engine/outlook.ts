/**
 * What the next tick would do and why: the answer to "when will it rotate my nodes, and what is in the way".
 *
 * Nothing is decided here a second time. The gates, the assessments, the sizes and the decision are those of the tick
 * itself; where a gate is closed or a policy only observes, the look at the next candidate is the one that would follow.
 */
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { deadlineOf } from '../domain/cluster/node-claim.ts';
import type { ClusterSnapshot } from '../domain/cluster/snapshot.ts';
import type { FieldProblem, PolicyReading, RotationPolicy } from '../domain/policy/rotation-policy.ts';
import { metaOf } from '../domain/policy/rotation-policy.ts';
import type { Rotation } from '../domain/rotation/rotation.ts';
import type { Occurrence } from '../domain/schedule/calendar.ts';
import { nextOccurrence } from '../domain/schedule/calendar.ts';
import type { Finding, Schedule } from '../domain/schedule/feasibility.ts';
import { deriveSchedule, poolFindings, staying } from '../domain/schedule/feasibility.ts';
import { policyFindings } from '../domain/schedule/policy-findings.ts';
import type { PodManifest } from '../domain/surge/placeholder.ts';
import type { Duration, Instant } from '../domain/time.ts';
import type { Assessment } from './candidates.ts';
import { assess, rank } from './candidates.ts';
import { decide, examinedPerTick, firstThatCanStart } from './decide.ts';
import type { Blocked, Decision, Need, Notice } from './decision.ts';
import type { GateVerdict } from './gates.ts';
import { firstClosed, judgeGates } from './gates.ts';
import { concerned } from './policy-status.ts';
import type { PoolView } from './pool-view.ts';
import { findClaim, nodeOf, viewOf, wholeNode } from './pool-view.ts';
import type { Examination } from './start.ts';
import { examine, fallbackApplies, weigh } from './start.ts';
import { survey } from './survey.ts';
import { unreadableAround, unreadableIn } from './unreadable.ts';
import { mergeNeeds } from './writes.ts';

export interface Outlook {
  readonly at: Instant;
  /** By name. */
  readonly policies: readonly PolicyOutlook[];
  /** By name. */
  readonly pools: readonly PoolOutlook[];
}

export interface PolicyOutlook {
  readonly reading: PolicyReading;
  readonly name: string;
  /** Conflict: for at least one pool an equally specific policy matches, too. */
  readonly status: 'Accepted' | 'Invalid' | 'Conflict';
  readonly problems: readonly FieldProblem[];
  /** What can be said without any NodePool. */
  readonly findings: readonly Finding[];
  /** The pools that it governs, blocks because it is invalid, or is in conflict about. */
  readonly nodePools: readonly string[];
}

export interface ClaimOutlook {
  readonly name: string;
  readonly node?: string;
  readonly deadline?: Instant;
  readonly leadTime?: Duration;
  readonly candidateFrom?: Instant;
  readonly eligible: boolean;
  /** The first reason why not; that of its examination where its turn would have come. @design D6-05, D6-06 */
  readonly disqualifier?: Blocked;
  /** 1 goes first; eligible claims only. */
  readonly rank?: number;
  readonly shortLead: boolean;
  readonly backoffUntil?: Instant;
}

export interface PoolOutlook {
  readonly view: PoolView;
  readonly name: string;
  readonly mode?: RotationPolicy['mode'];
  readonly schedule?: Schedule;
  readonly findings: readonly Notice[];
  /** The open occurrence, if any. */
  readonly occurrence?: Occurrence;
  /** The next opening after now. */
  readonly nextWindow?: Occurrence;
  /** Every gate in order; empty without a valid policy. */
  readonly gates: readonly GateVerdict[];
  readonly blocked?: Blocked;
  /** In the order in which they go; those that may not, by when they may, after the others. */
  readonly claims: readonly ClaimOutlook[];
  readonly rotation?: Exclude<Rotation, { phase: 'none' }>;
  /** Sizes of the claim in flight, or of the one whose turn is next. Absent while its node has not been looked at. */
  readonly surge?: Examination;
  /** What would start if every gate were open. Under Observe this is all that there is. @design D2-08 */
  readonly next?: { readonly claim: string; readonly fallback: boolean };
  /** What this tick would do, its writes in order. */
  readonly decision: Decision;
  /** The Pod that this tick creates, or that the next start would. */
  readonly placeholder?: PodManifest;
}

/** @design D13-02 */
export function outlookOf(snapshot: ClusterSnapshot): Outlook {
  const at = snapshot.observedAt;
  const decisions = new Map(decide(snapshot).map((decision) => [decision.nodePool, decision]));
  const pools = snapshot.nodePools
    .map((pool) => viewOf(snapshot, pool))
    .map((view) => poolOutlook(view, decisions.get(view.pool.meta.name) as Decision))
    .sort(byName);
  return { at, policies: snapshot.policies.map((reading) => policyOutlook(reading, pools, at)).sort(byName), pools };
}

/** What has to be looked at before the outlook is whole: more than a tick asks for while a gate is closed. */
export const outlookNeeds = (snapshot: ClusterSnapshot): Need =>
  mergeNeeds([survey(snapshot), ...snapshot.nodePools.flatMap((pool) => needsOf(viewOf(snapshot, pool)))]);

function needsOf(view: PoolView): readonly Need[] {
  if (!view.policy || view.rotation.phase !== 'none') return [];
  const verdict = firstThatCanStart(view, view.policy, rank(view, assess(view, view.policy)));
  return 'need' in verdict ? [verdict.need] : [];
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

function policyOutlook(reading: PolicyReading, pools: readonly PoolOutlook[], at: Instant): PolicyOutlook {
  const { name } = metaOf(reading);
  const about = pools.filter(({ view }) => concerned(view.governance).includes(name));
  const conflict = about.some(({ view }) => view.governance.kind === 'conflict');
  return {
    reading,
    name,
    status: !reading.valid ? 'Invalid' : conflict ? 'Conflict' : 'Accepted',
    problems: reading.valid ? [] : reading.problems,
    findings: reading.valid ? policyFindings(reading.policy, at) : [],
    nodePools: about.map((pool) => pool.name),
  };
}

function poolOutlook(view: PoolView, decision: Decision): PoolOutlook {
  const { policy, pool, at, occurrence, rotation } = view;
  const name = pool.meta.name;
  const common = {
    view,
    name,
    decision,
    ...(decision.blocked ? { blocked: decision.blocked } : {}),
    ...(occurrence ? { occurrence } : {}),
    ...(rotation.phase === 'none' ? {} : { rotation }),
  };
  if (!policy) {
    const claims = view.claims.map(ungoverned).sort(byName);
    return { ...common, findings: [...decision.notices, ...unreadableIn(view)], gates: [], claims };
  }
  const assessments = assess(view, policy);
  const ranked = rank(view, assessments);
  const ahead: LookAhead = rotation.phase === 'none' ? lookAhead(view, policy, ranked) : { ranked, refused: new Map() };
  const gates = judgeGates({ view, policy, findings: poolFindings(policy, pool, view.claims, at) });
  const schedule = deriveSchedule(policy, pool, staying(view.claims).length, at);
  const nextWindow = nextOccurrence(policy, at);
  const surge = ahead.weighed ?? inFlight(view, policy);
  // What a start has to say belongs to a start: where only a mode is in the way of one, too.
  const observed = policy.mode === 'Observe' && firstClosed(gates) === undefined ? (ahead.decision?.notices ?? []) : [];
  return {
    ...common,
    mode: policy.mode,
    ...(schedule ? { schedule } : {}),
    findings: eachOnce([...decision.notices, ...observed, ...(surge ? unreadableAround(surge) : [])]),
    ...(nextWindow ? { nextWindow } : {}),
    gates,
    claims: claimsOf(assessments, ahead),
    ...(surge ? { surge } : {}),
    ...(ahead.next ? { next: ahead.next } : {}),
    ...placeholderOf(decision, ahead),
  };
}

/** What belongs to a start may be in the tick's notices already. */
const eachOnce = (notices: readonly Notice[]): readonly Notice[] => [
  ...new Map(notices.map((notice) => [JSON.stringify([notice.code, notice.message, notice.claim]), notice])).values(),
];

/** What would follow if every gate were open. */
interface LookAhead {
  /** In order, those that their examination refused left out. */
  readonly ranked: readonly Assessment[];
  readonly refused: ReadonlyMap<string, Blocked>;
  readonly decision?: Decision;
  readonly next?: PoolOutlook['next'];
  readonly weighed?: Examination;
}

function lookAhead(view: PoolView, policy: RotationPolicy, ranked: readonly Assessment[]): LookAhead {
  const verdict = firstThatCanStart(view, policy, ranked);
  const decision = 'need' in verdict ? undefined : verdict;
  const started = decision?.transition && {
    claim: decision.transition.claim,
    fallback: decision.step === 'startFallback',
  };
  const refused = refusals(view, policy, ranked);
  const sized = started?.fallback
    ? undefined
    : ranked.find(({ claim }) => claim.meta.name === (started?.claim ?? ranked[0]?.claim.meta.name));
  const weighed = sized && weighedClaim(view, policy, sized.claim);
  return {
    ranked: ranked.filter(({ claim }) => !refused.has(claim.meta.name)),
    refused,
    ...(decision ? { decision } : {}),
    ...(started ? { next: started } : {}),
    ...(weighed ? { weighed } : {}),
  };
}

/** Why those before the one that can start may not. */
function refusals(view: PoolView, policy: RotationPolicy, ranked: readonly Assessment[]): ReadonlyMap<string, Blocked> {
  const refused = new Map<string, Blocked>();
  for (const candidate of ranked.slice(0, examinedPerTick)) {
    if (fallbackApplies(view, policy, candidate.claim)) break;
    const examined = examine(view, policy, candidate);
    if (!('reason' in examined)) break;
    refused.set(candidate.claim.meta.name, examined);
  }
  return refused;
}

function inFlight(view: PoolView, policy: RotationPolicy): Examination | undefined {
  const { rotation } = view;
  if (rotation.phase !== 'pending') return undefined;
  const claim = findClaim(view, rotation.claim, rotation.claimUid);
  return claim && weighedClaim(view, policy, claim);
}

/** Undefined while the node or its Pods have not been looked at: a sum over nothing would look like an empty node. */
function weighedClaim(view: PoolView, policy: RotationPolicy, claim: NodeClaim): Examination | undefined {
  const node = wholeNode(view.snapshot, nodeOf(view.snapshot, claim)?.meta.name ?? '');
  if (node === 'unseen' || node === 'gone' || !view.snapshot.inspected.podsOnNode.has(node.meta.name)) return undefined;
  return weigh(view, policy, claim, node);
}

function placeholderOf(decision: Decision, ahead: LookAhead): Pick<PoolOutlook, 'placeholder'> {
  for (const action of [...decision.actions, ...(ahead.decision?.actions ?? [])]) {
    if (action.kind === 'createPlaceholder') return { placeholder: action.pod };
  }
  return {};
}

/** @design D6-05, R3.2-07 */
function claimsOf(assessments: readonly Assessment[], { ranked, refused }: LookAhead): readonly ClaimOutlook[] {
  const ranks = new Map(ranked.map(({ claim }, index) => [claim.meta.name, index + 1]));
  const never = Number.POSITIVE_INFINITY;
  return assessments
    .map((assessment) => claimOutlook(assessment, ranks, refused))
    .sort((a, b) => {
      const order = (a.rank ?? never) - (b.rank ?? never) || (a.candidateFrom ?? never) - (b.candidateFrom ?? never);
      return Number.isNaN(order) || order === 0 ? byName(a, b) : order;
    });
}

function claimOutlook(
  assessment: Assessment,
  ranks: ReadonlyMap<string, number>,
  refused: ReadonlyMap<string, Blocked>,
): ClaimOutlook {
  const { claim, dueness, disqualifier, backoffUntil } = assessment;
  const { name } = claim.meta;
  const rankOf = ranks.get(name);
  const no: Blocked | undefined = disqualifier
    ? {
        reason: disqualifier.code,
        message: disqualifier.message,
        ...(disqualifier.until === undefined ? {} : { until: disqualifier.until }),
      }
    : refused.get(name);
  return {
    ...ungoverned(claim),
    ...(dueness ? { leadTime: dueness.leadTime } : {}),
    ...(dueness && dueness.from !== null ? { candidateFrom: dueness.from } : {}),
    eligible: no === undefined,
    ...(no ? { disqualifier: no } : {}),
    ...(rankOf === undefined ? {} : { rank: rankOf }),
    shortLead: dueness?.shortLead ?? false,
    ...(backoffUntil === undefined ? {} : { backoffUntil }),
  };
}

function ungoverned(claim: NodeClaim): ClaimOutlook {
  const deadline = deadlineOf(claim);
  return {
    name: claim.meta.name,
    ...(claim.nodeName === undefined ? {} : { node: claim.nodeName }),
    ...(typeof deadline === 'number' ? { deadline } : {}),
    eligible: false,
    shortLead: false,
  };
}
