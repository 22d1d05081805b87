/**
 * How much a placeholder asks for: what the drain asks for, raised to a whole node where the policy wants that, then
 * clamped to what Karpenter believes a node of this kind can offer.
 *
 * Both bounds are estimates taken from the candidate alone. Other nodes of its type say nothing here.
 */
import type { Node } from '../cluster/node.ts';
import type { NodeClaim } from '../cluster/node-claim.ts';
import type { Quantity } from '../cluster/quantity.ts';
import { larger, nothing, smaller, subtractQuantities } from '../cluster/quantity.ts';
import type { ResourceList } from '../cluster/resource-list.ts';
import { amountOf, exceeding, minusFloored, noResources } from '../cluster/resource-list.ts';
import type { Census } from './reschedulable.ts';

export interface Footprint {
  /** What the Pods to move ask for. */
  readonly sum: ResourceList;
  /** What the claim's allocatable leaves beside the DaemonSets; null when the claim states none. */
  readonly limit: ResourceList | null;
  /** What the placeholder asks for. */
  readonly requests: ResourceList;
  /** Whether any resource was lowered to the limit. */
  readonly clamped: boolean;
  /** By how much, for the lowered resources only. */
  readonly shortfall: ResourceList;
  /** The first resource whose limit leaves nothing although it is asked for; the clamp is then off altogether. */
  readonly refused: string | null;
  /** Resources whose shortfall is larger than the measured band, sorted. */
  readonly bandExceeded: readonly string[];
}

/** @design R3.3-05, R3.3-11, R3.3-12, R3.3-16 */
export function footprint(input: {
  readonly census: Census;
  readonly claim: NodeClaim;
  readonly node: Node;
  readonly wholeNode: boolean;
}): Footprint {
  const { census, claim, node } = input;
  const allocatable = claim.allocatable;
  const unclamped = { sum: census.sum, clamped: false, shortfall: noResources, refused: null, bandExceeded: [] };
  if (allocatable === undefined || allocatable.size === 0) return { ...unclamped, limit: null, requests: census.sum };
  const limit = minusFloored(allocatable, census.daemonSetOverhead);
  const raises = input.wholeNode && census.counted.length > 0;
  const wanted = raises ? raised(census.sum, limit, allocatable) : census.sum;
  const refused = [...wanted.keys()].sort().find((name) => amountOf(wanted, name) > 0n && limit.get(name) === nothing);
  if (refused !== undefined) return { ...unclamped, limit, requests: wanted, refused };
  const { requests, shortfall } = clamp(wanted, limit);
  return {
    ...unclamped,
    limit,
    requests,
    clamped: shortfall.size > 0,
    shortfall,
    bandExceeded: exceeding(shortfall, band(node.allocatable, allocatable)),
  };
}

/** A resource that the limit does not name has no known ceiling and stays as it is. @design R3.3-11 */
function clamp(wanted: ResourceList, limit: ResourceList): { requests: ResourceList; shortfall: ResourceList } {
  const requests = new Map<string, Quantity>();
  const shortfall = new Map<string, Quantity>();
  for (const [name, amount] of wanted) {
    const ceiling = limit.get(name) ?? amount;
    requests.set(name, smaller(amount, ceiling));
    if (amount > ceiling) shortfall.set(name, subtractQuantities(amount, ceiling));
  }
  return { requests, shortfall };
}

/** The two that every node is packed by. Other resources are raised only where the drain asks for them. */
const packedBy: readonly string[] = ['cpu', 'memory'];

/**
 * The drain, raised to a whole node.
 *
 * Where the limit leaves no cpu or memory at all, the node's whole allocatable is asked for instead, so that the clamp
 * refuses: raised to nothing, the placeholder would be empty, fit anywhere and reserve nothing.
 *
 * @design R3.3-16, R3.3-17, R3.3-19
 */
function raised(sum: ResourceList, limit: ResourceList, allocatable: ResourceList): ResourceList {
  const names = new Set([...packedBy, ...[...sum].filter(([, amount]) => amount > 0n).map(([name]) => name)]);
  names.delete('pods');
  const wanted = new Map(sum);
  for (const name of names) {
    const ceiling = limit.get(name);
    if (ceiling === undefined) continue;
    const asked = amountOf(sum, name);
    if (ceiling > 0n) wanted.set(name, larger(asked, ceiling));
    else if (asked === nothing) wanted.set(name, amountOf(allocatable, name));
  }
  return wanted;
}

/** What the kubelet offers beyond Karpenter's estimate: the most that a clamp can take away. @design D8-04 */
const band = (ofNode: ResourceList, ofClaim: ResourceList): ResourceList => minusFloored(ofNode, ofClaim);
