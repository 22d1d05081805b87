/**
 * How a NodeClaim ends: expiry as a plain delete, then the drain, then the instance, then the finalizers.
 *
 * The drain goes through the eviction API in tiers. A Pod whose own grace reaches into the claim's termination time is
 * deleted past every budget; a Pod with do-not-disrupt is waited for and not evicted.
 */
import type { Instant } from '../domain/time.ts';
import { add, between, minutes, second, seconds } from '../domain/time.ts';
import { evict } from './disruption-budgets.ts';
import type { ClaimObject, NodeObject, PodObject } from './kube-object.ts';
import {
  annotationOf,
  conditionOf,
  conditionSince,
  createdAt,
  isDeleting,
  isTrue,
  readDuration,
  readStamp,
  stamp,
  withCondition,
} from './kube-object.ts';
import { disruptedTaint, hasTaint, nodeOf, poolOf, terminationFinalizer, terminationTimestamp } from './node-claims.ts';
import { isInstanceGone } from './node-health.ts';
import { isDaemon, isTerminal, mayNotBeDisrupted, needsOf, refusedTaints } from './pod-needs.ts';
import { drawnSeconds } from './random.ts';
import type { Model, WorldState } from './world-state.ts';
import { nextBeat, nextOf } from './world-state.ts';

const evictionSeconds = 5;
const shortestDrain = seconds(5);

/** Deletes what is older than its expireAfter: no budget, no window, no do-not-disrupt is asked. */
export const expiration: Model = {
  reads: ['NodeClaim'],
  run(world) {
    const moments = world.store.all<ClaimObject>('NodeClaim').map((claim) => {
      const expireAfter = readDuration(claim.spec.expireAfter);
      if (isDeleting(claim) || expireAfter === undefined) return undefined;
      const deadline = add(createdAt(claim), expireAfter);
      if (deadline > world.now) return deadline;
      world.forcefulExpirations.push({ nodeClaim: claim.metadata.name, nodePool: poolOf(claim), at: world.now });
      world.store.terminate(claim);
      return undefined;
    });
    return nextOf(world.now, moments);
  },
};

export const termination: Model = {
  reads: ['NodeClaim', 'Node', 'Pod', 'PodDisruptionBudget', 'ReplicaSet', 'StatefulSet', 'cloud'],
  run(world) {
    // Deleting the Node ends in the same flow.
    for (const claim of world.store.all<ClaimObject>('NodeClaim')) {
      const node = nodeOf(world.store, claim);
      if (node && isDeleting(node) && !isDeleting(claim)) world.store.terminate(claim);
    }
    const deleting = world.store.all<ClaimObject>('NodeClaim').filter(isDeleting);
    return nextOf(
      world.now,
      deleting.map((claim) => endClaim(world, claim)),
    );
  },
};

function endClaim(world: WorldState, claim: ClaimObject): Instant | undefined {
  const { store, now } = world;
  const grace = readDuration(claim.spec.terminationGracePeriod);
  if (grace !== undefined && annotationOf(claim, terminationTimestamp) === undefined) {
    const since = readStamp(claim.metadata.deletionTimestamp) ?? now;
    const annotations = { ...claim.metadata.annotations, [terminationTimestamp]: stamp(add(since, grace)) };
    store.update(claim, { metadata: { annotations } });
    return now;
  }
  const node = nodeOf(store, claim);
  if (!node) {
    release(world, claim);
    return undefined;
  }
  // Nothing is left to drain from a machine that is gone; what is still Ready only has not been noticed yet.
  if (isInstanceGone(world, claim.status.providerID) && !isTrue(node, 'Ready')) return dropNode(world, claim, node);
  if (!isDeleting(node)) {
    store.terminate(node);
    return now;
  }
  if (conditionOf(claim, 'Drained') === undefined) {
    beginDrain(world, claim, node);
    return now;
  }
  return isTrue(claim, 'Drained') ? stopInstance(world, claim, node) : drain(world, claim, node);
}

/** The taint may be there already: Karpenter's own choice of the node puts it first. */
function beginDrain({ store, now }: WorldState, claim: ClaimObject, node: NodeObject): void {
  const taints = node.spec.taints ?? [];
  store.update(node, {
    metadata: {
      labels: { ...node.metadata.labels, 'node.kubernetes.io/exclude-from-external-load-balancers': 'karpenter' },
    },
    spec: { taints: hasTaint(node, disruptedTaint.key) ? taints : [...taints, disruptedTaint] },
  });
  const conditions = withCondition(claim.status.conditions, now, 'Drained', 'Unknown', 'Draining');
  store.update(claim, { status: { conditions } });
}

const isCritical = (pod: PodObject): boolean =>
  ['system-cluster-critical', 'system-node-critical'].includes(pod.spec.priorityClassName ?? '');

/** Noncritical before critical, daemons last within each. */
const tierOf = (pod: PodObject): number => (isCritical(pod) ? 2 : 0) + (isDaemon(pod) ? 1 : 0);

function drain(world: WorldState, claim: ClaimObject, node: NodeObject): Instant | undefined {
  const { store, now } = world;
  const ends = readStamp(annotationOf(claim, terminationTimestamp));
  const waitedFor = store
    .podsOn(node.metadata.name)
    .filter(
      (pod) => !isTerminal(pod) && !isStuck(world, pod) && refusedTaints(needsOf(pod), [disruptedTaint]).length > 0,
    );
  const forcedAt = waitedFor.map((pod) => forceAt(pod, ends));
  for (const [index, pod] of waitedFor.entries()) {
    const due = forcedAt[index];
    if (due !== undefined && due < now) force(world, pod, ends as Instant);
  }
  const lowest = Math.min(...waitedFor.map(tierOf));
  const onBeat = now % (evictionSeconds * second) === 0 || conditionSince(claim, 'Drained') === now;
  if (onBeat) {
    for (const pod of waitedFor) {
      if (tierOf(pod) === lowest && !isDeleting(pod) && !mayNotBeDisrupted(pod, now)) evict(world, pod);
    }
  }
  const earliestEnd = add(conditionSince(claim, 'Drained') ?? now, shortestDrain);
  if (waitedFor.length === 0 && earliestEnd <= now) {
    store.update(claim, {
      status: { conditions: withCondition(claim.status.conditions, now, 'Drained', 'True', 'Drained') },
    });
    return now;
  }
  return nextOf(now, [nextBeat(now, evictionSeconds), earliestEnd, ...forcedAt.map((at) => at && add(at, seconds(1)))]);
}

/** A Pod that is still there a minute after its grace has a kubelet that no longer answers; the drain stops waiting for it. */
function isStuck({ now }: WorldState, pod: PodObject): boolean {
  const ends = readStamp(pod.metadata.deletionTimestamp);
  return ends !== undefined && add(ends, minutes(1)) <= now;
}

/** After this instant the Pod's own grace no longer fits before the claim's termination time. */
function forceAt(pod: PodObject, ends: Instant | undefined): Instant | undefined {
  if (ends === undefined) return undefined;
  return add(ends, seconds(-(pod.spec.terminationGracePeriodSeconds ?? 30)));
}

function force(world: WorldState, pod: PodObject, ends: Instant): void {
  const left = Math.max(1, Math.floor(between(world.now, ends) / second));
  if (!isDeleting(pod) || (pod.metadata.deletionGracePeriodSeconds ?? 0) > left) world.store.terminate(pod, left);
}

function stopInstance(world: WorldState, claim: ClaimObject, node: NodeObject): Instant | undefined {
  const { now, delays } = world;
  const due = add(
    conditionSince(claim, 'Drained') ?? now,
    seconds(drawnSeconds(delays.instanceStop, claim.metadata.uid)),
  );
  if (due > now) return due;
  return dropNode(world, claim, node);
}

function dropNode(world: WorldState, claim: ClaimObject, node: NodeObject): undefined {
  const { store } = world;
  for (const pod of store.podsOn(node.metadata.name)) store.remove(pod);
  const leaving = isDeleting(node) ? node : store.terminate(node);
  if (leaving) store.update(leaving, { metadata: { finalizers: withoutOurs(node) } });
  release(world, claim);
}

const withoutOurs = (object: ClaimObject | NodeObject): readonly string[] =>
  (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== terminationFinalizer);

function release(world: WorldState, claim: ClaimObject): void {
  world.store.update(claim, { metadata: { finalizers: withoutOurs(claim) } });
}
