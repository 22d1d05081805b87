/**
 * Debris: marks, cordons, placeholders, claim states and anchor fragments with no rotation behind them.
 *
 * Judged against the anchors as this tick's lists leave them, over the complete snapshot. Only what carries our own
 * marks is touched; what cannot be undone now is tried again by the next tick.
 */

import type { NodeMetadata } from '../domain/cluster/node.ts';
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { keyOf, own, refOf } from '../domain/cluster/object-ref.ts';
import type { ClusterSnapshot } from '../domain/cluster/snapshot.ts';
import { anchorKeys, nodeKeys, surgeForLabel } from '../domain/rotation/annotation-keys.ts';
import { anchorFragments, readClaimState } from '../domain/rotation/rotation.ts';
import { surgeForValue } from '../domain/surge/placeholder.ts';
import type { Action, Decision } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { claimsWithState, indexed, nodeAnnotation, poolOfNode } from './pool-view.ts';
import { carriesMarker, unprotect } from './protect.ts';
import { clearState, failedAnnotations } from './rollback.ts';
import { annotateClaim, annotatePool, deletePlaceholder, maybe } from './writes.ts';

/** The claims that have a rotation behind them once this tick's lists have landed. */
export function liveClaims(views: readonly PoolView[], decisions: readonly Decision[]): ReadonlySet<string> {
  const live = new Set<string>();
  for (const view of views) {
    const decision = decisions.find((each) => each.nodePool === view.pool.meta.name);
    const after = decision ? anchorAfter(view, decision) : anchoredClaim(view);
    if (after !== undefined) live.add(after);
  }
  return live;
}

const anchoredClaim = (view: PoolView): string | undefined =>
  view.rotation.phase === 'none' ? undefined : view.rotation.claim;

/** The claim on the pool's anchor after the list; the last patch that names the key decides. */
function anchorAfter(view: PoolView, decision: Decision): string | undefined {
  let claim = anchoredClaim(view);
  for (const action of decision.actions) {
    if (action.kind !== 'annotate' || action.target.kind !== 'NodePool') continue;
    const value = own(action.annotations, anchorKeys.claim);
    if (value !== undefined) claim = value ?? undefined;
  }
  return claim;
}

/** What this pool's list has to undo besides. @design D6-03, R3.9-02 */
export function sweepPool(view: PoolView, decision: Decision, live: ReadonlySet<string>): readonly Action[] {
  const touched = touchedBy([decision]);
  const cleared =
    decision.actions.length === 0 && view.rotation.phase === 'none' ? anchorFragments(view.pool.meta.annotations) : [];
  const name = view.pool.meta.name;
  return [
    ...markedNodes(view.snapshot.nodes)
      .filter((node) => poolOfNode(node) === name)
      .flatMap((node) => sweepNode(view.snapshot, node, live)),
    ...claimsWithState(view.claims).flatMap((claim) =>
      maybe(live.has(claim.meta.name) || decision.step === 'restore' ? undefined : sweepClaim(view, claim)),
    ),
    ...(cleared.length > 0 ? [annotatePool(view, Object.fromEntries(cleared.map((key) => [key, null])), 'goOn')] : []),
  ].filter((action) => !('target' in action) || !touched.has(keyOf(action.target)));
}

/** What belongs to no pool of the snapshot: nodes and claims of a pool that is gone, and placeholders. */
export function sweepRest(
  snapshot: ClusterSnapshot,
  decisions: readonly Decision[],
  live: ReadonlySet<string>,
): readonly Action[] {
  const pools = new Set(snapshot.nodePools.map((pool) => pool.meta.name));
  const touched = touchedBy(decisions);
  const liveValues = new Set([...live].map(surgeForValue));
  const orphans = snapshot.placeholders.filter((pod) => {
    const value = own(pod.meta.labels, surgeForLabel);
    return (
      value !== undefined && !liveValues.has(value) && !pod.meta.deleting && !touched.has(keyOf(refOf('Pod', pod.meta)))
    );
  });
  return [
    ...markedNodes(snapshot.nodes)
      .filter((node) => !pools.has(poolOfNode(node)))
      .flatMap((node) => sweepNode(snapshot, node, live)),
    ...claimsWithState(snapshot.nodeClaims)
      .filter((claim) => !pools.has(claim.nodePool) && isStranded(claim))
      .flatMap((claim) => maybe(clearState(claim))),
    ...orphans.map((pod) => deletePlaceholder(pod)),
  ];
}

/** The objects that a list writes. */
const touchedBy = (decisions: readonly Decision[]): ReadonlySet<string> =>
  new Set(
    decisions.flatMap(({ actions }) => actions.flatMap((action) => ('target' in action ? [keyOf(action.target)] : []))),
  );

const markedNodes = indexed((nodes: readonly NodeMetadata[]) => nodes.filter(carriesMarker));

/** @param node a marked one */
function sweepNode(snapshot: ClusterSnapshot, node: NodeMetadata, live: ReadonlySet<string>): readonly Action[] {
  const markedFor =
    nodeAnnotation(node, nodeKeys.surgeFor) ??
    snapshot.nodeClaims.find((claim) => claim.nodeName === node.meta.name)?.meta.name;
  if (markedFor !== undefined && live.has(markedFor)) return [];
  return maybe(unprotect(node));
}

/** Still carries a rotation's state although nothing is ending it. */
function isStranded(claim: NodeClaim): boolean {
  const { state } = readClaimState(claim.meta);
  return !claim.meta.deleting && (state === 'pending' || state === 'draining');
}

/** A state left on a claim by an attempt that has ended elsewhere: it gets what it missed, or is cleared. @design D5-02 */
function sweepClaim(view: PoolView, claim: NodeClaim): Action | undefined {
  const copy = readClaimState(claim.meta);
  if (copy.state !== 'pending' && copy.state !== 'draining') return undefined;
  const ended = view.history.lastEnded;
  const missedFailure =
    ended?.claimUid === claim.meta.uid && ended.startedAt === copy.startedAt && ended.step === 'failed';
  if (!missedFailure) return clearState(claim);
  return annotateClaim(
    claim,
    failedAnnotations(copy.startedAt, view.history.lastFailureAt ?? view.at, copy.retryCount + 1),
    'goOn',
  );
}
