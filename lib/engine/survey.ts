/**
 * Which objects the steps need besides the light snapshot. Asked again after each look, because an answer may lead to
 * the next question; empty when every pool can decide.
 */
import type { ClusterSnapshot, Inspected } from '../domain/cluster/snapshot.ts';
import { consider } from './decide.ts';
import type { Need } from './decision.ts';
import { viewOf } from './pool-view.ts';
import { mergeNeeds } from './writes.ts';

/** @design D15-03, D14-01 */
export const survey = (snapshot: ClusterSnapshot): Need =>
  mergeNeeds(
    snapshot.nodePools.flatMap((pool) => {
      const verdict = consider(viewOf(snapshot, pool));
      return 'need' in verdict ? [verdict.need] : [];
    }),
  );

/** What was seen before and what was seen now. */
export const mergeInspected = (before: Inspected, now: Inspected): Inspected => ({
  nodes: new Map([...before.nodes, ...now.nodes]),
  podsOnNode: new Map([...before.podsOnNode, ...now.podsOnNode]),
  dryRuns: new Map([...before.dryRuns, ...now.dryRuns]),
  ...((now.disruptionBudgets ?? before.disruptionBudgets)
    ? { disruptionBudgets: now.disruptionBudgets ?? before.disruptionBudgets ?? [] }
    : {}),
  ...((now.unscheduledPods ?? before.unscheduledPods)
    ? { unscheduledPods: now.unscheduledPods ?? before.unscheduledPods ?? [] }
    : {}),
});
