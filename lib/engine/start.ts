/**
 * The start of a rotation: the anchor first, then marks and cordon, the claim's copy, and the placeholder.
 */
import type { Node, NodeMetadata } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { deadlineOf, graceOf } from '../domain/cluster/node-claim.ts';
import type { Unreadable } from '../domain/cluster/object-ref.ts';
import { refOf } from '../domain/cluster/object-ref.ts';
import type { RotationPolicy } from '../domain/policy/rotation-policy.ts';
import { claimKeys } from '../domain/rotation/annotation-keys.ts';
import type { AnchoredRotation } from '../domain/rotation/rotation.ts';
import { writeRotation } from '../domain/rotation/rotation.ts';
import type { StepFacts } from '../domain/rotation/unrecorded.ts';
import { dueness, rotationBound } from '../domain/schedule/lead-time.ts';
import { windowPeriods } from '../domain/schedule/window.ts';
import type { DrainBlocker } from '../domain/surge/drain-blockers.ts';
import { drainBlockers, unreadableBudgets } from '../domain/surge/drain-blockers.ts';
import type { Footprint } from '../domain/surge/footprint.ts';
import { footprint } from '../domain/surge/footprint.ts';
import type { Headroom } from '../domain/surge/headroom.ts';
import { headroom } from '../domain/surge/headroom.ts';
import type { Placeholder } from '../domain/surge/placeholder.ts';
import { placeholderPod } from '../domain/surge/placeholder.ts';
import type { Census } from '../domain/surge/reschedulable.ts';
import { census } from '../domain/surge/reschedulable.ts';
import { formatDuration, formatInstant, wholeSecond } from '../domain/time.ts';
import type { Assessment } from './candidates.ts';
import type { Action, Blocked, Decision, Need, Notice } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { nodeOf, wholeNode } from './pool-view.ts';
import { protect } from './protect.ts';
import { entryOf } from './rollback.ts';
import { unreadableAround } from './unreadable.ts';
import { annotateClaim, annotatePool, appendStep, event, maybe, need } from './writes.ts';

/** What was found about a candidate when its turn came. */
export interface Examination {
  readonly claim: NodeClaim;
  readonly node: Node;
  readonly census: Census;
  readonly footprint: Footprint;
  readonly headroom: Headroom;
  readonly blockers: readonly DrainBlocker[];
  /** Parts of PDBs beside the candidate's Pods that could not be read; each path names its PDB. */
  readonly oddBudgets: readonly Unreadable[];
  readonly placeholder: Placeholder;
}

/** Looks at one candidate closely: its Node, its Pods, the PDBs. A "no" is a reason, not an error. @design D6-06 */
export function examine(
  view: PoolView,
  policy: RotationPolicy,
  { claim, dueness: due }: Assessment,
): Examination | Blocked | { readonly need: Need } {
  const { snapshot } = view;
  const name = nodeOf(snapshot, claim)?.meta.name ?? '';
  const node = wholeNode(snapshot, name);
  const pods = snapshot.inspected.podsOnNode.get(name);
  const budgets = snapshot.inspected.disruptionBudgets;
  if (node === 'unseen' || pods === undefined || budgets === undefined) {
    return need({ nodes: [name], podsOnNodes: [name], disruptionBudgets: true });
  }
  if (node === 'gone' || node.meta.deleting) return { reason: 'NoNode', message: `node ${name} is gone or going` };
  if (!node.ready) return { reason: 'NotReady', message: `node ${name} is not Ready` };
  const examination = weigh(view, policy, claim, node);
  if (!examination.headroom.fits) {
    return {
      reason: 'InsufficientHeadroom',
      message: `spec.limits of NodePool ${view.pool.meta.name} leave too little ${examination.headroom.lacking.join(', ')} for the replacement of ${claim.meta.name}. Raise the limits.`,
    };
  }
  if (policy.surge.deferBlockedDrains && examination.blockers.length > 0 && (due?.laterChances ?? 0) > 0) {
    return { reason: 'DrainBlocked', message: examination.blockers.map((blocker) => blocker.message).join(' ') };
  }
  return examination;
}

/** The sizes of a candidate, from Pods that have been looked at. */
export function weigh(view: PoolView, policy: RotationPolicy, claim: NodeClaim, node: Node): Examination {
  const { snapshot } = view;
  const pods = snapshot.inspected.podsOnNode.get(node.meta.name) ?? [];
  const budgets = snapshot.inspected.disruptionBudgets ?? [];
  const counted = census(pods, node);
  const size = footprint({ census: counted, claim, node, wholeNode: policy.surge.wholeNodeReservation });
  return {
    claim,
    node,
    census: counted,
    footprint: size,
    headroom: headroom(view.pool, size.requests, claim),
    blockers: drainBlockers(pods, budgets, graceOf(claim), view.at),
    oddBudgets: unreadableBudgets(pods, budgets),
    placeholder: placeholderPod({
      claim,
      node,
      pool: view.pool,
      policy,
      requests: size.requests,
      avoid: nearDeadline(view, policy, claim),
      settings: snapshot.settings,
    }),
  };
}

/** Nodes of the pool's other claims that are past their own trigger: poor hosts, made anew at every creation. @design R3.3-07, D8-07 */
function nearDeadline(view: PoolView, policy: RotationPolicy, candidate: NodeClaim): readonly NodeMetadata[] {
  const periods = windowPeriods(policy.windows, view.at);
  return view.claims
    .filter((claim) => claim.meta.name !== candidate.meta.name && dueness(claim, policy, periods, view.at)?.due)
    .flatMap((claim) => nodeOf(view.snapshot, claim) ?? []);
}

/**
 * The list of a start, all in one tick.
 *
 * @param reason who asked for it and why, where it did not come due by itself
 * @design D7-01, R3.3-01, R3.4-07
 */
export function start(view: PoolView, examination: Examination, reason?: string): Decision {
  const { claim, node, placeholder } = examination;
  const rotation: AnchoredRotation = {
    phase: 'pending',
    claim: claim.meta.name,
    claimUid: claim.meta.uid,
    startedAt: wholeSecond(view.at),
    mode: 'surge',
  };
  const entry = entryOf(view, rotation, 'started', startFacts(claim, reason));
  const outbox = appendStep(view.pool.meta, entry);
  const actions: readonly Action[] = [
    annotatePool(view, { ...writeRotation(rotation), ...outbox.annotations }),
    event(
      'Normal',
      'RotationStarted',
      startNote(claim),
      refOf('NodePool', view.pool.meta),
      refOf('NodeClaim', claim.meta),
    ),
    ...maybe(protect(node, claim.meta.name, node)),
    annotateClaim(claim, {
      [claimKeys.state]: 'pending',
      [claimKeys.startedAt]: formatInstant(rotation.startedAt),
      [claimKeys.surgeClaim]: null,
      [claimKeys.mode]: null,
    }),
    { kind: 'createPlaceholder', pod: placeholder.pod, whenRefused: 'stop' },
  ];
  return {
    nodePool: view.pool.meta.name,
    step: 'start',
    actions,
    notices: [...startNotices(examination), ...unreadableAround(examination), ...outbox.notices],
    transition: entry,
    grounds: {
      windowOpen: view.occurrence !== undefined,
      frozen: view.freeze.frozen,
      staticPool: view.pool.replicas !== undefined,
    },
  };
}

/** Whether the graceful way can no longer end in time and the operator has chosen the forceful one. @design R3.6-01, R3.6-03 */
export function fallbackApplies(view: PoolView, policy: RotationPolicy, claim: NodeClaim): boolean {
  const deadline = deadlineOf(claim);
  if (!policy.surge.forcefulFallback || typeof deadline !== 'number') return false;
  return deadline - view.at < rotationBound(policy.surge, graceOf(claim));
}

/** The list of a forceful fallback: no placeholder, no cordon of ours, no readyTimeout. @design D7-01, R3.6-05, R3.6-06 */
export function startFallback(view: PoolView, policy: RotationPolicy, claim: NodeClaim, reason?: string): Decision {
  const startedAt = wholeSecond(view.at);
  const rotation: AnchoredRotation = {
    phase: 'draining',
    claim: claim.meta.name,
    claimUid: claim.meta.uid,
    startedAt,
    drainingAt: startedAt,
    mode: 'forceful-fallback',
  };
  const entry = entryOf(view, rotation, 'fallbackStarted', startFacts(claim, reason));
  const outbox = appendStep(view.pool.meta, entry);
  const bound = formatDuration(rotationBound(policy.surge, graceOf(claim)));
  const note = `NodeClaim ${claim.meta.name} has less than ${bound} left, too little for a surge, so it is drained inside the window without one.`;
  return {
    nodePool: view.pool.meta.name,
    step: 'startFallback',
    actions: [
      annotatePool(view, { ...writeRotation(rotation), ...outbox.annotations }),
      event('Warning', 'ForcefulFallback', note, refOf('NodePool', view.pool.meta), refOf('NodeClaim', claim.meta)),
      annotateClaim(claim, {
        [claimKeys.state]: 'draining',
        [claimKeys.startedAt]: formatInstant(startedAt),
        [claimKeys.mode]: 'forceful-fallback',
        [claimKeys.surgeClaim]: null,
      }),
      { kind: 'deleteNodeClaim', target: refOf('NodeClaim', claim.meta), because: 'fallback', whenRefused: 'stop' },
    ],
    notices: outbox.notices,
    transition: entry,
    grounds: {
      windowOpen: view.occurrence !== undefined,
      frozen: view.freeze.frozen,
      staticPool: view.pool.replicas !== undefined,
      fallback: true,
    },
  };
}

/** What the row of a start tells; it can be told again from the claim alone. */
export function startFacts(claim: NodeClaim, reason?: string): StepFacts {
  const deadline = deadlineOf(claim);
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(claim.nodeName ? { node: claim.nodeName } : {}),
    ...(typeof deadline === 'number' ? { deadline } : {}),
    ...(claim.lifetime.readable && claim.lifetime.expireAfter !== 'Never'
      ? { expireAfter: claim.lifetime.expireAfter }
      : {}),
  };
}

function startNote(claim: NodeClaim): string {
  const deadline = deadlineOf(claim);
  const when =
    typeof deadline === 'number' ? `before its deadline ${formatInstant(deadline)}` : 'past its age threshold';
  return `Rotating NodeClaim ${claim.meta.name} on node ${claim.nodeName ?? '(none)'}, ${when}.`;
}

/** What an operator should know about this start. @design R3.3-14, R3.3-15, D8-05, D8-08, D6-06 */
function startNotices({
  claim,
  footprint: size,
  headroom: room,
  blockers,
  placeholder,
}: Examination): readonly Notice[] {
  const notices: Notice[] = [];
  const warn = (code: string, message: string): void => void notices.push({ code, severity: 'warn', message });
  const name = claim.meta.name;
  if (size.refused) {
    warn(
      'SurgeClampRefused',
      `DaemonSets on the node of ${name} leave no ${size.refused} by its NodeClaim's allocatable, so the placeholder keeps the full drain.`,
    );
  } else if (size.bandExceeded.length > 0) {
    warn(
      'SurgeClampBandExceeded',
      `The placeholder of ${name} is smaller than its drain by more than was measured on its node: ${size.bandExceeded.join(', ')}.`,
    );
  } else if (size.clamped) {
    notices.push({
      code: 'SurgeClamped',
      severity: 'info',
      message: `The placeholder of ${name} was clamped to what its NodeClaim's allocatable leaves.`,
    });
  }
  if (room.tight)
    warn(
      'HeadroomTight',
      `spec.limits have room for the Pods of ${name} but not for a whole instance like its own; Karpenter may not provision. Raise the limits.`,
    );
  for (const { key, value, allowed, zonal } of placeholder.dropped) {
    const volumes = zonal ? ' Volumes bound to that zone will not follow.' : '';
    warn(
      'RequirementDropped',
      `The NodePool no longer allows ${key}=${value} (it allows ${allowed.join(', ') || 'nothing'}), so the replacement of ${name} is not held to it.${volumes}`,
    );
  }
  if (blockers.length > 0) warn('DrainBlocked', blockers.map((blocker) => blocker.message).join(' '));
  return notices;
}
