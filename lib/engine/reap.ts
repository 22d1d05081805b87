/**
 * Which NodeClaim a failed attempt has induced and may be deleted with it. In doubt none: Karpenter removes what is empty.
 */
import type { NodeClaim } from '../domain/cluster/node-claim.ts';
import { own, refOf } from '../domain/cluster/object-ref.ts';
import type { Pod } from '../domain/cluster/pod.ts';
import { surgeForLabel } from '../domain/rotation/annotation-keys.ts';
import type { AnchoredRotation } from '../domain/rotation/rotation.ts';
import { surgeForValue } from '../domain/surge/placeholder.ts';
import type { Action, Need, Notice } from './decision.ts';
import type { PoolView } from './pool-view.ts';
import { claimOnNode, placeholderOf } from './pool-view.ts';
import { bornDuring } from './surge-host.ts';
import { need } from './writes.ts';

export interface Reap {
  readonly actions: readonly Action[];
  readonly notices: readonly Notice[];
  /** The claim for which every guard held. */
  readonly guarded?: string;
}

const none: Reap = { actions: [], notices: [] };

/** The deletion of the induced claim, when every guard holds. @design R3.8-05, R3.8-06, D7-11 */
export function reap(view: PoolView, rotation: AnchoredRotation): Reap | { readonly need: Need } {
  const tied = tiedClaim(view, rotation);
  if (tied) return reapTied(view, rotation, tied);
  const unregistered = view.claims.filter(
    (claim) =>
      claim.nodeName === undefined &&
      !claim.meta.deleting &&
      bornDuring(rotation, claim) &&
      claim.meta.name !== rotation.claim,
  );
  if (unregistered.length === 0) return none;
  if (unregistered.length > 1) return ambiguous(unregistered);
  const unscheduled = view.snapshot.inspected.unscheduledPods;
  if (unscheduled === undefined) return need({ unscheduledPods: true });
  const others = unscheduled.filter((pod) => !isPlaceholderFor(pod, rotation.claim));
  const [only] = unregistered as [NodeClaim];
  if (others.length > 0 || !carriesKeys(view, rotation, only)) return ambiguous(unregistered);
  return doReap(only);
}

/** The claim that our placeholder is bound to, else the one persisted when it was. The bind wins. */
function tiedClaim(view: PoolView, rotation: AnchoredRotation): NodeClaim | undefined {
  const boundTo = placeholderOf(view.snapshot, rotation.claim)?.nodeName;
  const bound = boundTo === undefined ? undefined : claimOnNode(view.snapshot, boundTo);
  return bound ?? view.claims.find((claim) => claim.meta.name === rotation.surgeClaim);
}

function reapTied(view: PoolView, rotation: AnchoredRotation, claim: NodeClaim): Reap | { readonly need: Need } {
  const induced =
    bornDuring(rotation, claim) && claim.nodePool === view.pool.meta.name && claim.meta.name !== rotation.claim;
  if (!induced || claim.meta.deleting) return none;
  if (claim.nodeName === undefined) return doReap(claim);
  const pods = view.snapshot.inspected.podsOnNode.get(claim.nodeName);
  if (pods === undefined) return need({ podsOnNodes: [claim.nodeName] });
  return pods.every((pod) => isDebris(pod, rotation.claim)) ? doReap(claim) : none;
}

const isPlaceholderFor = (pod: Pod, claimName: string): boolean =>
  own(pod.meta.labels, surgeForLabel) === surgeForValue(claimName);

/** Nothing that anybody would miss: our placeholder, DaemonSet and mirror Pods, finished Pods. */
const isDebris = (pod: Pod, claimName: string): boolean =>
  isPlaceholderFor(pod, claimName) ||
  pod.controllerKind === 'DaemonSet' ||
  pod.controllerKind === 'Node' ||
  pod.phase === 'Succeeded' ||
  pod.phase === 'Failed';

/** A claim launched for our placeholder carries what the placeholder required. */
function carriesKeys(view: PoolView, rotation: AnchoredRotation, claim: NodeClaim): boolean {
  const placeholder = placeholderOf(view.snapshot, rotation.claim);
  const wanted = placeholder?.requiredNodeAffinity[0]?.matchExpressions ?? [];
  return wanted.every(
    (requirement) =>
      claim.requirements.some((have) => have.key === requirement.key) ||
      own(claim.meta.labels, requirement.key) !== undefined,
  );
}

const doReap = (claim: NodeClaim): Reap => ({
  actions: [
    { kind: 'deleteNodeClaim', target: refOf('NodeClaim', claim.meta), because: 'reapSurge', whenRefused: 'goOn' },
  ],
  notices: [],
  guarded: claim.meta.name,
});

const ambiguous = (claims: readonly NodeClaim[]): Reap => ({
  actions: [],
  notices: [
    {
      code: 'SurgeClaimAmbiguous',
      severity: 'warn',
      message:
        `It cannot be told which NodeClaim the failed attempt brought up (${claims.map((claim) => claim.meta.name).join(', ')}), ` +
        'so none is deleted. Karpenter removes it once it is empty.',
    },
  ],
});
