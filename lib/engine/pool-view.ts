/**
 * One NodePool as a tick sees it: everything that several rules ask for, gathered once.
 */

import type { Node, NodeMetadata } from '../domain/cluster/node.ts';
import { nodePoolLabel } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import type { NodePool } from '../domain/cluster/node-pool.ts';
import { annotation, own } from '../domain/cluster/object-ref.ts';
import type { Pod } from '../domain/cluster/pod.ts';
import type { ClusterSnapshot } from '../domain/cluster/snapshot.ts';
import type { Governance } from '../domain/policy/governance.ts';
import { govern } from '../domain/policy/governance.ts';
import type { RotationPolicy } from '../domain/policy/rotation-policy.ts';
import { surgeForLabel } from '../domain/rotation/annotation-keys.ts';
import type { Freeze } from '../domain/rotation/freeze.ts';
import { readFreeze, strictest } from '../domain/rotation/freeze.ts';
import type { PoolHistory, Rotation } from '../domain/rotation/rotation.ts';
import { hasClaimState, readPoolHistory, readRotation } from '../domain/rotation/rotation.ts';
import type { Occurrence } from '../domain/schedule/calendar.ts';
import { occurrenceAt } from '../domain/schedule/calendar.ts';
import { placeholderName, surgeForValue } from '../domain/surge/placeholder.ts';
import type { Instant } from '../domain/time.ts';

export interface PoolView {
  readonly snapshot: ClusterSnapshot;
  readonly at: Instant;
  readonly pool: NodePool;
  readonly governance: Governance;
  /** The governing policy; absent when none governs or the winner is invalid. */
  readonly policy?: RotationPolicy;
  /** Claims that carry the pool's label, deleting ones included. */
  readonly claims: readonly NodeClaim[];
  readonly rotation: Rotation;
  readonly history: PoolHistory;
  readonly freeze: Freeze;
  /** The open occurrence of the policy's windows. */
  readonly occurrence?: Occurrence;
}

export function viewOf(snapshot: ClusterSnapshot, pool: NodePool): PoolView {
  const at = snapshot.observedAt;
  const governance = govern(pool.meta.labels, snapshot.policies);
  const policy = governance.kind === 'governed' ? governance.policy : undefined;
  const poolFreeze = readFreeze(pool.meta, `NodePool ${pool.meta.name}`, at);
  const policyFreeze: Freeze = policy
    ? readFreeze(policy.meta, `RotationPolicy ${policy.meta.name}`, at)
    : { frozen: false };
  const occurrence = policy && occurrenceAt(policy, at);
  return {
    snapshot,
    at,
    pool,
    governance,
    ...(policy ? { policy } : {}),
    claims: claimsByPool(snapshot.nodeClaims).get(pool.meta.name) ?? noClaims,
    rotation: readRotation(pool.meta),
    history: readPoolHistory(pool.meta),
    freeze: strictest(poolFreeze, policyFreeze),
    ...(occurrence ? { occurrence } : {}),
  };
}

/** Why nothing may start here and a pending rotation is undone; undefined while the pool is governed. @design D6-01 */
export function governanceLost(view: PoolView): string | undefined {
  const { pool, governance, policy, snapshot } = view;
  if (pool.meta.deleting) return `NodePool ${pool.meta.name} is being deleted`;
  if (snapshot.retired) return 'the cluster has been retired from the configuration';
  if (governance.kind === 'none') return `no RotationPolicy matches NodePool ${pool.meta.name}`;
  if (governance.kind === 'conflict') {
    return `several RotationPolicies match NodePool ${pool.meta.name} equally: ${governance.names.join(', ')}`;
  }
  if (governance.kind === 'invalid') return `RotationPolicy ${governance.name} is invalid`;
  return policy?.mode === 'Observe' ? `RotationPolicy ${policy.meta.name} is in mode Observe` : undefined;
}

/** The claim with this name and uid: one that was made again under the same name is another. */
export const findClaim = (view: PoolView, name: string, uid: string | undefined): NodeClaim | undefined =>
  view.snapshot.nodeClaims.find((claim) => claim.meta.name === name && (uid === undefined || claim.meta.uid === uid));

export function nodeOf(snapshot: ClusterSnapshot, claim: NodeClaim): NodeMetadata | undefined {
  return claim.nodeName === undefined ? undefined : nodesByName(snapshot.nodes).get(claim.nodeName);
}

/** The NodeClaim behind a node; undefined when it cannot be resolved. @design R3.3-10 */
export const claimOnNode = (snapshot: ClusterSnapshot, nodeName: string): NodeClaim | undefined =>
  snapshot.nodeClaims.find((claim) => claim.nodeName === nodeName);

/** The lists of a snapshot never change, and every claim of thousands asks for its node several times a tick. */
const nodesByName = indexed((nodes: readonly NodeMetadata[]) => {
  const index = new Map<string, NodeMetadata>();
  for (const node of nodes) if (!index.has(node.meta.name)) index.set(node.meta.name, node);
  return index;
});

const claimsByPool = indexed((claims: readonly NodeClaim[]) => Map.groupBy(claims, ({ nodePool }) => nodePool));
const noClaims: readonly NodeClaim[] = [];

/** Those whose own annotations tell of an attempt, past or present: few of thousands, and several rules ask for them. */
export const claimsWithState = indexed((claims: readonly NodeClaim[]) =>
  claims.filter(({ meta }) => hasClaimState(meta)),
);

/** Made once for each list. */
export function indexed<L extends object, I>(make: (list: L) => I): (list: L) => I {
  const known = new WeakMap<L, I>();
  return (list) => {
    let index = known.get(list);
    if (index === undefined) {
      index = make(list);
      known.set(list, index);
    }
    return index;
  };
}

/** The whole Node, 'gone', or 'unseen' while nobody has looked at it. */
export const wholeNode = (snapshot: ClusterSnapshot, name: string): Node | 'gone' | 'unseen' =>
  snapshot.inspected.nodes.get(name) ?? 'unseen';

/** Our placeholder for a claim, by its deterministic name and our label. @design D8-06 */
export const placeholderOf = (snapshot: ClusterSnapshot, claimName: string): Pod | undefined =>
  snapshot.placeholders.find(
    (pod) =>
      pod.meta.name === placeholderName(claimName) && own(pod.meta.labels, surgeForLabel) === surgeForValue(claimName),
  );

export const poolOfNode = (node: NodeMetadata): string => own(node.meta.labels, nodePoolLabel) ?? '';

export const nodeAnnotation = (node: NodeMetadata, key: string): string | undefined => annotation(node.meta, key);
