/**
 * On what a tick may decide about a pool: its list, and for the pool's own annotations the second reading, too.
 */
import type { PoolObject } from '../../lib/simulator/kube-object.ts';
import type { PolicyTerms } from './policy-terms.ts';
import { isFrozen } from './policy-terms.ts';
import type { Sight } from './safety.ts';
import type { SeenCluster } from './seen-cluster.ts';
import { governance, key, named, note } from './seen-cluster.ts';

export interface Grounds {
  /** As the list showed the cluster. */
  readonly seen: SeenCluster;
  readonly pool: PoolObject | undefined;
  /** The governing policy, or why there is none. */
  readonly terms: PolicyTerms | string;
  readonly frozen: boolean;
}

/** Policies and claims are judged by the list; a freeze on the pool counts in the list or in the second reading. */
export function groundsOf(sight: Sight, poolName: string): Grounds {
  const seen = sight.looks[0] as SeenCluster;
  const pool = named(seen.pools, poolName);
  const terms = governance(seen, pool, sight.retired);
  const again = sight.rereads.get(poolName);
  const frozen =
    isFrozen(note(pool, key('freeze')), sight.observedAt) ||
    (again !== undefined && isFrozen(note(named(again.pools, poolName), key('freeze')), sight.observedAt)) ||
    (typeof terms === 'object' && isFrozen(terms.freeze, sight.observedAt));
  return { seen, pool, terms, frozen };
}
