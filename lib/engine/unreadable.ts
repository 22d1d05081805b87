/**
 * Fields that are there and cannot be read, as notices: each names its object, its path and its text.
 */
import type { Lifetime } from '../domain/cluster/node-claim.ts';
import type { TemplateLifetime } from '../domain/cluster/node-pool.ts';
import type { Unreadable } from '../domain/cluster/object-ref.ts';
import type { Notice } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import type { Examination } from './start.ts';

/** The code under which a field is reported that is there and cannot be read. */
export const unreadableCode = 'Unreadable';

const unreadable = ({ path, text, problem }: Unreadable, of: string, claim?: string): Notice => ({
  code: unreadableCode,
  severity: 'warn',
  message: `${of}: ${path} ${JSON.stringify(text)}: ${problem}`,
  ...(claim === undefined ? {} : { claim }),
});

/**
 * Of a pool and its claims. Lifetimes are among the pool's own notices, unless nothing governs it.
 *
 * @design D5-06, D2-03
 */
export function unreadableIn({ pool, claims, policy }: PoolView): readonly Notice[] {
  const lifetime = (of: TemplateLifetime | Lifetime): readonly Unreadable[] =>
    policy || of.readable ? [] : of.unreadable;
  return [
    ...[...lifetime(pool.template.lifetime), ...pool.unreadable].map((part) =>
      unreadable(part, `NodePool ${pool.meta.name}`),
    ),
    ...claims.flatMap((claim) =>
      [...lifetime(claim.lifetime), ...claim.unreadable].map((part) =>
        unreadable(part, `NodeClaim ${claim.meta.name}`, claim.meta.name),
      ),
    ),
  ];
}

/** Of a candidate's Node and its Pods. @design D5-06 */
export function unreadableAround({ node, census }: Examination): readonly Notice[] {
  return [
    ...node.unreadable.map((part) => unreadable(part, `Node ${node.meta.name}`)),
    ...census.unreadable.map((part) => unreadable(part, `Node ${node.meta.name}`)),
  ];
}
