/**
 * START HERE. The whole controller as a function: from what a tick saw to what it intends.
 *
 * Every pool gets one step: a rotation in flight is advanced, a lost anchor is restored, else the first candidate that
 * can start is started. The sweep is added to all. A step that has not seen enough says what it needs, and the tick
 * looks before anything is decided.
 */
import { assertNever } from '../domain/assert.ts';
import type { ClusterSnapshot } from '../domain/cluster/snapshot.ts';
import type { RotationPolicy } from '../domain/policy/rotation-policy.ts';
import { awaitDrain } from './await-drain.ts';
import { awaitSurge } from './await-surge.ts';
import type { Assessment } from './candidates.ts';
import { assess, findingsOf, rank } from './candidates.ts';
import type { Blocked, Decision, Need, Notice } from './decision.ts';
import type { GateVerdict } from './gates.ts';
import { firstClosed, judgeGates } from './gates.ts';
import { poolGauges } from './gauges.ts';
import { statusWrites } from './policy-status.ts';
import { poolNotices } from './pool-notices.ts';
import type { PoolView } from './pool-view.ts';
import { governanceLost, viewOf } from './pool-view.ts';
import type { Asked } from './request.ts';
import { askedOf, disqualifierOfRequest, holdsRequest } from './request.ts';
import { endMalformed, orphanedRotation, restore } from './restore.ts';
import { examine, fallbackApplies, start, startFallback } from './start.ts';
import { liveClaims, sweepPool, sweepRest } from './sweep.ts';
import { withWarnings } from './warnings.ts';

export type Verdict = Decision | { readonly need: Need };

/** Candidates looked at closely in one tick; each costs two reads. */
export const examinedPerTick = 8;

/** What the cluster's pools do next; last what belongs to no pool: its sweep, and the policies' status. @design D6-01..-09 */
export function decide(snapshot: ClusterSnapshot): readonly Decision[] {
  const views = snapshot.nodePools.map((pool) => viewOf(snapshot, pool));
  const decisions = views.map((view) => {
    const verdict = consider(view);
    return 'need' in verdict ? notSeen(view) : verdict;
  });
  const live = liveClaims(views, decisions);
  const standings = views.map((view) => ({ view, notices: poolNotices(view) }));
  const swept = standings.map(({ view, notices }, index) => {
    const decision = decisions[index] as Decision;
    const complete = { ...decision, notices: [...decision.notices, ...notices] };
    const list = { ...complete, actions: [...complete.actions, ...sweepPool(view, decision, live)] };
    return { ...withWarnings(view, list, view.policy?.mode === 'Observe'), gauges: poolGauges(view, list) };
  });
  const rest = [...sweepRest(snapshot, swept, live), ...statusWrites(snapshot, standings)];
  return rest.length === 0
    ? swept
    : [...swept, { nodePool: '', step: 'nothing', actions: rest, notices: [], grounds: noGrounds }];
}

/** The one step of a pool. @design D6-01, D6-02 */
export function consider(view: PoolView): Verdict {
  const { rotation } = view;
  switch (rotation.phase) {
    case 'none':
      return withoutRotation(view);
    case 'malformed':
      return endMalformed(view, rotation);
    case 'pending':
    case 'failing':
    case 'aborting':
      return awaitSurge(view, rotation);
    case 'draining':
      return awaitDrain(view, rotation);
    default:
      return assertNever(rotation);
  }
}

function withoutRotation(view: PoolView): Verdict {
  const orphan = orphanedRotation(view);
  if (orphan) return restore(view, orphan.claim, orphan.rotation);
  const lost = governanceLost(view);
  if (lost !== undefined || !view.policy) return idle(view, { reason: 'NotGoverned', message: lost ?? 'no policy' });
  const findings = findingsOf(view, view.policy);
  const gates = judgeGates({ view, policy: view.policy, findings });
  const asked = askedOf(view);
  if (asked) return startAsked(view, view.policy, asked, gates);
  const closed = firstClosed(gates);
  if (closed) return idle(view, closed);
  return firstThatCanStart(view, view.policy, rank(view, assess(view, view.policy)));
}

/** Starts the claim that somebody asks for, or says the first reason why not. @design D12-02 */
function startAsked(view: PoolView, policy: RotationPolicy, asked: Asked, gates: readonly GateVerdict[]): Verdict {
  const closed = firstClosed(gates.filter((verdict) => holdsRequest(asked, verdict)));
  if (closed) return idle(view, closed);
  const { claim, request } = asked;
  const assessment = assess(view, policy).find((each) => each.claim === claim) as Assessment;
  const no = disqualifierOfRequest(assessment);
  if (no) {
    const { code, message, until } = no;
    return idle(view, { reason: code, message, ...(until === undefined ? {} : { until }) });
  }
  // Outside the window a fallback is never right: what is asked for then is a rotation with a surge.
  if (view.occurrence && fallbackApplies(view, policy, claim)) {
    return startFallback(view, policy, claim, request.reason);
  }
  const examined = examine(view, policy, assessment);
  if ('need' in examined) return examined;
  return 'reason' in examined ? idle(view, examined) : start(view, examined, request.reason);
}

/** @design D6-06, D6-07, R3.6-02, R3.8-07 */
export function firstThatCanStart(view: PoolView, policy: RotationPolicy, candidates: readonly Assessment[]): Verdict {
  const refusals: Notice[] = [];
  for (const candidate of candidates.slice(0, examinedPerTick)) {
    if (fallbackApplies(view, policy, candidate.claim)) return startFallback(view, policy, candidate.claim);
    const examined = examine(view, policy, candidate);
    if ('need' in examined) return examined;
    if (!('reason' in examined)) {
      const decision = start(view, examined);
      return { ...decision, notices: [...decision.notices, ...refusals] };
    }
    if (!refusals.some((refusal) => refusal.code === examined.reason)) {
      refusals.push({ code: examined.reason, severity: 'warn', message: examined.message });
    }
  }
  if (refusals.length === 0) return idle(view, { reason: 'NoCandidate', message: 'no claim is due' });
  const [first] = refusals as [Notice];
  return { ...idle(view, { reason: first.code, message: first.message }), notices: refusals };
}

const noGrounds: Decision['grounds'] = { windowOpen: false, frozen: false, staticPool: false };

const idle = (view: PoolView, blocked: Blocked): Decision => ({
  nodePool: view.pool.meta.name,
  step: blocked.reason === 'NoCandidate' ? 'nothing' : 'blocked',
  actions: [],
  blocked,
  notices: [],
  grounds: noGrounds,
});

const notSeen = (view: PoolView): Decision =>
  idle(view, { reason: 'NotInspected', message: 'the tick could not look closely enough to decide' });
