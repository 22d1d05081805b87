/**
 * The node under the placeholder: whether it may become the surge host, and whether it is ready to take the drain.
 */
import type { Node } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { deadlineOf, graceOf } from '../domain/cluster/node-claim.ts';
import type { Pod } from '../domain/cluster/pod.ts';
import type { Attempt, SurgePath } from '../domain/rotation/rotation.ts';
import { deadlineBuffer } from '../domain/schedule/lead-time.ts';
import type { Duration } from '../domain/time.ts';
import { add, between, formatInstant, hours, sum } from '../domain/time.ts';
import type { PoolView } from './pool-view.ts';
import { claimOnNode, poolOfNode } from './pool-view.ts';
import { isProtectedFor } from './protect.ts';

/** The longest that a drain of this claim is expected to take; 1h when the claim has no grace. @design D7-03, D7-05 */
export const drainBound = (claim: NodeClaim | undefined): Duration =>
  sum((claim && graceOf(claim)) ?? hours(1), deadlineBuffer);

/**
 * What makes a node unfit as surge host whatever we do to it; undefined when nothing does.
 *
 * @param old the claim that is being rotated
 * @design D7-02, D7-03
 */
export function unfit(view: PoolView, old: NodeClaim, host: Node | 'gone', hostName: string): string | undefined {
  if (hostName === old.nodeName) return `it is the node being rotated`;
  if (host === 'gone') return `node ${hostName} is gone`;
  if (poolOfNode(host) !== view.pool.meta.name)
    return `node ${hostName} belongs to NodePool ${poolOfNode(host) || '(none)'}`;
  if (host.meta.deleting) return `node ${hostName} is being deleted`;
  if (host.unschedulable) return `node ${hostName} is cordoned`;
  const claim = claimOnNode(view.snapshot, hostName);
  if (!claim) return undefined;
  if (claim.meta.deleting) return `NodeClaim ${claim.meta.name} is being deleted`;
  if (claim.disruptionReason !== undefined)
    return `Karpenter has chosen NodeClaim ${claim.meta.name} (${claim.disruptionReason})`;
  const deadline = deadlineOf(claim);
  if (typeof deadline === 'number' && add(view.at, drainBound(old)) >= deadline) {
    return `NodeClaim ${claim.meta.name} expires at ${formatInstant(deadline)}, before a drain is sure to end`;
  }
  return undefined;
}

/**
 * The surge is ready: the placeholder runs and stays, on a Ready host of the pool that is fit and protected as read in
 * this very tick.
 *
 * @design R3.3-22, D7-03
 */
export function surgeReady(
  view: PoolView,
  old: NodeClaim,
  placeholder: Pod | undefined,
  host: Node | 'gone' | 'unseen',
): host is Node {
  if (
    !placeholder ||
    placeholder.meta.deleting ||
    placeholder.phase !== 'Running' ||
    placeholder.nodeName === undefined
  )
    return false;
  if (host === 'unseen' || host === 'gone' || !host.ready) return false;
  return isProtectedFor(host, old.meta.name) && unfit(view, old, host, placeholder.nodeName) === undefined;
}

/** Born at or after the attempt's start: the one predicate behind the surge path and the reap guard. @design R3.3-10 */
export const bornDuring = (attempt: Pick<Attempt, 'startedAt'>, claim: NodeClaim): boolean =>
  claim.meta.created !== undefined && claim.meta.created >= attempt.startedAt;

/** How the surge came about; undefined when the host's NodeClaim cannot be resolved. @design R3.3-09, R3.3-10 */
export function surgePathOf(view: PoolView, attempt: Attempt, hostName: string): SurgePath | undefined {
  const claim = claimOnNode(view.snapshot, hostName);
  if (claim?.meta.created === undefined) return undefined;
  return bornDuring(attempt, claim) ? 'provisioned' : 'absorbed';
}

/** From the start of the attempt to the placeholder's readiness, or to this tick where that time is not known. */
export function surgeWaitOf(view: PoolView, attempt: Attempt, placeholder: Pod): Duration {
  const since = placeholder.ready?.status === true ? placeholder.ready.since : undefined;
  const readyAt = since !== undefined && since >= attempt.startedAt && since <= view.at ? since : view.at;
  return between(attempt.startedAt, readyAt);
}
