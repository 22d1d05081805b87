/**
 * Fields that are there and cannot be read, as notices: each names its object, its path and its text.
 *
 * All that is odd about one object is one notice, because of one code only the first notice is told about an object.
 */
import type { Node } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import type { NodePool } from '../domain/cluster/node-pool.ts';
import type { Unreadable } from '../domain/cluster/object-ref.ts';
import type { Census } from '../domain/surge/reschedulable.ts';
import type { Notice } from './decision.ts';
import type { PoolView } from './pool-view.ts';

/** The code under which a field is reported that is there and cannot be read. */
export const unreadableCode = 'Unreadable';

const warn = (message: string): Notice => ({ code: unreadableCode, severity: 'warn', message });

const listed = (parts: readonly Unreadable[]): string =>
  parts.map(({ path, text, problem }) => `${path} ${JSON.stringify(text)}: ${problem}`).join('; ');

/** Of a pool: what its schedule, its limits and its replacements are made from. @design D5-06 */
export function unreadableInPool({ meta, template, unreadable }: NodePool): readonly Notice[] {
  const sentences = [
    ...(template.lifetime.readable
      ? []
      : [`The template of NodePool ${meta.name} cannot be read: ${listed(template.lifetime.unreadable)}`]),
    ...(unreadable.length === 0 ? [] : [`NodePool ${meta.name}: ${listed(unreadable)}`]),
  ];
  return sentences.length === 0 ? [] : [warn(sentences.join('. '))];
}

/** Of a claim that stays. Without a lifetime it is left alone, and nothing else about it matters. @design D5-06, D6-05 */
export function unreadableInClaim({ meta, lifetime, unreadable }: NodeClaim): readonly Notice[] {
  if (!lifetime.readable) {
    return [
      warn(`NodeClaim ${meta.name} is left alone because its lifetime cannot be read: ${listed(lifetime.unreadable)}`),
    ];
  }
  return unreadable.length === 0 ? [] : [warn(`NodeClaim ${meta.name}: ${listed(unreadable)}`)];
}

/** Of a pool and its claims, whether or not a policy governs it. @design D5-06, D2-03 */
export const unreadableIn = ({ pool, claims }: PoolView): readonly Notice[] => [
  ...unreadableInPool(pool),
  ...claims.flatMap((claim) => unreadableInClaim(claim).map((notice) => ({ ...notice, claim: claim.meta.name }))),
];

/**
 * Of all that a candidate's sizes and blockers are made from besides its claim: its Node, its Pods, their budgets.
 *
 * @design D5-06
 */
export function unreadableAround({
  node,
  census,
  oddBudgets,
}: {
  readonly node: Node;
  readonly census: Pick<Census, 'unreadable'>;
  readonly oddBudgets: readonly Unreadable[];
}): readonly Notice[] {
  const parts = [
    ...(node.unreadable.length === 0 ? [] : [`Node ${node.meta.name}: ${listed(node.unreadable)}`]),
    ...(census.unreadable.length === 0 ? [] : [`On node ${node.meta.name}: ${listed(census.unreadable)}`]),
    ...(oddBudgets.length === 0 ? [] : [listed(oddBudgets)]),
  ];
  return parts.length === 0 ? [] : [warn(parts.join('. '))];
}
