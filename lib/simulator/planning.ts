/**
 * Karpenter's planning of one batch of Pods: existing nodes first, then claims planned in the same batch, then new ones.
 *
 * Priority plays no part and preemption is not foreseen: whatever is bound to a node is used room. A Pod's heaviest
 * preference counts as a requirement until it cannot be met.
 */

import { units } from '../domain/cluster/quantity.ts';
import type { ResourceList } from '../domain/cluster/resource-list.ts';
import { amountOf, maximum, minus, noResources, plus, total } from '../domain/cluster/resource-list.ts';
import type { Offering } from './instance-types.ts';
import { amounts } from './instance-types.ts';
import type { ClaimObject, PodObject, PoolObject, RawRequirement, RawTaint, RawTerm, Strings } from './kube-object.ts';
import { isDeleting, isTrue } from './kube-object.ts';
import {
  daemonOverhead,
  disruptedTaint,
  hasTaint,
  isOnSale,
  livingClaims,
  nodeLabels,
  nodeOf,
  offeringOf,
  offeringsFor,
  poolOf,
  templateLabels,
} from './node-claims.ts';
import { hasRoomFor, roomOn } from './node-room.ts';
import type { Needs } from './pod-needs.ts';
import { needsOf, refusedTaints, satisfies, selectorHolds, termMatches } from './pod-needs.ts';
import type { WorldState } from './world-state.ts';

/** A node, or a claim that has none yet, with what is left of it. */
interface Place {
  readonly name: string;
  readonly labels: Strings;
  readonly taints: readonly RawTaint[];
  room: ResourceList;
}

export interface NewClaim {
  readonly pool: PoolObject;
  readonly template: Strings;
  /** Every offering that can still carry all of its Pods. */
  offerings: readonly Offering[];
  requests: ResourceList;
}

export interface PlanOptions {
  /** Plans as if this claim and its node were gone, and trusts initialized nodes only, as a disruption does. */
  readonly without?: ClaimObject;
}

export interface Plan {
  readonly newClaims: readonly NewClaim[];
  /** Existing places that were given a Pod. */
  readonly nominated: ReadonlySet<string>;
  /** Pods that fit nowhere. */
  readonly unplaced: readonly PodObject[];
}

/** The terms that count for a Pod at one stage of relaxing: all of them as if required. */
type Demand = readonly RawTerm[];

export function plan(world: WorldState, pods: readonly PodObject[], { without }: PlanOptions = {}): Plan {
  const places = placesOf(world, without);
  const pools = openPools(world).map((pool) => ({ pool, left: limitsLeft(world, pool, without) }));
  const unplaced: PodObject[] = [];
  const newClaims: NewClaim[] = [];
  const nominated = new Set<string>();
  for (const pod of bySize(pods)) {
    const needs = needsOf(pod);
    const placed = demandsOf(needs).some((demand) => {
      const place = places.find((candidate) => accepts(candidate, needs, demand));
      if (place) {
        place.room = minus(place.room, needs.requests);
        nominated.add(place.name);
        return true;
      }
      if (newClaims.some((claim) => joins(world, claim, needs, demand))) return true;
      const opened = openClaim(world, pools, needs, demand);
      if (opened) newClaims.push(opened);
      return opened !== undefined;
    });
    if (!placed) unplaced.push(pod);
  }
  return { newClaims, nominated, unplaced };
}

/** One more node of a static pool; undefined when its limit of nodes, or the cloud, has none left. */
export function staticClaim(world: WorldState, pool: PoolObject): NewClaim | undefined {
  const { spec, metadata } = pool.spec.template;
  const template = templateLabels(pool.metadata.name, metadata?.labels, spec);
  const left = limitsLeft(world, pool, undefined);
  const offerings = offeringsFor(world, template, spec).filter(
    (offering) => isOnSale(world, offering) && withinLimits(left, offering),
  );
  return offerings.length === 0 ? undefined : { pool, template, offerings, requests: noResources };
}

const bySize = (pods: readonly PodObject[]): readonly PodObject[] => {
  const size = (pod: PodObject, resource: string): bigint => amountOf(needsOf(pod).requests, resource);
  const order = (a: bigint, b: bigint): number => (a === b ? 0 : a > b ? -1 : 1);
  return pods.toSorted(
    (a, b) =>
      order(size(a, 'cpu'), size(b, 'cpu')) ||
      order(size(a, 'memory'), size(b, 'memory')) ||
      (a.metadata.name < b.metadata.name ? -1 : 1),
  );
};

/** Alternatives of the required terms are given up first, then the preferences, heaviest first. */
function demandsOf(needs: Needs): readonly Demand[] {
  const required: readonly Demand[] =
    needs.requiredTerms.length === 0 ? [[]] : needs.requiredTerms.map((term) => [term]);
  const preferred: readonly Demand[] = [...needs.preferences.map(({ term }) => [term]), []];
  const [first = []] = preferred;
  const last = required.at(-1) ?? [];
  return [...required.map((terms) => [...terms, ...first]), ...preferred.slice(1).map((terms) => [...last, ...terms])];
}

const meets = (labels: Strings, name: string, needs: Needs, demand: Demand): boolean =>
  selectorHolds(needs, labels) && demand.every((term) => termMatches(term, labels, name));

const accepts = (place: Place, needs: Needs, demand: Demand): boolean =>
  hasRoomFor(needs.requests, place.room) &&
  refusedTaints(needs, place.taints).length === 0 &&
  meets(place.labels, place.name, needs, demand);

function placesOf(world: WorldState, without: ClaimObject | undefined): readonly Place[] {
  const { store } = world;
  return store.all<ClaimObject>('NodeClaim').flatMap((claim): Place[] => {
    if (isDeleting(claim) || claim.metadata.uid === without?.metadata.uid) return [];
    if (without && !isTrue(claim, 'Initialized')) return [];
    const node = nodeOf(store, claim);
    if (!node) return inFlight(world, claim);
    if (isDeleting(node) || hasTaint(node, disruptedTaint.key)) return [];
    const name = node.metadata.name;
    const labels = node.metadata.labels ?? {};
    const passing = (taint: RawTaint): boolean =>
      taint.key === 'node.kubernetes.io/not-ready' && !isTrue(claim, 'Initialized');
    const taints = (world.seen(node).spec.taints ?? []).filter((taint) => !passing(taint));
    return [
      {
        name,
        labels,
        taints,
        room: minus(roomOn(store, node), daemonOverhead(store, labels, taints, store.podsOn(name))),
      },
    ];
  });
}

function inFlight(world: WorldState, claim: ClaimObject): Place[] {
  const offering = offeringOf(world, claim);
  if (!offering) return [];
  const labels = nodeLabels(offering, templateLabels(poolOf(claim), claim.metadata.labels, claim.spec));
  const taints = claim.spec.taints ?? [];
  const room = minus(offering.type.allocatable, daemonOverhead(world.store, labels, taints));
  return [{ name: claim.metadata.name, labels, taints, room }];
}

/** Dynamic, ready, not being deleted; the heaviest first. */
function openPools({ store }: WorldState): readonly PoolObject[] {
  const open = store
    .all<PoolObject>('NodePool')
    .filter((pool) => pool.spec.replicas === undefined && !isDeleting(pool) && isTrue(pool, 'Ready'));
  return open.toSorted((a, b) => (b.spec.weight ?? 0) - (a.spec.weight ?? 0));
}

interface PoolRoom {
  readonly pool: PoolObject;
  left: ResourceList;
}

/** Limits minus what the pool's claims that are not being deleted have as capacity; only limited resources are named. */
function limitsLeft(world: WorldState, pool: PoolObject, without: ClaimObject | undefined): ResourceList {
  const limits = amounts(pool.spec.limits ?? {});
  if (limits.size === 0) return noResources;
  const counted = livingClaims(world.store, pool.metadata.name).filter(
    (claim) => claim.metadata.uid !== without?.metadata.uid,
  );
  const used = total(counted.map((claim) => capacityOf(world, claim)));
  return new Map([...limits].map(([resource]) => [resource, amountOf(minus(limits, used), resource)]));
}

/** With the node itself as `nodes`: 1. */
export function capacityOf(world: WorldState, claim: ClaimObject): ResourceList {
  const launched = claim.status.capacity;
  const capacity = launched ? amounts(launched) : offeringOf(world, claim)?.type.capacity;
  return new Map([...(capacity ?? []), ['nodes', units(1)]]);
}

const withinLimits = (left: ResourceList, { type }: Offering): boolean =>
  [...left].every(
    ([resource, amount]) => (resource === 'nodes' ? units(1) : amountOf(type.capacity, resource)) <= amount,
  );

const carries = (
  world: WorldState,
  claim: Pick<NewClaim, 'pool' | 'template'>,
  offering: Offering,
  requests: ResourceList,
): boolean => {
  const taints = claim.pool.spec.template.spec.taints ?? [];
  const overhead = daemonOverhead(world.store, nodeLabels(offering, claim.template), taints);
  return hasRoomFor(plus(requests, overhead), offering.type.allocatable);
};

/** The host name of a node to come is unknown, so an exclusion of host names holds for it. */
const remaining = (
  world: WorldState,
  claim: NewClaim,
  needs: Needs,
  demand: Demand,
  requests: ResourceList,
): readonly Offering[] =>
  claim.offerings.filter(
    (offering) =>
      meets(nodeLabels(offering, claim.template), '', needs, demand) && carries(world, claim, offering, requests),
  );

function joins(world: WorldState, claim: NewClaim, needs: Needs, demand: Demand): boolean {
  if (refusedTaints(needs, claim.pool.spec.template.spec.taints ?? []).length > 0) return false;
  const requests = plus(claim.requests, needs.requests);
  const offerings = remaining(world, claim, needs, demand, requests);
  if (offerings.length === 0) return false;
  claim.offerings = offerings;
  claim.requests = requests;
  return true;
}

/** A new claim of the first pool that can: the whole instance has to fit under every limit. */
function openClaim(world: WorldState, pools: readonly PoolRoom[], needs: Needs, demand: Demand): NewClaim | undefined {
  for (const entry of pools) {
    const { spec, metadata } = entry.pool.spec.template;
    if (refusedTaints(needs, spec.taints ?? []).length > 0) continue;
    const template = templateLabels(entry.pool.metadata.name, metadata?.labels, spec);
    const affordable = offeringsFor(world, template, spec).filter(
      (offering) => isOnSale(world, offering) && withinLimits(entry.left, offering),
    );
    const claim: NewClaim = { pool: entry.pool, template, offerings: affordable, requests: needs.requests };
    const offerings = remaining(world, claim, needs, demand, needs.requests);
    if (offerings.length === 0) continue;
    const largest = offerings.map(({ type }) => type.capacity).reduce(maximum);
    const spent = minus(entry.left, new Map([...largest, ['nodes', units(1)]]));
    entry.left = new Map([...entry.left].map(([resource]) => [resource, amountOf(spent, resource)]));
    return { ...claim, offerings };
  }
  return undefined;
}

const restricted = (key: string): boolean =>
  key === 'kubernetes.io/hostname' ||
  (/(^|\.)karpenter\.sh\//.test(key) && key !== 'karpenter.sh/nodepool' && key !== 'karpenter.sh/capacity-type');

/** A bound is one whole number of zero or more, or Karpenter refuses it. */
const boundIsOdd = ({ operator, values = [] }: RawRequirement): boolean =>
  ['Gt', 'Lt', 'Gte', 'Lte'].includes(operator) && !(values.length === 1 && /^\d+$/.test(values[0] as string));

/** Karpenter ignores a Pod that requires a host name, a field, an odd bound, or a label that is Karpenter's own business. */
export function isPlannable(pod: PodObject): boolean {
  const { nodeSelector, requiredTerms } = needsOf(pod);
  const expressions = requiredTerms.flatMap((term) => term.matchExpressions ?? []);
  const fields = requiredTerms.some((term) => (term.matchFields ?? []).length > 0);
  if (fields || expressions.some(boundIsOdd)) return false;
  return ![...Object.keys(nodeSelector), ...expressions.map(({ key }) => key)].some(restricted);
}

/** The requirements of a claim: the template's, with what the remaining offerings still allow spelled out. */
export function requirementsOf(
  claim: NewClaim,
): readonly { key: string; operator: string; values?: readonly string[] }[] {
  const keys = [
    'node.kubernetes.io/instance-type',
    'topology.kubernetes.io/zone',
    'kubernetes.io/arch',
    'karpenter.sh/capacity-type',
  ];
  const spelled = keys.map((key) => ({
    key,
    operator: 'In',
    values: [...new Set(claim.offerings.map((offering) => offering.labels[key] as string))].sort(),
  }));
  const others = (claim.pool.spec.template.spec.requirements ?? []).filter(({ key }) => !keys.includes(key));
  const pool = { key: 'karpenter.sh/nodepool', operator: 'In', values: [claim.pool.metadata.name] };
  return [...spelled, ...others, pool].filter((requirement) =>
    satisfies([requirement], { ...claim.template, ...claim.offerings[0]?.labels }),
  );
}
