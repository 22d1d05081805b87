/**
 * Whether a run came out as it should: what the audit table says is held against what was seen on the cluster.
 */

import type { RotationStory } from '../../report/rotation-story.ts';
import type { Timeline } from '../../simulator/timeline.ts';

export interface Outcome {
  /** As watched from outside. */
  readonly timeline: Timeline;
  /** As told by the audit table. */
  readonly stories: readonly RotationStory[];
  readonly leftovers: readonly string[];
  /** Ticks that could not look at the cluster, and messages that nobody could work off. */
  readonly failedTicks: number;
  readonly deadLetters: number;
}

/** Everything that is not as it should be, one sentence each. */
export function shortcomings({ timeline, stories, leftovers, failedTicks, deadLetters }: Outcome): readonly string[] {
  const problems: string[] = [];
  for (const { nodeClaim, nodePool } of timeline.forcefulExpirations) {
    problems.push(`NodeClaim ${nodeClaim} of NodePool ${nodePool} was expired by force.`);
  }
  const completed = new Set(stories.filter(({ outcome }) => outcome === 'completed').map(({ uid }) => uid));
  for (const { nodeClaim, uid, deadline } of timeline.nodeClaims) {
    if (deadline !== undefined && deadline <= timeline.to && !completed.has(uid)) {
      problems.push(`NodeClaim ${nodeClaim} reached its deadline without having been rotated.`);
    }
  }
  for (const { nodeClaim, outcome, reason } of stories) {
    if (outcome !== 'completed')
      problems.push(`The rotation of NodeClaim ${nodeClaim} is ${outcome}${reason ? ` (${reason})` : ''}.`);
  }
  problems.push(...disagreements(timeline, stories), ...extraNodes(timeline));
  for (const leftover of leftovers) problems.push(`Left behind: ${leftover}.`);
  if (stories.length === 0) problems.push('Nothing was rotated.');
  if (failedTicks > 0) problems.push(`${failedTicks} ticks failed.`);
  if (deadLetters > 0) problems.push(`${deadLetters} messages ended in the dead-letter queue.`);
  return problems;
}

/** Rotations that only one side knows. @design D10-04 */
function disagreements({ rotations }: Timeline, stories: readonly RotationStory[]): readonly string[] {
  const told = new Set(stories.map(({ uid, startedAt }) => `${uid}@${startedAt}`));
  const seen = new Set(rotations.map(({ claimUid, startedAt }) => `${claimUid}@${startedAt}`));
  return [
    ...rotations
      .filter(({ claimUid, startedAt }) => !told.has(`${claimUid}@${startedAt}`))
      .map(({ nodeClaim }) => `The audit table does not know the rotation of NodeClaim ${nodeClaim}.`),
    ...stories
      .filter(({ uid, startedAt }) => !seen.has(`${uid}@${startedAt}`))
      .map(({ nodeClaim }) => `The audit table tells a rotation of NodeClaim ${nodeClaim} that nobody saw.`),
  ];
}

/** A rotation takes one new node, or none where the Pods fit on another one. @design D7-04 */
function extraNodes({ rotations }: Timeline): readonly string[] {
  const needed = { provisioned: 1, absorbed: 0 };
  return rotations.flatMap(({ nodeClaim, surgePath, outcome, claimsCreated }) => {
    if (surgePath === undefined || outcome !== 'completed' || claimsCreated === needed[surgePath]) return [];
    return [
      `The rotation of NodeClaim ${nodeClaim} (${surgePath}) brought ${claimsCreated} new NodeClaims, not ${needed[surgePath]}.`,
    ];
  });
}
