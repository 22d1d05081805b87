/**
 * What a cluster must not carry once two good ticks have passed: marks, placeholders and states with nothing behind them.
 */
import type { SeenCluster } from './seen-cluster.ts';
import { anchorOf, governance, isCopyReadable, isGoing, isPlaceholder, key, note } from './seen-cluster.ts';

/** R3.9-02, D6-03: one line for each thing of ours that no rotation is behind. */
export function debrisOf(seen: SeenCluster): readonly string[] {
  const live = seen.pools.flatMap((pool) => anchorOf(pool)?.claim ?? []);
  const ours = ['surge-for', 'do-not-disrupt-owned', 'cordoned'].map(key);
  return [
    ...seen.nodes.flatMap((node) => {
      const marks = ours.filter((annotation) => note(node, annotation) !== undefined);
      const markedFor =
        note(node, key('surge-for')) ??
        seen.claims.find((claim) => claim.status.nodeName === node.metadata.name)?.metadata.name;
      const behind = markedFor !== undefined && live.includes(markedFor);
      return marks.length > 0 && !behind ? [`Node ${node.metadata.name} has ${marks.join(', ')} for ${markedFor}`] : [];
    }),
    ...seen.pods
      .filter((pod) => isPlaceholder(pod) && !isGoing(pod) && !live.some((claim) => isPlaceholder(pod, claim)))
      .map((pod) => `placeholder ${pod.metadata.name} is there`),
    ...seen.claims.flatMap((claim) => {
      const state = note(claim, key('state'));
      const inFlight = (state === 'pending' || state === 'draining') && isCopyReadable(claim) && !isGoing(claim);
      return inFlight && !live.includes(claim.metadata.name) ? [`NodeClaim ${claim.metadata.name} is ${state}`] : [];
    }),
    ...seen.pools
      .filter(
        (pool) => anchorOf(pool) === undefined && fragments.some((annotation) => note(pool, annotation) !== undefined),
      )
      .map((pool) => `NodePool ${pool.metadata.name} has parts of an anchor`),
  ];
}

const fragments = ['rotation-claim-uid', 'started-at', 'active-rotation-state', 'surge-claim', 'draining-at'].map(key);

/** D6-01: a rotation that still waits in a pool that nothing governs has been taken back by then. */
export const overdueAborts = (seen: SeenCluster, retired: boolean): readonly string[] =>
  seen.pools.flatMap((pool) => {
    const anchor = anchorOf(pool);
    const why = governance(seen, pool, retired);
    return anchor && anchor.state === undefined && !anchor.malformed && typeof why === 'string'
      ? [`pool ${pool.metadata.name} still waits with ${anchor.claim} although ${why}`]
      : [];
  });
