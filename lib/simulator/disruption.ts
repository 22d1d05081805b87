/**
 * Karpenter's voluntary disruption: every ten seconds at most one method acts, in the order emptiness, drift of static
 * pools, drift, consolidation of one node.
 *
 * Drift and consolidation launch what is missing before they delete. Nothing here happens to a node that bears
 * do-not-disrupt, and everything here asks the pool's budgets.
 */
import type { Instant } from '../domain/time.ts';
import { add, minutes, second } from '../domain/time.ts';
import { consolidate } from './consolidation.ts';
import type { Candidate } from './disruption-candidates.ts';
import { candidatesOf, ripeAt } from './disruption-candidates.ts';
import type { Commands } from './disruption-commands.ts';
import { begin, carryOn, removeStrayTaints } from './disruption-commands.ts';
import type { PoolObject } from './kube-object.ts';
import { conditionSince, isTrue } from './kube-object.ts';
import { plan, staticClaim } from './planning.ts';
import type { DisruptionReason } from './pool-budgets.ts';
import { budgetLeft, nextBudgetChange } from './pool-budgets.ts';
import type { Model, WorldState } from './world-state.ts';
import { nextBeat, nextOf } from './world-state.ts';

const passSeconds = 10;

export function createDisruption(): Model {
  const commands: Commands = new Map();
  // What a pass does is no reason for a second one in the same moment.
  let actedAt: Instant | undefined;
  return {
    reads: [
      'NodeClaim',
      'Node',
      'Pod',
      'NodePool',
      'DaemonSet',
      'PodDisruptionBudget',
      'ReplicaSet',
      'StatefulSet',
      'cloud',
    ],
    run(world) {
      const executions = carryOn(world, commands);
      const { now } = world;
      // A change is looked at on the next pass; between changes only what ripens can make a difference.
      const isDue = now % (passSeconds * second) === 0 && actedAt !== now;
      const found = isDue ? pass(world, commands) : nextBeat(now, passSeconds);
      if (found === 'acted') actedAt = now;
      return nextOf(now, [executions, found === 'acted' ? nextBeat(now, passSeconds) : found]);
    },
  };
}

/** @returns when the next pass can find something that this one could not */
function pass(world: WorldState, commands: Commands): Instant | 'acted' | undefined {
  const { store, now } = world;
  removeStrayTaints(world);
  const candidates = candidatesOf(world);
  const free = candidates.filter(({ nominatedUntil }) => nominatedUntil === undefined);
  const acted =
    removeEmpty(world, commands, free) || replaceDrifted(world, commands, free) || consolidate(world, commands, free);
  if (acted) return 'acted';
  const moments = candidates.flatMap((candidate) => [
    ripeAt(candidate, now),
    candidate.nominatedUntil,
    candidate.heldForATime ? add(now, minutes(1)) : undefined,
  ]);
  const budgets = store.all<PoolObject>('NodePool').map((pool) => nextBudgetChange(pool, now));
  const next = nextOf(now, [...moments, ...budgets, world.nextSight()]);
  return next === undefined ? undefined : onPass(next);
}

const onPass = (at: Instant): Instant => (at % (passSeconds * second) === 0 ? at : nextBeat(at, passSeconds));

/** As many of the candidates, in their order, as the budgets of their pools leave. */
function within(world: WorldState, candidates: readonly Candidate[], reason: DisruptionReason): readonly Candidate[] {
  const left = new Map<string, number>();
  return candidates.filter(({ pool }) => {
    const { name } = pool.metadata;
    const rest = left.get(name) ?? budgetLeft(world, pool, reason);
    left.set(name, rest - 1);
    return rest > 0;
  });
}

const isEmpty = ({ cost, held }: Candidate): boolean => cost <= 1 && !held;

function removeEmpty(world: WorldState, commands: Commands, candidates: readonly Candidate[]): boolean {
  const empty = candidates.filter(
    (candidate) => isEmpty(candidate) && (ripeAt(candidate, world.now) ?? Infinity) <= world.now,
  );
  const chosen = within(world, empty, 'Empty');
  for (const candidate of chosen) begin(world, commands, candidate, 'Empty');
  return chosen.length > 0;
}

/** The longest drifted first, but empty nodes before all others. One node that is not empty per command. */
function replaceDrifted(world: WorldState, commands: Commands, candidates: readonly Candidate[]): boolean {
  const since = ({ claim }: Candidate): Instant => conditionSince(claim, 'Drifted') ?? world.now;
  const drifted = candidates
    .filter(({ claim, held }) => isTrue(claim, 'Drifted') && (!held || claim.spec.terminationGracePeriod !== undefined))
    .toSorted((a, b) => since(a) - since(b));
  const allowed = drifted.filter((candidate) => within(world, [candidate], 'Drifted').length > 0);
  for (const candidate of allowed.filter(({ pool }) => pool.spec.replicas !== undefined)) {
    const replacement = staticClaim(world, candidate.pool);
    if (!replacement) continue;
    begin(world, commands, candidate, 'Drifted', [replacement]);
    return true;
  }
  const dynamic = allowed.filter(({ pool }) => pool.spec.replicas === undefined);
  const empty = within(world, dynamic.filter(isEmpty), 'Drifted');
  for (const candidate of empty) begin(world, commands, candidate, 'Drifted');
  if (empty.length > 0) return true;
  for (const candidate of dynamic) {
    const { newClaims, unplaced } = plan(world, candidate.movable, { without: candidate.claim });
    if (unplaced.length > 0) continue;
    begin(world, commands, candidate, 'Drifted', newClaims);
    return true;
  }
  return false;
}
