/**
 * What a pool measures in a tick, as its metrics show it. Nothing here decides anything.
 */
import { readClaimState } from '../domain/rotation/rotation.ts';
import { deriveSchedule, staying } from '../domain/schedule/feasibility.ts';
import { between, type Duration, latest } from '../domain/time.ts';
import { assess } from './candidates.ts';
import type { Decision, PoolGauges } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { claimsWithState, findClaim, placeholderOf } from './pool-view.ts';

/** @design D11-01 */
export function poolGauges(view: PoolView, decision: Decision): PoolGauges {
  const { policy, pool, claims, at, freeze, rotation, governance, occurrence } = view;
  const assessments = policy ? assess(view, policy) : [];
  const schedule = policy && deriveSchedule(policy, pool, staying(claims).length, at);
  const unprotected = hostUnprotected(view, decision);
  return {
    candidates: assessments.filter(({ disqualifier }) => disqualifier === undefined).length,
    inProgress: rotation.phase !== 'none' || decision.step === 'start' || decision.step === 'startFallback',
    windowOpen: occurrence !== undefined,
    policyConflict: governance.kind === 'conflict',
    shortLeadNodes: assessments.filter(({ claim, dueness }) => !claim.meta.deleting && dueness?.shortLead === true)
      .length,
    drainStuck: decision.notices.some(({ code }) => code === 'DrainStuck'),
    retryCount: claimsWithState(claims).reduce((most, claim) => Math.max(most, retries(claim)), 0),
    ...(freeze.frozen && freeze.until !== undefined ? { freezeUntil: freeze.until } : {}),
    ...(schedule === undefined
      ? {}
      : {
          ...(schedule.ageThreshold === null ? {} : { ageThreshold: schedule.ageThreshold }),
          ...(schedule.guaranteedChances === null ? {} : { rotationChances: schedule.guaranteedChances }),
          throughputCapacity: schedule.capacity,
          rotationEstimate: schedule.rotationEstimate,
          rotationBound: schedule.rotationBound,
          windowPeriod: schedule.worstCasePeriod,
        }),
    ...(unprotected === undefined ? {} : { unprotected }),
  };
}

function retries(claim: PoolView['claims'][number]): number {
  if (claim.meta.deleting) return 0;
  const state = readClaimState(claim.meta);
  return state.state === 'malformed' ? 0 : state.retryCount;
}

/** Only where the host is seen for the first time: a mark that is put back says nothing about how long it was missing. */
function hostUnprotected({ snapshot, rotation, at, ...view }: PoolView, { actions }: Decision): Duration | undefined {
  if (rotation.phase !== 'pending' || rotation.surgeClaim !== undefined) return undefined;
  const host = placeholderOf(snapshot, rotation.claim);
  const old = findClaim({ snapshot, rotation, at, ...view }, rotation.claim, rotation.claimUid);
  if (host?.nodeName === undefined || host.nodeName === old?.nodeName) return undefined;
  if (!actions.some((action) => action.kind === 'protect' && action.target.name === host.nodeName)) return undefined;
  const node = snapshot.nodes.find(({ meta }) => meta.name === host.nodeName);
  const since = [host.meta.created, host.startedAt, node?.meta.created].filter((time) => time !== undefined);
  const [first, ...others] = since;
  return first === undefined ? undefined : between(others.reduce(latest, first), at);
}
