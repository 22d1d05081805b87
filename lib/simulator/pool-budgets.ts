/**
 * How many nodes of a NodePool Karpenter may take by its own choice just now.
 *
 * A node that somebody else is draining, or that is not Ready, uses the budget up as well. A client's delete of a
 * NodeClaim asks no budget.
 */
import type { Instant } from '../domain/time.ts';
import { add } from '../domain/time.ts';
import { lastFire, nextFire, parseCron } from './cron.ts';
import type { ClaimObject, PoolObject } from './kube-object.ts';
import { isDeleting, isTrue, readDuration } from './kube-object.ts';
import { nodeOf, poolOf } from './node-claims.ts';
import type { WorldState } from './world-state.ts';
import { nextOf } from './world-state.ts';

export type DisruptionReason = 'Empty' | 'Drifted' | 'Underutilized';

type Budget = NonNullable<NonNullable<PoolObject['spec']['disruption']>['budgets']>[number];

const usualBudgets: readonly Budget[] = [{ nodes: '10%' }];
const budgetsOf = (pool: PoolObject): readonly Budget[] => pool.spec.disruption?.budgets ?? usualBudgets;

/** A budget whose schedule or duration cannot be read allows nothing to anybody, as in Karpenter. */
function activity(
  { schedule, duration }: Budget,
  now: Instant,
): { readonly active: boolean; readonly until?: Instant } {
  if (schedule === undefined) return { active: true };
  const cron = parseCron(schedule);
  const length = readDuration(duration);
  if (!cron || length === undefined) return { active: true };
  const began = lastFire(cron, now, length);
  if (began !== undefined && add(began, length) > now) return { active: true, until: add(began, length) };
  const next = nextFire(cron, now);
  return next === undefined ? { active: false } : { active: false, until: next };
}

/** The strictest active budget for the reason, minus the nodes that are going or not ready; percentages round up. */
export function budgetLeft({ store, now }: WorldState, pool: PoolObject, reason: DisruptionReason): number {
  const claims = store
    .all<ClaimObject>('NodeClaim')
    .filter((claim) => poolOf(claim) === pool.metadata.name && isTrue(claim, 'Initialized'));
  const disrupting = claims.filter((claim) => {
    if (isDeleting(claim)) return !isTrue(claim, 'Drained');
    const node = nodeOf(store, claim);
    return isTrue(claim, 'DisruptionReason') || (node !== undefined && !isTrue(node, 'Ready'));
  });
  const there = claims.filter((claim) => !(isDeleting(claim) && isTrue(claim, 'Drained'))).length;
  const allowed = budgetsOf(pool)
    .filter((budget) => (budget.reasons?.includes(reason) ?? true) && activity(budget, now).active)
    .map(({ nodes }) => (nodes.endsWith('%') ? Math.ceil((there * Number(nodes.slice(0, -1))) / 100) : Number(nodes)));
  return Math.min(there, ...allowed) - disrupting.length;
}

/** When a scheduled budget of the pool begins or ends next. */
export const nextBudgetChange = (pool: PoolObject, now: Instant): Instant | undefined =>
  nextOf(
    now,
    budgetsOf(pool).map((budget) => activity(budget, now).until),
  );
