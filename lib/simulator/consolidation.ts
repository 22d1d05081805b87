/**
 * Karpenter's removal of empty nodes, its keeping of the pools' counters, and its notes of Pod events.
 *
 * Only emptiness is modelled among the voluntary methods: a fleet whose pools consolidate WhenEmpty sees no other.
 */

import { units } from '../domain/cluster/quantity.ts';
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { formatResourceList, sameAmounts, total } from '../domain/cluster/resource-list.ts';
import type { Instant } from '../domain/time.ts';
import { add, latest, second, seconds } from '../domain/time.ts';
import { amounts } from './instance-types.ts';
import type { ClaimObject, NodeObject, PodObject, PoolObject } from './kube-object.ts';
import {
  annotationOf,
  conditionOf,
  conditionSince,
  isDeleting,
  isTrue,
  readDuration,
  readStamp,
  stamp,
  withCondition,
} from './kube-object.ts';
import { disruptedTaint, doNotDisrupt, livingClaims, nodeOf, poolOf } from './node-claims.ts';
import { capacityOf } from './planning.ts';
import { isDaemon, isTerminal, mayNotBeDisrupted } from './pod-needs.ts';
import type { Model, WorldState } from './world-state.ts';
import { nextBeat, nextOf } from './world-state.ts';

const passSeconds = 10;
const commandTakes = seconds(2);
const noticedEvery = 10 * second;

export const emptiness: Model = {
  reads: ['NodeClaim', 'Node', 'Pod', 'NodePool'],
  run(world) {
    const { store, now } = world;
    const chosen = store
      .all<ClaimObject>('NodeClaim')
      .filter((claim) => !isDeleting(claim) && isTrue(claim, 'DisruptionReason'));
    const executions = chosen.map((claim) => {
      const due = add(conditionSince(claim, 'DisruptionReason') ?? now, commandTakes);
      if (due <= now) store.terminate(claim);
      return due;
    });
    const candidates = store.all<PoolObject>('NodePool').flatMap((pool) => emptyClaims(world, pool));
    const [next] = candidates.filter(({ ripe }) => ripe <= now);
    if (next && now % (passSeconds * second) === 0 && chosen.length === 0) choose(world, next.claim, next.node);
    const waiting = candidates.map(({ ripe }) => (ripe <= now ? nextBeat(now, passSeconds) : ripe));
    return nextOf(now, [...executions, ...waiting]);
  },
};

interface EmptyClaim {
  readonly claim: ClaimObject;
  readonly node: NodeObject;
  /** When consolidateAfter has passed. */
  readonly ripe: Instant;
}

function emptyClaims(world: WorldState, pool: PoolObject): readonly EmptyClaim[] {
  const after = readDuration(pool.spec.disruption?.consolidateAfter ?? '0s');
  if (after === undefined || pool.spec.replicas !== undefined || budgetLeft(world, pool) <= 0) return [];
  return livingClaims(world.store, pool.metadata.name).flatMap((claim) => {
    const node = nodeOf(world.store, claim);
    if (!node || !isEmptyCandidate(world, claim, node)) return [];
    const nominated =
      world.nominations.get(node.metadata.name) ?? world.nominations.get(claim.metadata.name) ?? world.now;
    const quietSince = readStamp(claim.status.lastPodEventTime) ?? conditionSince(claim, 'Initialized') ?? world.now;
    const ripe = add(quietSince, after);
    return [{ claim, node, ripe: latest(ripe, nominated) }];
  });
}

function isEmptyCandidate({ store, now }: WorldState, claim: ClaimObject, node: NodeObject): boolean {
  if (!isTrue(claim, 'Initialized') || isTrue(claim, 'DisruptionReason') || isDeleting(node)) return false;
  if (annotationOf(node, doNotDisrupt) === 'true') return false;
  const pods = store.podsOn(node.metadata.name).filter((pod) => !isTerminal(pod));
  if (pods.some((pod) => mayNotBeDisrupted(pod, now))) return false;
  const movable = pods.filter((pod) => !isDaemon(pod) && !isDeleting(pod));
  return movable.reduce((cost, pod) => cost + Math.max(0, evictionCost(pod)), 1) <= 1;
}

/** One for an ordinary Pod; nothing from a priority of −2²⁵ downwards. */
function evictionCost(pod: PodObject): number {
  const deletionCost = Number(annotationOf(pod, 'controller.kubernetes.io/pod-deletion-cost') ?? 0);
  const cost = 1 + deletionCost / 2 ** 27 + (pod.spec.priority ?? 0) / 2 ** 25;
  return Math.min(10, Math.max(-10, cost));
}

/** The strictest budget without a schedule, minus the nodes that are going or not ready; percentages round up. */
function budgetLeft({ store }: WorldState, pool: PoolObject): number {
  const claims = store
    .all<ClaimObject>('NodeClaim')
    .filter((claim) => poolOf(claim) === pool.metadata.name && isTrue(claim, 'Initialized'));
  const disrupting = claims.filter((claim) => {
    const node = nodeOf(store, claim);
    return isDeleting(claim) || isTrue(claim, 'DisruptionReason') || (node !== undefined && !isTrue(node, 'Ready'));
  });
  const budgets = (pool.spec.disruption?.budgets ?? [{ nodes: '10%' }]).filter(
    ({ schedule, reasons }) => schedule === undefined && (reasons?.includes('Empty') ?? true),
  );
  const allowed = budgets.map(({ nodes }) =>
    nodes.endsWith('%') ? Math.ceil((claims.length * Number(nodes.slice(0, -1))) / 100) : Number(nodes),
  );
  return Math.min(claims.length, ...allowed) - disrupting.length;
}

/** From here on nothing is asked again: a do-not-disrupt that comes later is too late. */
function choose({ store, now }: WorldState, claim: ClaimObject, node: NodeObject): void {
  store.update(node, { spec: { taints: [...(node.spec.taints ?? []), disruptedTaint] } });
  store.update(claim, {
    status: { conditions: withCondition(claim.status.conditions, now, 'DisruptionReason', 'True', 'Empty') },
  });
}

/** Rewrites status.resources every five seconds where it is wrong; nodes marked for deletion are left out. */
export const poolCounter: Model = {
  reads: ['NodePool', 'NodeClaim', 'cloud'],
  run(world) {
    const { store, now } = world;
    let next: Instant | undefined;
    for (const pool of store.all<PoolObject>('NodePool')) {
      if (!conditionOf(pool, 'Ready')) store.update(pool, { status: { conditions: readyPool(pool, now) } });
      const claims = livingClaims(store, pool.metadata.name).filter((claim) => claim.status.capacity !== undefined);
      const resources = total([none, ...claims.map((claim) => capacityOf(world, claim))]);
      if (pool.status?.resources && sameAmounts(amounts(pool.status.resources), resources)) continue;
      if (now % (5 * second) === 0 || !pool.status?.resources) {
        store.update(pool, { status: { resources: formatResourceList(resources), nodes: claims.length } });
      } else {
        next = nextBeat(now, 5);
      }
    }
    return next;
  },
};

const none: ResourceList = new Map(
  ['cpu', 'memory', 'pods', 'ephemeral-storage', 'nodes'].map((resource) => [resource, units(0)]),
);

const readyPool = (pool: PoolObject, now: Instant) =>
  ['ValidationSucceeded', 'NodeClassReady', 'Ready'].reduce(
    (conditions, type) => withCondition(conditions, now, type, 'True', type),
    pool.status?.conditions ?? [],
  );

/** Notes on the claim when a Pod came to its node or left it, at most every ten seconds. */
export function createPodEvents(noticed: Map<string, Instant>): Model {
  const run: Model['run'] = ({ store }) => {
    for (const [nodeName, at] of noticed) {
      noticed.delete(nodeName);
      const claim = store.all<ClaimObject>('NodeClaim').find((candidate) => candidate.status.nodeName === nodeName);
      const last = readStamp(claim?.status.lastPodEventTime);
      if (claim && (last === undefined || at - last >= noticedEvery))
        store.update(claim, { status: { lastPodEventTime: stamp(at) } });
    }
    return undefined;
  };
  return { reads: ['Pod', 'NodeClaim'], run };
}
