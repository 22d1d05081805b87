/**
 * Consolidation of one node: its Pods fit elsewhere, or on one cheaper new node.
 *
 * Pools that consolidate WhenEmpty take no part. Several nodes at once are not consolidated, and spot is not replaced
 * by spot, which Karpenter does not do either unless it is told to.
 */
import type { Candidate } from './disruption-candidates.ts';
import { ripeAt } from './disruption-candidates.ts';
import type { Commands } from './disruption-commands.ts';
import { begin } from './disruption-commands.ts';
import type { Offering } from './instance-types.ts';
import { offeringOf } from './node-claims.ts';
import type { NewClaim } from './planning.ts';
import { plan } from './planning.ts';
import { budgetLeft } from './pool-budgets.ts';
import type { WorldState } from './world-state.ts';

/** The cheapest to disrupt first. @returns whether a node was chosen */
export function consolidate(world: WorldState, commands: Commands, candidates: readonly Candidate[]): boolean {
  const ripe = candidates.filter(
    (candidate) =>
      (candidate.pool.spec.disruption?.consolidationPolicy ?? 'WhenEmptyOrUnderutilized') !== 'WhenEmpty' &&
      !candidate.held &&
      candidate.cost > 1 &&
      (ripeAt(candidate, world.now) ?? Number.POSITIVE_INFINITY) <= world.now,
  );
  for (const candidate of ripe.toSorted((a, b) => a.cost - b.cost)) {
    if (budgetLeft(world, candidate.pool, 'Underutilized') <= 0) continue;
    const replacements = savingBy(world, candidate);
    if (!replacements) continue;
    begin(world, commands, candidate, 'Underutilized', replacements);
    return true;
  }
  return false;
}

/** What has to be launched so that the node can go at a saving; undefined when there is none. */
function savingBy(world: WorldState, { claim, movable }: Candidate): readonly NewClaim[] | undefined {
  const { newClaims, unplaced } = plan(world, movable, { without: claim });
  const [only] = newClaims;
  if (unplaced.length > 0 || newClaims.length > 1) return undefined;
  if (!only) return [];
  const present = offeringOf(world, claim);
  if (!present) return undefined;
  const offerings = only.offerings.filter(
    (offering) => offering.price < present.price && !(isSpot(offering) && isSpot(present)),
  );
  return offerings.length === 0 ? undefined : [{ ...only, offerings }];
}

const isSpot = ({ labels }: Offering): boolean => labels['karpenter.sh/capacity-type'] === 'spot';
