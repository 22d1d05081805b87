/**
 * Nodes that Karpenter may take by its own choice, and what each would cost.
 *
 * do-not-disrupt is read from the Node, and only the exact text "true" counts there. A budget or a Pod that blocks is
 * asked for by every method but drift of a claim with a terminationGracePeriod.
 */
import type { Instant } from '../domain/time.ts';
import { add, latest } from '../domain/time.ts';
import { budgetsOf, countBudget } from './disruption-budgets.ts';
import type { ClaimObject, NodeObject, PodObject, PoolObject } from './kube-object.ts';
import { annotationOf, conditionSince, isDeleting, isTrue, readDuration, readStamp } from './kube-object.ts';
import { disruptedTaint, doNotDisrupt, nodeOf, poolOf } from './node-claims.ts';
import { isDaemon, isStateful, isTerminal, mayNotBeDisrupted, needsOf, refusedTaints } from './pod-needs.ts';
import type { WorldState } from './world-state.ts';

export interface Candidate {
  readonly claim: ClaimObject;
  readonly node: NodeObject;
  readonly pool: PoolObject;
  /** That would have to find another place. */
  readonly movable: readonly PodObject[];
  /** One, and more for every Pod that would have to move. */
  readonly cost: number;
  /** Whether a Pod or a budget keeps the node. */
  readonly held: boolean;
  /** Whether that may end by itself, without any object changing. */
  readonly heldForATime: boolean;
  /** Until when planned Pods protect it. */
  readonly nominatedUntil: Instant | undefined;
}

export function candidatesOf(world: WorldState): readonly Candidate[] {
  const { store, now, nominations } = world;
  return store.all<ClaimObject>('NodeClaim').flatMap((claim): Candidate[] => {
    if (isDeleting(claim) || !isTrue(claim, 'Initialized') || isTrue(claim, 'DisruptionReason')) return [];
    const node = nodeOf(store, claim);
    const pool = store.get('NodePool', poolOf(claim)) as PoolObject | undefined;
    if (!node || isDeleting(node) || !pool || isDeleting(pool)) return [];
    if (annotationOf(world.seen(node), doNotDisrupt) === 'true') return [];
    const pods = store.podsOn(node.metadata.name).filter((pod) => !isTerminal(pod));
    const movable = pods.filter((pod) => !isDaemon(pod) && (!isDeleting(pod) || isStateful(pod)));
    const marked = pods.filter((pod) => mayNotBeDisrupted(pod, now));
    const until = nominations.get(node.metadata.name) ?? nominations.get(claim.metadata.name);
    return [
      {
        claim,
        node,
        pool,
        movable,
        cost: movable.reduce((cost, pod) => cost + Math.max(0, evictionCost(pod)), 1),
        held: marked.length > 0 || pods.some((pod) => isHeldByBudget(world, pod)),
        heldForATime: marked.some((pod) => annotationOf(pod, doNotDisrupt) !== 'true'),
        nominatedUntil: until !== undefined && until > now ? until : undefined,
      },
    ];
  });
}

/** One for an ordinary Pod; nothing from a priority of −2²⁵ downwards. */
function evictionCost(pod: PodObject): number {
  const deletionCost = Number(annotationOf(pod, 'controller.kubernetes.io/pod-deletion-cost') ?? 0);
  const cost = 1 + deletionCost / 2 ** 27 + (pod.spec.priority ?? 0) / 2 ** 25;
  return Math.min(10, Math.max(-10, cost));
}

function isHeldByBudget({ store }: WorldState, pod: PodObject): boolean {
  if (isDeleting(pod) || refusedTaints(needsOf(pod), [disruptedTaint]).length === 0) return false;
  const budgets = budgetsOf(store, pod);
  return budgets.length > 1 || budgets.some((budget) => countBudget(store, budget).disruptionsAllowed <= 0);
}

/** When consolidateAfter has passed since the last Pod came or went; undefined when it never does. */
export function ripeAt({ claim, pool, nominatedUntil }: Candidate, now: Instant): Instant | undefined {
  const after = readDuration(pool.spec.disruption?.consolidateAfter ?? '0s');
  if (after === undefined || pool.spec.replicas !== undefined) return undefined;
  const quietSince = readStamp(claim.status.lastPodEventTime) ?? conditionSince(claim, 'Initialized') ?? now;
  return latest(add(quietSince, after), nominatedUntil ?? now);
}
