/**
 * The liveness oracle: what has begun ends, nothing of ours stays behind, and where nothing stands in the way nobody
 * is forced out.
 */
import type { Timeline } from '../../lib/simulator/timeline.ts';
import type { World } from '../../lib/simulator/world.ts';
import { debrisOf } from './debris.ts';
import type { Violation } from './safety.ts';
import { doNotDisrupt, isOperators, key, lookAt, note } from './seen-cluster.ts';

/** After quiet time: no marks, no placeholders, no states of ours on anything. */
export function judgeEnd(world: World): readonly Violation[] {
  const seen = lookAt(world);
  const marks = seen.nodes.filter((node) =>
    Object.keys(node.metadata.annotations ?? {}).some((annotation) => annotation.startsWith(key(''))),
  );
  const lines = [
    ...debrisOf(seen),
    ...marks.map((node) => `Node ${node.metadata.name}: ${Object.keys(node.metadata.annotations ?? {}).join(', ')}`),
    ...seen.nodes
      .filter((node) => note(node, doNotDisrupt) === 'true' && !isOperators(node))
      .map((node) => `Node ${node.metadata.name} is still protected`),
  ];
  return lines.map((message) => ({ rule: 'leftBehind', message, at: world.now }));
}

/** R3.9-01, D7-04: with capacity, time and peace every node goes gracefully, and each rotation makes one node at most. */
export function judgeCalm(world: World, { forcefulExpirations, rotations }: Timeline): readonly Violation[] {
  const forced = forcefulExpirations.map(({ nodeClaim, at }) => ({
    rule: 'forcedInPeace',
    message: `NodeClaim ${nodeClaim} expired by force although nothing stood in the way`,
    at,
  }));
  const tooMany = rotations
    .filter(
      ({ outcome, surgePath, claimsCreated }) =>
        outcome === 'completed' && claimsCreated !== (surgePath === 'provisioned' ? 1 : 0),
    )
    .map(({ nodeClaim, surgePath, claimsCreated, endedAt }) => ({
      rule: 'claimsPerRotation',
      message: `the rotation of ${nodeClaim} (${surgePath}) made ${claimsCreated} NodeClaims`,
      at: endedAt ?? world.now,
    }));
  return [...forced, ...tooMany];
}
