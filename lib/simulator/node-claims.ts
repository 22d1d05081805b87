/**
 * What a NodeClaim stands for: its pool, its Node, the offering it will be launched as, and the daemons that it must carry.
 */
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { total } from '../domain/cluster/resource-list.ts';
import type { Offering } from './instance-types.ts';
import { amounts, offeringsOf } from './instance-types.ts';
import type {
  ClaimObject,
  ClaimSpec,
  NodeObject,
  PodObject,
  RawTaint,
  Strings,
  WorkloadObject,
} from './kube-object.ts';
import { isDeleting, labelOf } from './kube-object.ts';
import { hasRoomFor } from './node-room.ts';
import type { ObjectStore } from './object-store.ts';
import { needsOf, refusedTaints, satisfies, selectorHolds } from './pod-needs.ts';
import { luckOf } from './random.ts';
import type { WorldState } from './world-state.ts';

export const nodePoolLabel = 'karpenter.sh/nodepool';
export const terminationFinalizer = 'karpenter.sh/termination';
export const terminationTimestamp = 'karpenter.sh/nodeclaim-termination-timestamp';
export const doNotDisrupt = 'karpenter.sh/do-not-disrupt';
export const disruptedTaint: RawTaint = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };

export const poolOf = (claim: ClaimObject): string => labelOf(claim, nodePoolLabel) ?? '';

export const nodeOf = (store: ObjectStore, claim: ClaimObject): NodeObject | undefined =>
  claim.status.nodeName === undefined
    ? undefined
    : (store.get('Node', claim.status.nodeName) as NodeObject | undefined);

/** NodeClaims of a pool that are not on their way out. */
export const livingClaims = (store: ObjectStore, pool: string): readonly ClaimObject[] =>
  store.all<ClaimObject>('NodeClaim').filter((claim) => poolOf(claim) === pool && !isDeleting(claim));

export const hasTaint = (node: NodeObject, key: string): boolean =>
  (node.spec.taints ?? []).some((taint) => taint.key === key);

/** The labels of every node of this template: its own, the pool's, and requirements on keys that no offering knows. */
export function templateLabels(pool: string, labels: Strings | undefined, spec: ClaimSpec): Strings {
  const custom = (spec.requirements ?? []).filter(({ operator, values }) => operator === 'In' && values?.length);
  return {
    ...Object.fromEntries(custom.map(({ key, values }) => [key, (values as readonly string[])[0] as string])),
    ...labels,
    [nodePoolLabel]: pool,
  };
}

/** What an offering's node would be labelled; the offering's own labels win over a guess from a requirement. */
export const nodeLabels = (offering: Offering, template: Strings): Strings => ({ ...template, ...offering.labels });

/** The offerings that the template's requirements leave. */
export function offeringsFor(world: WorldState, template: Strings, spec: ClaimSpec): readonly Offering[] {
  return world.instanceTypes
    .flatMap(offeringsOf)
    .filter((offering) => satisfies(spec.requirements ?? [], nodeLabels(offering, template)));
}

/** The cheapest offering that the claim allows and that can carry it; zones of one price by the claim's luck. */
export function offeringOf(world: WorldState, claim: ClaimObject): Offering | undefined {
  const template = templateLabels(poolOf(claim), claim.metadata.labels, claim.spec);
  const needed = amounts(claim.spec.resources?.requests ?? {});
  const able = offeringsFor(world, template, claim.spec).filter(({ type }) => hasRoomFor(needed, type.allocatable));
  const cheapest = Math.min(...able.map(({ price }) => price));
  const equal = able.filter(({ price }) => price === cheapest);
  return equal[Math.floor(luckOf(claim.metadata.uid) * equal.length)];
}

/** What the DaemonSets will take on a node with these labels and taints. */
export function daemonOverhead(
  store: ObjectStore,
  labels: Strings,
  taints: readonly RawTaint[],
  besides: readonly PodObject[] = [],
): ResourceList {
  const running = new Set(besides.map((pod) => pod.metadata.ownerReferences?.[0]?.name));
  const due = store.all<WorkloadObject>('DaemonSet').filter((daemon) => !running.has(daemon.metadata.name));
  const pods = due.map((daemon) =>
    needsOf({ ...daemon, spec: daemon.spec.template.spec, status: {} } as unknown as PodObject),
  );
  return total(
    pods
      .filter((needs) => selectorHolds(needs, labels) && refusedTaints(needs, taints).length === 0)
      .map((needs) => needs.requests),
  );
}
