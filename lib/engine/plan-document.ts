/**
 * The outlook as the document that `plan -o json` prints: the product's window for programs. Its shape is stable and
 * described in docs/reference/plan.md.
 *
 * Times are RFC 3339, durations Go strings, quantities canonical Kubernetes text. What there is none of is null.
 */

import { assertNever } from '../domain/assert.ts';
import type { ObjectRef } from '../domain/cluster/object-ref.ts';
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { formatResourceList } from '../domain/cluster/resource-list.ts';
import type { Mirror } from '../domain/rotation/rotation.ts';
import type { Occurrence } from '../domain/schedule/calendar.ts';
import type { Finding, Schedule } from '../domain/schedule/feasibility.ts';
import type { Duration, Instant } from '../domain/time.ts';
import { formatDuration, formatInstant } from '../domain/time.ts';
import type { Action, Blocked, Notice } from './decision.ts';
import type { ClaimOutlook, Outlook, PolicyOutlook, PoolOutlook } from './outlook.ts';
import type { Examination } from './start.ts';

const time = (at: Instant | undefined): string | null => (at === undefined ? null : formatInstant(at));
const length = (of: Duration | null | undefined): string | null =>
  of === null || of === undefined ? null : formatDuration(of);
const amounts = (list: ResourceList | null) => (list === null ? null : formatResourceList(list));

/** @design D13-02 */
export const planDocument = ({ at, policies, pools }: Outlook) => ({
  at: formatInstant(at),
  policies: policies.map(policyDocument),
  nodePools: pools.map(poolDocument),
});

export const policyDocument = ({ name, status, problems, findings, nodePools }: PolicyOutlook) => ({
  name,
  status,
  problems: problems.map(({ path, problem }) => ({ path, problem })),
  findings: findings.map(findingDocument),
  nodePools,
});

const findingDocument = ({ code, severity, message, claim }: Finding | Notice) => ({
  code,
  severity,
  message,
  ...(claim === undefined ? {} : { claim }),
});

export function poolDocument(pool: PoolOutlook) {
  return {
    ...poolHead(pool),
    nextWindow: windowDocument(pool.nextWindow),
    gates: pool.gates.map(({ gate, open, until }) => ({ gate, open, until: time(until) })),
    blocked: pool.blocked ? blockedDocument(pool.blocked) : null,
    claims: pool.claims.map(claimDocument),
    rotation: rotationDocument(pool.rotation),
    surge: pool.surge ? surgeDocument(pool.surge) : null,
    actions: pool.decision.actions.map(actionDocument),
    placeholder: pool.placeholder ?? null,
  };
}

/** What a policy makes of a pool, whatever its claims. */
export function poolHead({ name, view, schedule, findings }: PoolOutlook) {
  const { governance } = view;
  return {
    name,
    governedBy:
      governance.kind === 'governed'
        ? governance.policy.meta.name
        : governance.kind === 'invalid'
          ? governance.name
          : null,
    conflict: governance.kind === 'conflict' ? governance.names : [],
    schedule: schedule ? scheduleDocument(schedule) : null,
    findings: findings.map(findingDocument),
  };
}

const scheduleDocument = (schedule: Schedule) => ({
  E: schedule.expireAfter === 'Never' ? 'Never' : formatDuration(schedule.expireAfter),
  tGP: length(schedule.terminationGracePeriod),
  P: formatDuration(schedule.worstCasePeriod),
  D: formatDuration(schedule.occurrenceLength),
  gap: length(schedule.idleGap),
  tRot: formatDuration(schedule.rotationBound),
  tRotEst: formatDuration(schedule.rotationEstimate),
  K: schedule.minRotationChances,
  A: length(schedule.ageThreshold),
  G: schedule.guaranteedChances,
  C: schedule.capacity,
  N: schedule.nodes,
});

const windowDocument = (window: Occurrence | undefined) =>
  window === undefined
    ? null
    : { start: formatInstant(window.start), end: window.end === 'never' ? null : formatInstant(window.end) };

const blockedDocument = ({ reason, message, until }: Blocked) => ({ reason, message, until: time(until) });

const claimDocument = (claim: ClaimOutlook) => ({
  name: claim.name,
  node: claim.node ?? null,
  deadline: time(claim.deadline),
  leadTime: length(claim.leadTime),
  candidateFrom: time(claim.candidateFrom),
  eligible: claim.eligible,
  disqualifier: claim.disqualifier?.reason ?? null,
  rank: claim.rank ?? null,
  shortLead: claim.shortLead,
  backoffUntil: time(claim.backoffUntil),
});

function rotationDocument(rotation: PoolOutlook['rotation']) {
  if (rotation === undefined) return null;
  if (rotation.phase === 'malformed') {
    const { phase, claim, key, text } = rotation;
    return { phase, claim, startedAt: null, key, text };
  }
  const mirror: Mirror = rotation.phase === 'pending' ? {} : rotation;
  return {
    phase: rotation.phase,
    claim: rotation.claim,
    startedAt: formatInstant(rotation.startedAt),
    mode: rotation.mode,
    surgeClaim: rotation.surgeClaim ?? null,
    drainingAt: time(mirror.drainingAt),
    surgeWait: length(mirror.surgeWait),
    surgePath: mirror.surgePath ?? null,
    lastRefusal: rotation.lastRefusal ?? null,
  };
}

const surgeDocument = ({ claim, census, footprint, headroom }: Examination) => ({
  claim: claim.meta.name,
  pods: {
    counted: census.counted.length,
    daemonSet: census.daemonSet.length,
    mirror: census.mirror.length,
    completed: census.completed.length,
    pinned: census.pinned.length,
  },
  sum: amounts(footprint.sum),
  limit: amounts(footprint.limit),
  requests: amounts(footprint.requests),
  clamped: footprint.clamped,
  shortfall: amounts(footprint.shortfall),
  refused: footprint.refused,
  bandExceeded: footprint.bandExceeded,
  headroom: { fits: headroom.fits, remaining: amounts(headroom.remaining) },
});

const targetDocument = ({ kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>) => ({
  kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
});

function actionDocument(action: Action) {
  switch (action.kind) {
    case 'annotate':
      return { kind: action.kind, target: targetDocument(action.target), annotations: action.annotations };
    case 'protect':
    case 'unprotect': {
      const { kind, target, annotations, unschedulable } = action;
      return {
        kind,
        target: targetDocument(target),
        annotations,
        ...(unschedulable === undefined ? {} : { unschedulable }),
      };
    }
    case 'createPlaceholder': {
      const { namespace, name } = action.pod.metadata;
      return { kind: action.kind, target: targetDocument({ kind: 'Pod', namespace, name }) };
    }
    case 'deletePlaceholder':
      return { kind: action.kind, target: targetDocument(action.target) };
    case 'deleteNodeClaim':
      return { kind: action.kind, target: targetDocument(action.target), because: action.because };
    case 'writeStatus':
      return { kind: action.kind, target: targetDocument(action.target), status: action.status };
    case 'emitEvent': {
      const { regarding, type, reason, note } = action.event;
      return { kind: action.kind, target: targetDocument(regarding), type, reason, note };
    }
    default:
      return assertNever(action);
  }
}
