/**
 * A rotation that waits for its surge. Every tick puts back what is missing and then takes the first step that applies,
 * in the order of the numbered comments; that order is part of the protocol.
 */
import type { Node } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import type { Pod } from '../domain/cluster/pod.ts';
import { isCompleted, isPlaceholder } from '../domain/cluster/pod.ts';
import { toNumber } from '../domain/cluster/quantity.ts';
import type { RotationPolicy } from '../domain/policy/rotation-policy.ts';
import { anchorKeys, claimKeys, nodeKeys } from '../domain/rotation/annotation-keys.ts';
import type { AnchoredRotation } from '../domain/rotation/rotation.ts';
import { readClaimState } from '../domain/rotation/rotation.ts';
import { deadlineBuffer } from '../domain/schedule/lead-time.ts';
import { census } from '../domain/surge/reschedulable.ts';
import { add, formatDuration, formatInstant } from '../domain/time.ts';
import { awaitDrain } from './await-drain.ts';
import type { Action, Blocked, Decision, Need, Notice, Step } from './decision.ts';
import { handOver } from './hand-over.ts';
import type { PoolView } from './pool-view.ts';
import {
  claimOnNode,
  findClaim,
  governanceLost,
  nodeAnnotation,
  nodeOf,
  placeholderOf,
  wholeNode,
} from './pool-view.ts';
import { isOptedOut, protect, unprotect } from './protect.ts';
import { abort, expire, hasMirror, rollBack } from './rollback.ts';
import { weigh } from './start.ts';
import { surgeReady, unfit } from './surge-host.ts';
import { annotateClaim, annotatePool, deletePlaceholder, maybe, need } from './writes.ts';

type Verdict = Decision | { readonly need: Need };
type Waiting = AnchoredRotation & { readonly phase: 'pending' | 'failing' | 'aborting' };

/** One step of a pending rotation, or of an end that has begun. @design D7-02 */
export function awaitSurge(view: PoolView, rotation: Waiting): Verdict {
  const old = findClaim(view, rotation.claim, rotation.claimUid);
  // A delete that another tick had sent before the refusal landed after all: a drain is followed to its end.
  if (rotation.phase === 'failing' && drainHasBegun(rotation, old))
    return awaitDrain(view, { ...rotation, phase: 'draining' });
  // 1. Karpenter has already taken the old claim: nothing is left to do gracefully.
  if (!old || old.meta.deleting) return expire(view, rotation, old, expiryReason(view, old));
  // 2. An end that has begun is finished, governed or not.
  if (rotation.phase === 'failing')
    return rollBack(
      view,
      rotation,
      old,
      rotation.lastRefusal ? 'the API server refused a write' : 'an earlier tick began to roll it back',
    );
  if (rotation.phase === 'aborting') return abort(view, rotation, old, 'an earlier tick began to abort it');
  const lost = governanceLost(view);
  if (lost !== undefined || !view.policy) return abort(view, rotation, old, `GovernanceLost: ${lost ?? 'no policy'}`);
  // 3. Somebody else decided about the candidate.
  if (old.disruptionReason !== undefined)
    return abort(view, rotation, old, `Karpenter has chosen the node itself (${old.disruptionReason})`);
  const candidate = nodeOf(view.snapshot, old);
  if (candidate && isOptedOut(candidate))
    return abort(view, rotation, old, `an operator set karpenter.sh/do-not-disrupt on node ${candidate.meta.name}`);
  return waitOn(view, view.policy, { ...rotation, phase: 'pending' }, old);
}

/** The old claim is going or gone under a mark of ours that nobody has let go of. */
const drainHasBegun = (rotation: Waiting, old: NodeClaim | undefined): boolean =>
  hasMirror(rotation) && (!old || (old.meta.deleting && readClaimState(old.meta).state === 'draining'));

function waitOn(
  view: PoolView,
  policy: RotationPolicy,
  rotation: AnchoredRotation & { phase: 'pending' },
  old: NodeClaim,
): Verdict {
  const candidate = nodeOf(view.snapshot, old);
  const placeholder = placeholderOf(view.snapshot, rotation.claim);
  const hostName = placeholder?.nodeName;
  const names = [candidate?.meta.name, hostName].filter((name) => name !== undefined);
  const unseen = names.filter((name) => wholeNode(view.snapshot, name) === 'unseen');
  if (unseen.length > 0) return need({ nodes: unseen });

  const readyBy = add(rotation.startedAt, policy.surge.readyTimeout);
  const overdue = view.at > readyBy;
  const host = hostName === undefined ? undefined : (wholeNode(view.snapshot, hostName) as Node | 'gone');

  // 4. A placeholder on a node that must not be the surge host is moved, until the time is up.
  if (placeholder && hostName !== undefined && host !== undefined && !placeholder.meta.deleting && !overdue) {
    const fault = unfit(view, old, host, hostName);
    if (fault !== undefined) return leaveBadHost(view, rotation, old, placeholder, fault);
  }
  // 5. The host is protected and remembered as soon as it is seen.
  const upkeep = bookkeeping(view, rotation, old, host, placeholder);
  const unread = upkeep.newHost
    ? [upkeep.newHost.meta.name, old.nodeName ?? ''].filter(
        (name) => name !== '' && !view.snapshot.inspected.podsOnNode.has(name),
      )
    : [];
  if (unread.length > 0 && !overdue) return need({ podsOnNodes: unread });
  const ready = upkeep.hostUntouched && surgeReady(view, old, placeholder, host ?? 'gone');

  // 6. Time is up: readiness counts by when it happened, not by when a tick looks.
  if (overdue) {
    const since = placeholder?.ready?.status === true ? placeholder.ready.since : undefined;
    const inTime = since !== undefined && since <= readyBy;
    const mayStillGo = view.at <= add(readyBy, deadlineBuffer) || view.occurrence !== undefined;
    if (!view.freeze.frozen && ready && inTime && mayStillGo) return handOver(view, rotation, old, placeholder as Pod);
    return rollBack(view, rotation, old, whyTimedOut(view, policy, ready && inTime));
  }
  const waiting = (
    step: Step,
    actions: readonly Action[],
    blocked: Blocked,
    notices: readonly Notice[] = [],
  ): Decision => ({
    nodePool: view.pool.meta.name,
    step,
    actions: [...upkeep.actions, ...actions],
    blocked,
    notices: [...notices, ...(upkeep.newHost ? podSlots(view, old, upkeep.newHost) : [])],
    grounds: { windowOpen: view.occurrence !== undefined, frozen: view.freeze.frozen, staticPool: false },
  });
  // 7. A freeze holds; only bookkeeping goes on.
  if (view.freeze.frozen) {
    const until = view.freeze.until;
    return waiting('hold', [], {
      reason: 'Frozen',
      message: `the rotation of ${rotation.claim} is held${until === undefined ? '' : ` until ${formatInstant(until)}`}`,
      ...(until === undefined ? {} : { until }),
    });
  }
  // 8. A placeholder that ended is removed, one that is missing is made again with fresh exclusions.
  if (
    placeholder &&
    !placeholder.meta.deleting &&
    (placeholder.phase === 'Failed' || placeholder.phase === 'Succeeded')
  ) {
    return waiting('recreatePlaceholder', [deletePlaceholder(placeholder)], {
      reason: 'PlaceholderEnded',
      message: `placeholder ${placeholder.meta.name} is ${placeholder.phase} and is made again`,
    });
  }
  if (!placeholder) return recreate(view, policy, old, waiting);
  // 9. Ready: hand over. Otherwise say what is awaited.
  if (ready) return handOver(view, rotation, old, placeholder);
  return waiting('awaitSurge', [], ...whyNotReady(rotation, placeholder, host, upkeep.hostUntouched));
}

/** A surge that was ready in time and yet not handed over has not failed for want of capacity; the row must not say so. */
function whyTimedOut(view: PoolView, policy: RotationPolicy, wasReady: boolean): string {
  const limit = formatDuration(policy.surge.readyTimeout);
  if (!wasReady) return `the surge was not ready within ${limit}`;
  return view.freeze.frozen
    ? `a freeze held the rotation beyond readyTimeout (${limit})`
    : `the surge was ready in time, but no tick handed over within ${limit} and the window has closed`;
}

function recreate(
  view: PoolView,
  policy: RotationPolicy,
  old: NodeClaim,
  waiting: (step: Step, actions: readonly Action[], blocked: Blocked) => Decision,
): Verdict {
  const name = old.nodeName;
  const node = name === undefined ? 'gone' : wholeNode(view.snapshot, name);
  if (node === 'gone' || node === 'unseen' || name === undefined) {
    return waiting('awaitSurge', [], {
      reason: 'NoNode',
      message: `the node of ${old.meta.name} is gone, so no placeholder can be sized`,
    });
  }
  if (!view.snapshot.inspected.podsOnNode.has(name)) return need({ podsOnNodes: [name] });
  const { placeholder } = weigh(view, policy, old, node);
  return waiting('recreatePlaceholder', [{ kind: 'createPlaceholder', pod: placeholder.pod, whenRefused: 'stop' }], {
    reason: 'PlaceholderMissing',
    message: `placeholder ${placeholder.pod.metadata.name} is made`,
  });
}

function leaveBadHost(
  view: PoolView,
  rotation: AnchoredRotation,
  old: NodeClaim,
  placeholder: Pod,
  fault: string,
): Decision {
  const host = view.snapshot.nodes.find((node) => node.meta.name === placeholder.nodeName);
  const release = host && host.meta.name !== old.nodeName ? unprotect(host) : undefined;
  return {
    nodePool: view.pool.meta.name,
    step: 'leaveBadHost',
    actions: [deletePlaceholder(placeholder), ...maybe(release), ...candidateMarks(view, rotation, old)],
    blocked: { reason: 'BadHost', message: `the placeholder cannot stay where it landed: ${fault}` },
    notices: [],
    grounds: { windowOpen: view.occurrence !== undefined, frozen: view.freeze.frozen, staticPool: false },
  };
}

/** What each tick puts back, freeze or not. @design R3.1-07, R3.8-05, D7-01, D7-02 */
function bookkeeping(
  view: PoolView,
  rotation: AnchoredRotation,
  old: NodeClaim,
  host: Node | 'gone' | undefined,
  placeholder: Pod | undefined,
): { actions: readonly Action[]; hostUntouched: boolean; newHost: Node | undefined } {
  const hostNode = host === 'gone' ? undefined : host;
  const bound = placeholder && !placeholder.meta.deleting ? hostNode : undefined;
  const hostClaim = bound && claimOnNode(view.snapshot, bound.meta.name);
  const usable = bound && placeholder && unfit(view, old, bound, bound.meta.name) === undefined ? bound : undefined;
  const hostMarks = usable && protect(usable, rotation.claim);
  const changed = hostClaim && usable && hostClaim.meta.name !== rotation.surgeClaim ? hostClaim : undefined;
  const former = changed ? formerHosts(view, rotation, old, bound?.meta.name) : [];
  const actions: readonly Action[] = [
    ...former,
    ...maybe(hostMarks),
    ...maybe(changed && annotatePool(view, { [anchorKeys.surgeClaim]: changed.meta.name })),
    ...candidateMarks(view, rotation, old),
    ...maybe(claimCopy(rotation, old, changed?.meta.name ?? rotation.surgeClaim)),
  ];
  return {
    actions,
    hostUntouched: former.length === 0 && hostMarks === undefined,
    newHost: changed ? usable : undefined,
  };
}

/** A placeholder reserves amounts, not Pod slots: said when the host is first seen. @design D4-03 */
function podSlots(view: PoolView, old: NodeClaim, host: Node): readonly Notice[] {
  const { podsOnNode } = view.snapshot.inspected;
  const slots = host.allocatable.get('pods');
  const oldNode = old.nodeName === undefined ? 'gone' : wholeNode(view.snapshot, old.nodeName);
  if (slots === undefined || oldNode === 'gone' || oldNode === 'unseen') return [];
  const taken = (podsOnNode.get(host.meta.name) ?? []).filter((pod) => !isCompleted(pod) && !isPlaceholder(pod)).length;
  const moving = census(podsOnNode.get(oldNode.meta.name) ?? [], oldNode).counted.length;
  const free = Math.floor(toNumber(slots)) - taken;
  if (free >= moving) return [];
  const message = `Node ${host.meta.name} has ${free} free Pod slots for the ${moving} Pods of ${old.meta.name}; some will need another node.`;
  return [{ code: 'PodSlotsShort', severity: 'warn', message }];
}

/** Nodes marked for this rotation that are neither the candidate nor the present host. */
function formerHosts(
  view: PoolView,
  rotation: AnchoredRotation,
  old: NodeClaim,
  hostName: string | undefined,
): readonly Action[] {
  return view.snapshot.nodes
    .filter((node) => nodeAnnotation(node, nodeKeys.surgeFor) === rotation.claim)
    .filter((node) => node.meta.name !== old.nodeName && node.meta.name !== hostName)
    .flatMap((node) => unprotect(node) ?? []);
}

/** Marks and cordon of the candidate, put back from what is observed. @design R3.4-07, R3.4-08 */
function candidateMarks(view: PoolView, rotation: AnchoredRotation, old: NodeClaim): readonly Action[] {
  const whole = old.nodeName === undefined ? 'gone' : wholeNode(view.snapshot, old.nodeName);
  return whole === 'gone' || whole === 'unseen' ? [] : maybe(protect(whole, rotation.claim, whole, 'goOn'));
}

/** The claim's copy of the attempt and of the surge claim, where the last tick did not get to it. @design D5-02, D7-01 */
function claimCopy(rotation: AnchoredRotation, old: NodeClaim, surgeClaim: string | undefined): Action | undefined {
  const state = readClaimState(old.meta);
  const current = state.state === 'pending' && state.startedAt === rotation.startedAt;
  if (current && (surgeClaim === undefined || state.surgeClaim === surgeClaim)) return undefined;
  const annotations = { [claimKeys.state]: 'pending', [claimKeys.startedAt]: formatInstant(rotation.startedAt) };
  return annotateClaim(
    old,
    surgeClaim === undefined ? annotations : { ...annotations, [claimKeys.surgeClaim]: surgeClaim },
    'goOn',
  );
}

function expiryReason(view: PoolView, old: NodeClaim | undefined): string {
  if (!old) return 'the NodeClaim is gone';
  if (!old.lifetime.readable || old.lifetime.expireAfter === 'Never')
    return 'Karpenter or somebody else deleted the NodeClaim';
  const deadline = add(old.lifetime.created, old.lifetime.expireAfter);
  const deletedAt = old.meta.deletionTimestamp ?? view.at;
  return deletedAt >= deadline
    ? `its deadline ${formatInstant(deadline)} came while the surge was waiting`
    : 'Karpenter or somebody else deleted the NodeClaim before its deadline';
}

function whyNotReady(
  rotation: AnchoredRotation,
  placeholder: Pod,
  host: Node | 'gone' | undefined,
  hostUntouched: boolean,
): [Blocked, readonly Notice[]] {
  const wait = (message: string): [Blocked, readonly Notice[]] => [{ reason: 'AwaitingSurge', message }, []];
  if (placeholder.meta.deleting)
    return wait(`placeholder ${placeholder.meta.name} is terminating; it is made again when it is gone`);
  if (placeholder.nodeName === undefined) {
    const words = placeholder.unschedulable?.message;
    if (words === undefined) return wait(`placeholder ${placeholder.meta.name} waits for the scheduler`);
    const message = `no node takes the placeholder of ${rotation.claim} yet: ${words}`;
    return [{ reason: 'SurgeUnschedulable', message }, [{ code: 'SurgeUnschedulable', severity: 'warn', message }]];
  }
  if (host === 'gone' || host === undefined || !host.ready)
    return wait(`node ${placeholder.nodeName} is not Ready yet`);
  if (!hostUntouched) return wait(`node ${placeholder.nodeName} is being protected`);
  return wait(`placeholder ${placeholder.meta.name} is ${placeholder.phase} on ${placeholder.nodeName}`);
}
