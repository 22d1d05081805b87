/**
 * What a RotationPolicy's status should say, and the write of it where the cluster says something else.
 *
 * Nothing in it changes with the clock alone, so a quiet tick writes nothing.
 */
import { refOf } from '../domain/cluster/object-ref.ts';
import type { LightSnapshot } from '../domain/cluster/snapshot.ts';
import type { Governance } from '../domain/policy/governance.ts';
import type { PolicyCondition, PolicyStatus, PoolStanding } from '../domain/policy/policy-status.ts';
import { sameStatus } from '../domain/policy/policy-status.ts';
import type { PolicyReading } from '../domain/policy/rotation-policy.ts';
import { metaOf } from '../domain/policy/rotation-policy.ts';
import { nextOccurrence } from '../domain/schedule/calendar.ts';
import { deriveSchedule, staying } from '../domain/schedule/feasibility.ts';
import { policyFindings } from '../domain/schedule/policy-findings.ts';
import type { Instant } from '../domain/time.ts';
import { formatDuration, formatInstant, wholeSecond } from '../domain/time.ts';
import { assess } from './candidates.ts';
import type { Action, Notice } from './decision.ts';
import type { PoolView } from './pool-view.ts';

/** A pool, and what is true of it whatever step it takes. */
export interface Standing {
  readonly view: PoolView;
  readonly notices: readonly Notice[];
}

/** The policies whose doing, or not doing, the state of a pool is. */
export function concerned(governance: Governance): readonly string[] {
  switch (governance.kind) {
    case 'none':
      return [];
    case 'governed':
      return [governance.policy.meta.name];
    case 'invalid':
      return [governance.name];
    case 'conflict':
      return governance.names;
  }
}

/** The writes of every status that differs from what the cluster has. @design D2-07 */
export function statusWrites(snapshot: LightSnapshot, standings: readonly Standing[]): readonly Action[] {
  // A cluster that has left the configuration is only cleared; nobody keeps its status up from here.
  if (snapshot.retired) return [];
  return snapshot.policies.flatMap((reading): readonly Action[] => {
    const meta = metaOf(reading);
    // Without a version there is nothing to hold the write against: an object that cannot even be named.
    if (meta.deleting || meta.uid === '' || meta.resourceVersion === '') return [];
    const status = wantedStatus(reading, standings, snapshot.observedAt);
    if (sameStatus(status, reading.status)) return [];
    return [{ kind: 'writeStatus', target: refOf('RotationPolicy', meta), status, whenRefused: 'goOn' }];
  });
}

/** Pools that the status lists; the others are only counted. */
const mostPools = 50;

/** @design D2-07 */
function wantedStatus(reading: PolicyReading, standings: readonly Standing[], at: Instant): PolicyStatus {
  const { name } = metaOf(reading);
  const own = standings
    .filter(({ view }) => concerned(view.governance).includes(name))
    .sort((a, b) => (a.view.pool.meta.name < b.view.pool.meta.name ? -1 : 1));
  const observedGeneration = reading.valid ? reading.policy.generation : reading.generation;
  const conditions = [ready(reading, own), feasible(reading, own, at)].map(
    (verdict): PolicyCondition => ({
      ...verdict,
      observedGeneration,
      lastTransitionTime: transition(reading, verdict, at),
    }),
  );
  return {
    observedGeneration,
    conditions,
    matchedNodePools: own.length,
    rotatingNodePools: own.filter(({ view }) => view.rotation.phase !== 'none').length,
    nodePools: own.slice(0, mostPools).map(standingOf),
  };
}

type Verdict = Omit<PolicyCondition, 'observedGeneration' | 'lastTransitionTime'>;

/** The present time stays while the status stays. */
function transition({ status }: PolicyReading, { type, status: now }: Verdict, at: Instant): string {
  const before = status?.conditions.find((condition) => condition.type === type);
  return before?.status === now ? before.lastTransitionTime : formatInstant(wholeSecond(at));
}

// The API server takes 32,768 characters; nobody reads as many.
const longestMessage = 1_024;
const message = (parts: readonly string[]): string => parts.join('; ').slice(0, longestMessage);

function ready(reading: PolicyReading, own: readonly Standing[]): Verdict {
  const type = 'Ready';
  if (!reading.valid) {
    return {
      type,
      status: 'False',
      reason: 'Invalid',
      message: message(reading.problems.map(({ path, problem }) => `${path} ${problem}`)),
    };
  }
  const conflicts = own.flatMap(({ view: { governance, pool } }) =>
    governance.kind === 'conflict'
      ? [`NodePool ${pool.meta.name} is matched equally by ${governance.names.join(', ')}`]
      : [],
  );
  if (conflicts.length > 0) return { type, status: 'False', reason: 'Conflict', message: message(conflicts) };
  return {
    type,
    status: 'True',
    reason: 'Accepted',
    message: 'The policy can be read and is alone in governing its NodePools.',
  };
}

function feasible(reading: PolicyReading, own: readonly Standing[], at: Instant): Verdict {
  const type = 'Feasible';
  if (!reading.valid) return { type, status: 'Unknown', reason: 'Invalid', message: 'The policy cannot be read.' };
  const ofPools = own.flatMap(({ view, notices }) =>
    notices
      .filter(({ severity }) => severity === 'fatal')
      .map(({ code, message: text }) => ({ code, text: `${code} (NodePool ${view.pool.meta.name}): ${text}` })),
  );
  const alone = policyFindings(reading.policy, at)
    .filter(({ severity }) => severity === 'fatal')
    .map(({ code, message: text }) => ({ code, text: `${code}: ${text}` }));
  const fatal = ofPools.length > 0 ? ofPools : alone;
  if (fatal.length === 0)
    return { type, status: 'True', reason: 'Feasible', message: 'The windows leave time to rotate every node.' };
  const codes = [...new Set(fatal.map(({ code }) => code))].sort();
  return { type, status: 'False', reason: codes.join(','), message: message(fatal.map(({ text }) => text)) };
}

function standingOf({ view, notices }: Standing): PoolStanding {
  const { pool, policy, claims, at } = view;
  const findings = [...new Set(notices.filter(({ severity }) => severity !== 'info').map(({ code }) => code))].sort();
  const base = { name: pool.meta.name, candidates: 0, shortLead: 0, findings };
  if (!policy) return base;
  const assessments = assess(view, policy);
  const schedule = deriveSchedule(policy, pool, staying(claims).length, at);
  const next = nextOccurrence(policy, at);
  return {
    ...base,
    ...(schedule === undefined
      ? {}
      : {
          ...(schedule.ageThreshold === null ? {} : { ageThreshold: formatDuration(schedule.ageThreshold) }),
          worstCasePeriod: formatDuration(schedule.worstCasePeriod),
          ...(schedule.guaranteedChances === null ? {} : { guaranteedChances: schedule.guaranteedChances }),
          capacity: schedule.capacity,
        }),
    candidates: assessments.filter(({ disqualifier }) => disqualifier === undefined).length,
    shortLead: assessments.filter(({ claim, dueness }) => !claim.meta.deleting && dueness?.shortLead === true).length,
    ...(next === undefined
      ? {}
      : {
          nextWindow: {
            start: formatInstant(next.start),
            ...(next.end === 'never' ? {} : { end: formatInstant(next.end) }),
          },
        }),
  };
}
