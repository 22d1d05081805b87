/**
 * Which of the candidate's properties its replacement has to share: configured keys, resolved to values that the
 * NodePool still allows.
 *
 * The node's label is what is really true. An empty intersection never becomes a term that no node could satisfy.
 */
import type { NodeMetadata } from '../cluster/node.ts';
import type { NodeClaim } from '../cluster/node-claim.ts';
import type { NodePool } from '../cluster/node-pool.ts';
import { label, own } from '../cluster/object-ref.ts';
import type { Requirement, ValueSet } from '../cluster/requirements.ts';
import { allows, describeValues, listedValues, valuesAllowed } from '../cluster/requirements.ts';

const zoneLabel = 'topology.kubernetes.io/zone';

/** A configured key that could not be kept. @design D8-08 */
export interface DroppedRequirement {
  readonly key: string;
  /** The candidate's own value. */
  readonly value: string;
  /** What the NodePool allows, in words; empty when it allows nothing. */
  readonly allowed: readonly string[];
  /** Volumes bound to the zone will not follow. */
  readonly zonal: boolean;
}

/** @design R3.7-01, R3.7-02, R3.7-03, D8-08 */
export function replicatedRequirements(
  keys: readonly string[],
  node: NodeMetadata,
  claim: NodeClaim,
  pool: NodePool,
): { readonly requirements: readonly Requirement[]; readonly dropped: readonly DroppedRequirement[] } {
  const requirements: Requirement[] = [];
  const dropped: DroppedRequirement[] = [];
  for (const key of new Set(keys)) {
    const candidates = valuesOfCandidate(key, node, claim);
    if (candidates.length === 0) continue;
    const { allowed, problems } = allowedByPool(key, pool);
    const values = candidates.filter((value) => allows(allowed, value));
    if (values.length > 0) requirements.push({ key, operator: 'In', values });
    else
      dropped.push({
        key,
        value: candidates.join(', '),
        allowed: inWords(allowed, problems),
        zonal: key === zoneLabel,
      });
  }
  return { requirements, dropped };
}

/** The node's label, else what the claim lists; a claim that only bounds or excludes values names none. @design R3.7-02 */
function valuesOfCandidate(key: string, node: NodeMetadata, claim: NodeClaim): readonly string[] {
  const ofNode = label(node.meta, key);
  if (ofNode !== undefined) return [ofNode];
  return listedValues(valuesAllowed(claim.requirements, key).allowed) ?? [];
}

/** The template's labels are promises of the same kind as its requirements. @design R3.7-04 */
function allowedByPool(key: string, pool: NodePool): { allowed: ValueSet; problems: readonly string[] } {
  const { requirements, labels } = pool.template;
  const stamped = own(labels, key);
  const all =
    stamped === undefined ? requirements : [...requirements, { key, operator: 'In', values: [stamped] } as const];
  const { allowed, unreadable } = valuesAllowed(all, key);
  return { allowed, problems: unreadable.map(({ problem, text }) => `${problem}, not "${text}"`) };
}

function inWords(allowed: ValueSet, problems: readonly string[]): readonly string[] {
  return problems.length > 0 ? problems : (listedValues(allowed) ?? [describeValues(allowed)]);
}
