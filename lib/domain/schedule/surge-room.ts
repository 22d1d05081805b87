/**
 * Whether a pool has room for a surge at all: its limits, and capacity that only the old node holds.
 *
 * A look at the pool as a whole. Whether one candidate's Pods fit is asked again at its start.
 */

import type { NodeClaim } from '../cluster/node-claim.ts';
import type { NodePool } from '../cluster/node-pool.ts';
import { label } from '../cluster/object-ref.ts';
import type { Quantity } from '../cluster/quantity.ts';
import { addQuantities, formatQuantity, nothing, subtractQuantities, units } from '../cluster/quantity.ts';
import type { ResourceList } from '../cluster/resource-list.ts';
import type { RotationPolicy } from '../policy/rotation-policy.ts';
import type { Finding } from './finding.ts';
import { warn } from './finding.ts';

const capacityType = 'karpenter.sh/capacity-type';
/** What one node counts against `spec.limits.nodes`. */
const oneNode = units(1);

/** @design R3.2-30, D4-03 */
export function surgeFindings(policy: RotationPolicy, pool: NodePool, present: readonly NodeClaim[]): Finding[] {
  const found: Finding[] = [];
  const pinned = policy.surge.matchNodeRequirements.required.includes(capacityType);
  const reserved = pinned ? present.filter(isReserved).map(({ meta }) => meta.name) : [];
  if (reserved.length > 0) {
    found.push(
      warn(
        'ReservedPinned',
        `${reserved.length} of ${present.length} nodes run on reserved capacity (${reserved.slice(0, 3).join(', ')}${reserved.length > 3 ? ', …' : ''}) and ${capacityType} is a required key: their replacement needs the very reservation that they hold; move the key to matchNodeRequirements.preferred`,
      ),
    );
  }
  const short = missingRoom(pool, present);
  if (short !== undefined) {
    found.push(
      warn(
        'NoHeadroom',
        `spec.limits leave no room for another node, not even the smallest of the pool: ${short}; raise the limits or no surge is possible`,
      ),
    );
  }
  return found;
}

function isReserved({ meta, requirements }: NodeClaim): boolean {
  const labelled = label(meta, capacityType);
  if (labelled !== undefined) return labelled === 'reserved';
  const required = requirements.find(({ key, operator }) => key === capacityType && operator === 'In');
  return required !== undefined && required.values.length > 0 && required.values.every((value) => value === 'reserved');
}

/**
 * What is short for the claim that comes closest to fitting; undefined as soon as one fits, or nothing is known.
 *
 * Limits are held against capacity, as Karpenter does.
 */
function missingRoom({ limits, used }: NodePool, present: readonly NodeClaim[]): string | undefined {
  let least: ReturnType<typeof shortfall> | undefined;
  for (const { capacity } of present) {
    if (capacity === undefined) continue;
    const found = shortfall(limits, used, capacity);
    if (found.short.length === 0) return undefined;
    if (least === undefined || found.missing < least.missing) least = found;
  }
  return least?.short.join(', ');
}

function shortfall(limits: ResourceList, used: ResourceList, capacity: ResourceList) {
  const short: string[] = [];
  let missing = nothing;
  for (const [name, limit] of limits) {
    const remaining = subtractQuantities(limit, used.get(name) ?? nothing);
    const needed = name === 'nodes' ? oneNode : (capacity.get(name) ?? nothing);
    if (needed <= remaining) continue;
    short.push(
      `${name} needs ${spelled(name, needed)}, ${spelled(name, remaining)} of ${spelled(name, limit)} are left`,
    );
    missing = addQuantities(missing, subtractQuantities(needed, remaining));
  }
  return { short, missing };
}

const spelled = (name: string, amount: Quantity): string =>
  formatQuantity(amount, name === 'memory' || name === 'ephemeral-storage' ? 'binary' : 'decimal');
