/**
 * Whether the NodePool's `spec.limits` leave room for the placeholder.
 *
 * Karpenter itself asks for more: a whole instance has to fit under every limit. That is foreseen only as a warning,
 * because the placeholder may be absorbed, or a smaller instance may do.
 */
import type { NodeClaim } from '../cluster/node-claim.ts';
import type { NodePool } from '../cluster/node-pool.ts';
import { subtractQuantities, units } from '../cluster/quantity.ts';
import type { ResourceList } from '../cluster/resource-list.ts';
import { amountOf } from '../cluster/resource-list.ts';

export interface Headroom {
  readonly fits: boolean;
  /** It fits, but a whole instance like the candidate's own does not. */
  readonly tight: boolean;
  /** Limit − used, for the limited resources only; negative where the pool is already above a limit. */
  readonly remaining: ResourceList;
  /** The limited resources that lack room, sorted: for the placeholder if it does not fit, else for the instance. */
  readonly lacking: readonly string[];
}

/**
 * @param requests the clamped (or raised) footprint
 * @design R3.3-13, R3.3-20, D8-05
 */
export function headroom(pool: NodePool, requests: ResourceList, claim: NodeClaim): Headroom {
  const names = [...pool.limits.keys()].sort();
  const remaining: ResourceList = new Map(
    names.map((name) => [name, subtractQuantities(amountOf(pool.limits, name), amountOf(pool.used, name))]),
  );
  const lackingFor = (list: ResourceList): readonly string[] =>
    names.filter((name) => (name === 'nodes' ? oneNode : amountOf(list, name)) > amountOf(remaining, name));
  const forPlaceholder = lackingFor(requests);
  const forInstance = claim.capacity === undefined ? [] : lackingFor(claim.capacity);
  const fits = forPlaceholder.length === 0;
  return { fits, tight: fits && forInstance.length > 0, remaining, lacking: fits ? forInstance : forPlaceholder };
}

const oneNode = units(1);
