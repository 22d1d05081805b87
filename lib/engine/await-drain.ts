/**
 * A rotation whose old claim is to be deleted, is being deleted, or is gone.
 *
 * A claim that is not being deleted means that the delete never landed: the world may have changed since, so the tick
 * looks before it acts again.
 */
import type { Node } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { refOf } from '../domain/cluster/object-ref.ts';
import { requestsOf } from '../domain/cluster/pod.ts';
import { fits, plus } from '../domain/cluster/resource-list.ts';
import type { RotationPolicy } from '../domain/policy/rotation-policy.ts';
import type { AnchoredRotation } from '../domain/rotation/rotation.ts';
import { writeRotation } from '../domain/rotation/rotation.ts';
import { poolFindings } from '../domain/schedule/feasibility.ts';
import { drainBlockers } from '../domain/surge/drain-blockers.ts';
import { add, between, formatDuration, wholeSecond } from '../domain/time.ts';
import type { Action, Decision, Need, Notice } from './decision.ts';
import { finish } from './finish.ts';
import { firstClosed, holdsFallback, judgeGates } from './gates.ts';
import { handOverNeeds, markDraining } from './hand-over.ts';
import type { PoolView } from './pool-view.ts';
import { claimOnNode, findClaim, governanceLost, nodeOf, placeholderOf, wholeNode } from './pool-view.ts';
import { isOptedOut, protect } from './protect.ts';
import { abort, markPending } from './rollback.ts';
import { weigh } from './start.ts';
import { drainBound, surgePathOf, unfit } from './surge-host.ts';
import { annotatePool, deletePlaceholder, maybe, need } from './writes.ts';

type Draining = AnchoredRotation & { readonly phase: 'draining' };
type Verdict = Decision | { readonly need: Need };

/** @design D7-05, R3.1-09, R3.8-02 */
export function awaitDrain(view: PoolView, rotation: Draining): Verdict {
  const old = findClaim(view, rotation.claim, rotation.claimUid);
  if (!old) return finish(view, rotation);
  if (old.meta.deleting) return wait(view, rotation, old);
  return rotation.mode === 'forceful-fallback'
    ? repeatFallback(view, rotation, old)
    : deleteNeverLanded(view, rotation, old);
}

const grounds = (view: PoolView): Decision['grounds'] => ({
  windowOpen: view.occurrence !== undefined,
  frozen: view.freeze.frozen,
  staticPool: false,
});

/** Karpenter is draining: the host stays protected and nothing else is done. */
function wait(view: PoolView, rotation: Draining, old: NodeClaim): Verdict {
  const placeholder = placeholderOf(view.snapshot, rotation.claim);
  const hostName = hostNameOf(view, rotation);
  const host = view.snapshot.nodes.find((node) => node.meta.name === hostName);
  const stuck = stuckSince(view, old);
  const notices: Notice[] = [];
  if (stuck !== undefined) {
    const name = old.nodeName;
    const pods = name === undefined ? [] : view.snapshot.inspected.podsOnNode.get(name);
    const budgets = view.snapshot.inspected.disruptionBudgets;
    if (pods === undefined || budgets === undefined)
      return need({ podsOnNodes: name === undefined ? [] : [name], disruptionBudgets: true });
    const blockers = drainBlockers(
      pods,
      budgets,
      old.lifetime.readable ? old.lifetime.terminationGracePeriod : undefined,
      view.at,
    );
    const left = pods
      .filter((pod) => pod.controllerKind !== 'DaemonSet' && pod.controllerKind !== 'Node')
      .map((pod) => `${pod.meta.namespace}/${pod.meta.name}`);
    notices.push({
      code: 'DrainStuck',
      severity: 'warn',
      message:
        `The drain of ${old.meta.name} has taken ${formatDuration(stuck)}, longer than its grace allows. ` +
        [
          ...blockers.map((blocker) => blocker.message),
          ...(left.length > 0 ? [`Pods left: ${left.slice(0, 10).join(', ')}.`] : []),
          `Finalizers: ${old.meta.finalizers.join(', ') || 'none'}.`,
        ].join(' '),
    });
  }
  return {
    nodePool: view.pool.meta.name,
    step: 'awaitDrain',
    actions: [
      ...maybe(placeholder && !placeholder.meta.deleting ? deletePlaceholder(placeholder) : undefined),
      ...maybe(
        host && host.meta.name !== old.nodeName && !host.meta.deleting
          ? withRefusalsPassed(protect(host, rotation.claim))
          : undefined,
      ),
    ],
    blocked: { reason: 'Draining', message: `Karpenter drains node ${old.nodeName ?? '(none)'} of ${old.meta.name}` },
    notices,
    grounds: grounds(view),
  };
}

const withRefusalsPassed = (action: Action | undefined): Action | undefined =>
  action && { ...action, whenRefused: 'goOn' };

/** How long the claim has been deleting, once that is longer than its drain should take. */
function stuckSince(view: PoolView, old: NodeClaim): ReturnType<typeof between> | undefined {
  const since = old.meta.deletionTimestamp;
  if (since === undefined || view.at <= add(since, drainBound(old))) return undefined;
  return between(since, view.at);
}

/** The node under the placeholder, else the one of the persisted surge claim. */
function hostNameOf(view: PoolView, rotation: Draining): string | undefined {
  return (
    placeholderOf(view.snapshot, rotation.claim)?.nodeName ??
    view.claims.find((claim) => claim.meta.name === rotation.surgeClaim)?.nodeName
  );
}

function deleteNeverLanded(view: PoolView, rotation: Draining, old: NodeClaim): Verdict {
  const candidate = nodeOf(view.snapshot, old);
  const { policy } = view;
  if (governanceLost(view) !== undefined || !policy) return leaveDraining(view, rotation, old);
  const held =
    view.freeze.frozen || old.disruptionReason !== undefined || (candidate !== undefined && isOptedOut(candidate));
  const hostName = hostNameOf(view, rotation);
  if (held || hostName === undefined || old.nodeName === undefined) return leaveDraining(view, rotation, old);
  const names = [hostName, old.nodeName].filter((name) => wholeNode(view.snapshot, name) === 'unseen');
  if (names.length > 0) return need({ nodes: names });
  const host = wholeNode(view.snapshot, hostName) as Node | 'gone';
  if (
    host === 'gone' ||
    !host.ready ||
    unfit(view, old, host, hostName) !== undefined ||
    protect(host, rotation.claim)
  ) {
    return leaveDraining(view, rotation, old);
  }
  const room = roomLeft(view, policy, rotation, old, host);
  if (typeof room === 'object') return room;
  if (!room) return leaveDraining(view, rotation, old);
  const dryRun = view.snapshot.inspected.dryRuns.get(old.meta.name);
  if (dryRun === undefined) return need({ dryRunDeletes: [refOf('NodeClaim', old.meta)] });
  if (dryRun.outcome === 'refused') return leaveDraining(view, rotation, old);
  return repeatDelete(view, rotation, old, hostName);
}

/** The placeholder still holds the room, or the drain fits beside the Pods that are on the host now. */
function roomLeft(
  view: PoolView,
  policy: RotationPolicy,
  rotation: Draining,
  old: NodeClaim,
  host: Node,
): boolean | { readonly need: Need } {
  const placeholder = placeholderOf(view.snapshot, rotation.claim);
  if (
    placeholder &&
    !placeholder.meta.deleting &&
    placeholder.phase === 'Running' &&
    placeholder.nodeName === host.meta.name
  )
    return true;
  const wanted = [host.meta.name, old.nodeName as string].filter(
    (name) => !view.snapshot.inspected.podsOnNode.has(name),
  );
  if (wanted.length > 0) return need({ podsOnNodes: wanted });
  const node = wholeNode(view.snapshot, old.nodeName as string);
  if (node === 'gone' || node === 'unseen') return false;
  const { footprint } = weigh(view, policy, old, node);
  const present = (view.snapshot.inspected.podsOnNode.get(host.meta.name) ?? []).filter(
    (pod) => pod.phase !== 'Succeeded' && pod.phase !== 'Failed' && pod.meta.name !== placeholder?.meta.name,
  );
  const total = present.map(requestsOf).reduce((a, b) => plus(a, b), footprint.requests);
  return fits(total, host.allocatable);
}

function repeatDelete(view: PoolView, rotation: Draining, old: NodeClaim, hostName: string): Decision {
  const placeholder = placeholderOf(view.snapshot, rotation.claim);
  const candidateNode = nodeOf(view.snapshot, old);
  const host = claimOnNode(view.snapshot, hostName);
  // The placeholder that says where the host is goes with this list; what it said must stay.
  const surgeClaim = host?.meta.name ?? rotation.surgeClaim;
  const known = surgeClaim === rotation.surgeClaim ? rotation.surgePath : undefined;
  const surgePath = known ?? surgePathOf(view, rotation, hostName);
  const facts = { ...(surgeClaim ? { surgeClaim } : {}), ...(surgePath ? { surgePath } : {}) };
  const renewed = { ...rotation, drainingAt: wholeSecond(view.at), ...facts };
  return {
    nodePool: view.pool.meta.name,
    step: 'repeatDelete',
    actions: [
      ...maybe(markDraining(old, renewed)),
      annotatePool(view, writeRotation(renewed)),
      ...maybe(placeholder ? deletePlaceholder(placeholder, { whenRefused: 'stop' }) : undefined),
      { kind: 'deleteNodeClaim', target: refOf('NodeClaim', old.meta), because: 'drain', whenRefused: 'stop' },
    ],
    notices: [],
    needs: handOverNeeds,
    grounds: { ...grounds(view), surgeReady: true },
    ...(candidateNode ? { rereadNode: refOf('Node', candidateNode.meta), nodeAsSeen: candidateNode.meta } : {}),
  };
}

/** Back to pending with the same start: it holds, aborts, hands over again or rolls back from there. */
function leaveDraining(view: PoolView, rotation: Draining, old: NodeClaim): Decision {
  const { phase: _phase, drainingAt: _at, surgeWait: _wait, surgePath: _path, ...attempt } = rotation;
  return {
    nodePool: view.pool.meta.name,
    step: 'leaveDraining',
    actions: [
      ...maybe(markPending(old, rotation)),
      annotatePool(view, writeRotation({ ...attempt, phase: 'pending' })),
    ],
    blocked: {
      reason: 'DeleteNeverLanded',
      message: `the delete of ${old.meta.name} never landed and its surge is not what it was`,
    },
    notices: [],
    grounds: grounds(view),
  };
}

/** A fallback goes on only while its gates are open; else it is undone. @design D7-05 */
function repeatFallback(view: PoolView, rotation: Draining, old: NodeClaim): Verdict {
  const candidate = nodeOf(view.snapshot, old);
  const lost = governanceLost(view);
  if (lost !== undefined || !view.policy) return abort(view, rotation, old, `GovernanceLost: ${lost ?? 'no policy'}`);
  if (old.disruptionReason !== undefined)
    return abort(view, rotation, old, `Karpenter has chosen the node itself (${old.disruptionReason})`);
  if (candidate && isOptedOut(candidate))
    return abort(view, rotation, old, `an operator set karpenter.sh/do-not-disrupt on node ${candidate.meta.name}`);
  if (!view.policy.surge.forcefulFallback)
    return abort(view, rotation, old, "the fallback's delete never landed and forcefulFallback is no longer enabled");
  const findings = poolFindings(view.policy, view.pool, view.claims, view.at);
  const closed = firstClosed(
    judgeGates({ view, policy: view.policy, findings }).filter((verdict) => holdsFallback.has(verdict.gate)),
  );
  if (closed)
    return abort(view, rotation, old, `the fallback's delete never landed and now ${closed.reason}: ${closed.message}`);
  return {
    nodePool: view.pool.meta.name,
    step: 'repeatDelete',
    actions: [
      ...maybe(markDraining(old, rotation)),
      annotatePool(view, writeRotation({ ...rotation, drainingAt: wholeSecond(view.at) })),
      { kind: 'deleteNodeClaim', target: refOf('NodeClaim', old.meta), because: 'fallback', whenRefused: 'stop' },
    ],
    notices: [],
    grounds: { ...grounds(view), fallback: true },
  };
}
