/**
 * NodePools with `replicas`: Karpenter keeps that many nodes, whether or not any Pod needs them.
 *
 * A claim that is being deleted no longer counts, so its successor is launched at once. Scale-down asks no budget.
 */
import type { ClaimObject, PoolObject } from './kube-object.ts';
import { createdAt, isDeleting, isTrue } from './kube-object.ts';
import { livingClaims, nodeOf } from './node-claims.ts';
import { staticClaim } from './planning.ts';
import { isDaemon, isTerminal, mayNotBeDisrupted } from './pod-needs.ts';
import { createClaim } from './provisioner.ts';
import type { Model, WorldState } from './world-state.ts';
import { nextBeat } from './world-state.ts';

const retrySeconds = 10;

export const staticPools: Model = {
  reads: ['NodePool', 'NodeClaim', 'Node', 'Pod', 'cloud'],
  run(world) {
    const { store, now } = world;
    let waiting = false;
    for (const pool of store.all<PoolObject>('NodePool')) {
      const { replicas } = pool.spec;
      if (replicas === undefined || isDeleting(pool) || !isTrue(pool, 'Ready')) continue;
      const kept = livingClaims(store, pool.metadata.name).filter((claim) => !isTrue(claim, 'DisruptionReason'));
      for (let missing = replicas - kept.length; missing > 0; missing -= 1) {
        const claim = staticClaim(world, pool);
        if (!claim) {
          waiting = true;
          break;
        }
        createClaim(world, claim);
      }
      const surplus = kept.toSorted((a, b) => costOf(world, a) - costOf(world, b) || createdAt(b) - createdAt(a));
      for (const claim of surplus.slice(0, Math.max(0, kept.length - replicas))) store.terminate(claim);
    }
    return waiting ? nextBeat(now, retrySeconds) : undefined;
  },
};

/** Claims without a node go first, then nodes with daemons only, then those with the fewest Pods; do-not-disrupt last. */
function costOf({ store, now }: WorldState, claim: ClaimObject): number {
  const node = nodeOf(store, claim);
  if (!node) return -1;
  const pods = store.podsOn(node.metadata.name).filter((pod) => !isDaemon(pod) && !isTerminal(pod));
  return pods.length + (pods.some((pod) => mayNotBeDisrupted(pod, now)) ? 1_000 : 0);
}
