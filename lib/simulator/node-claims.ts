/**
 * What a NodeClaim stands for: its pool, its Node, the offering it will be launched as, and the daemons that it must carry.
 */
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { total } from '../domain/cluster/resource-list.ts';
import { add } from '../domain/time.ts';
import type { Offering } from './instance-types.ts';
import { amounts, offeringsOf, reservedOffering } from './instance-types.ts';
import type {
  ClaimObject,
  ClaimSpec,
  NodeObject,
  PodObject,
  RawTaint,
  Strings,
  WorkloadObject,
} from './kube-object.ts';
import { isDeleting, isTrue, labelOf } from './kube-object.ts';
import { hasRoomFor } from './node-room.ts';
import type { ObjectStore } from './object-store.ts';
import { needsOf, refusedTaints, satisfies, selectorHolds } from './pod-needs.ts';
import { luckOf } from './random.ts';
import type { WorldState } from './world-state.ts';

export const nodePoolLabel = 'karpenter.sh/nodepool';
const instanceTypeLabel = 'node.kubernetes.io/instance-type';
const zoneLabel = 'topology.kubernetes.io/zone';
const capacityTypeLabel = 'karpenter.sh/capacity-type';
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

/** Everything that the cloud sells at all: what is reserved besides what anybody can have. */
function everyOffering({ instanceTypes, cloud }: WorldState): readonly Offering[] {
  const reserved = cloud.reservations.flatMap(({ zone, instanceType }) => {
    const type = instanceTypes.find(({ name }) => name === instanceType);
    return type ? [reservedOffering(type, zone)] : [];
  });
  return [...reserved, ...instanceTypes.flatMap(offeringsOf)];
}

/** Whether Karpenter can count on the offering: not found short just now, and not a reservation that is used up. */
export function isOnSale(world: WorldState, offering: Offering): boolean {
  if ((world.shortUntil.get(keyOf(offering)) ?? world.now) > world.now) return false;
  const { labels, type } = offering;
  if (labels[capacityTypeLabel] !== 'reserved') return true;
  const zone = labels[zoneLabel];
  const alike = world.store
    .all<ClaimObject>('NodeClaim')
    .filter(
      (claim) =>
        labelOf(claim, capacityTypeLabel) === 'reserved' &&
        labelOf(claim, zoneLabel) === zone &&
        labelOf(claim, instanceTypeLabel) === type.name,
    );
  const bought = world.cloud.reservations.find(
    (reservation) => reservation.zone === zone && reservation.instanceType === type.name,
  );
  return alike.length < (bought?.count ?? 0);
}

const keyOf = ({ labels }: Offering): string =>
  `${labels[instanceTypeLabel]}/${labels[zoneLabel]}/${labels[capacityTypeLabel]}`;

/** The offering was asked for in vain; for a while Karpenter does not count on it. */
export function noteShortage(world: WorldState, offering: Offering): void {
  world.shortUntil.set(keyOf(offering), add(world.now, world.shortageMemory));
}

/** The offerings that the template's requirements leave. */
export function offeringsFor(world: WorldState, template: Strings, spec: ClaimSpec): readonly Offering[] {
  return everyOffering(world).filter((offering) => satisfies(spec.requirements ?? [], nodeLabels(offering, template)));
}

/** What the claim was launched as, or what a launch would try first. */
export function offeringOf(world: WorldState, claim: ClaimObject): Offering | undefined {
  if (!isTrue(claim, 'Launched')) return launchChoices(world, claim)[0];
  return everyOffering(world).find(({ labels }) =>
    [instanceTypeLabel, zoneLabel, capacityTypeLabel].every((key) => labels[key] === labelOf(claim, key)),
  );
}

/** The offerings that the claim allows and that can carry it, the cheapest first; zones of one price by the claim's luck. */
export function launchChoices(world: WorldState, claim: ClaimObject): readonly Offering[] {
  const template = templateLabels(poolOf(claim), claim.metadata.labels, claim.spec);
  const needed = amounts(claim.spec.resources?.requests ?? {});
  const able = offeringsFor(world, template, claim.spec).filter(
    (offering) => hasRoomFor(needed, offering.type.allocatable) && isOnSale(world, offering),
  );
  const luck = luckOf(claim.metadata.uid);
  const prices = [...new Set(able.map(({ price }) => price))].sort((a, b) => a - b);
  return prices.flatMap((price) => {
    const equal = able.filter((offering) => offering.price === price);
    const first = Math.floor(luck * equal.length);
    return [...equal.slice(first), ...equal.slice(0, first)];
  });
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
