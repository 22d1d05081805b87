/**
 * A Node in the two depths in which it is read: metadata of every node in each tick, the whole object of a few.
 */

import type { Taint } from './node-pool.ts';
import type { ObjectMeta, Unreadable } from './object-ref.ts';
import type { ResourceList } from './resource-list.ts';

/** What a PartialObjectMetadata tells: names, labels, annotations; neither readiness nor the cordon. */
export interface NodeMetadata {
  readonly meta: ObjectMeta;
}

/** The whole Node, read for a candidate, a surge host or an old node. */
export interface Node extends NodeMetadata {
  readonly providerId?: string;
  readonly unschedulable: boolean;
  /** Condition Ready is True. */
  readonly ready: boolean;
  readonly taints: readonly Taint[];
  readonly allocatable: ResourceList;
  readonly unreadable: readonly Unreadable[];
}

/** Label that a Pod pinned to one host selects on; it may differ from the node's name. */
export const hostnameLabel = 'kubernetes.io/hostname';
export const nodePoolLabel = 'karpenter.sh/nodepool';
