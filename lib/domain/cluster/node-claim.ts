/**
 * A NodeClaim: Karpenter's record of one node, with the deadline that everything here races against.
 *
 * Its spec is immutable, so deadline and grace are those of the claim, never of the NodePool's present template.
 */
import type { Duration, Instant } from '../time.ts';
import { add } from '../time.ts';
import type { ObjectMeta, Unreadable } from './object-ref.ts';
import type { Requirement } from './requirements.ts';
import type { ResourceList } from './resource-list.ts';

/** What decides when the node goes. One unreadable part makes the whole unreadable: a deadline is never guessed. */
export type Lifetime =
  | {
      readonly readable: true;
      readonly created: Instant;
      /** A claim without expireAfter never expires. @design D4-02 */
      readonly expireAfter: Duration | 'Never';
      /** Absent: the drain has no bound. */
      readonly terminationGracePeriod?: Duration;
    }
  | { readonly readable: false; readonly unreadable: readonly Unreadable[] };

export interface NodeClaim {
  readonly meta: ObjectMeta;
  /** The label karpenter.sh/nodepool; empty when missing. */
  readonly nodePool: string;
  readonly lifetime: Lifetime;
  /** status.nodeName; absent until the node has registered. */
  readonly nodeName?: string;
  readonly providerId?: string;
  /** Root condition Ready: True, False, Unknown, or absent. */
  readonly ready: 'True' | 'False' | 'Unknown';
  /** Karpenter has chosen this node for disruption (condition DisruptionReason=True): its reason, else absent. */
  readonly disruptionReason?: string;
  readonly requirements: readonly Requirement[];
  /** status.capacity and status.allocatable: estimates made at launch. Absent until launched. */
  readonly capacity?: ResourceList;
  readonly allocatable?: ResourceList;
  /** Fields other than the lifetime that could not be read. */
  readonly unreadable: readonly Unreadable[];
}

/**
 * The instant at which Karpenter deletes the claim by force.
 *
 * @returns 'never' for a claim that does not expire, undefined when its lifetime is unreadable
 * @design R3.2-01, R3.2-16
 */
export function deadlineOf(claim: NodeClaim): Instant | 'never' | undefined {
  if (!claim.lifetime.readable) return undefined;
  const { created, expireAfter } = claim.lifetime;
  return expireAfter === 'Never' ? 'never' : add(created, expireAfter);
}

/** The claim's own grace; undefined when unset or unreadable. @design R3.2-16 */
export const graceOf = (claim: NodeClaim): Duration | undefined =>
  claim.lifetime.readable ? claim.lifetime.terminationGracePeriod : undefined;
