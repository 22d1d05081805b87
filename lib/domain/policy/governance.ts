/**
 * Which RotationPolicy governs a NodePool: the most specific one that matches, and none when two are equally specific.
 *
 * Validity plays no part in the choice. A policy that cannot be read blocks its pools; it does not hand them to the next.
 */
import { constraintCount, selects } from '../cluster/label-selector.ts';
import type { StringMap } from '../cluster/object-ref.ts';
import type { FieldProblem, PolicyReading, RotationPolicy } from './rotation-policy.ts';
import { metaOf } from './rotation-policy.ts';

export type Governance =
  | { readonly kind: 'none' }
  | { readonly kind: 'governed'; readonly policy: RotationPolicy }
  | { readonly kind: 'invalid'; readonly name: string; readonly problems: readonly FieldProblem[] }
  | { readonly kind: 'conflict'; readonly names: readonly string[] };

/**
 * The governing policy of a pool with these labels. The order of the readings does not matter.
 *
 * @design D2-06, D2-09, D2-03
 */
export function govern(poolLabels: StringMap, readings: readonly PolicyReading[]): Governance {
  const matching = readings.flatMap((reading) => {
    const selector = reading.valid ? reading.policy.nodePoolSelector : reading.nodePoolSelector;
    return selector !== undefined && selects(selector, poolLabels)
      ? [{ reading, constraints: constraintCount(selector) }]
      : [];
  });
  const most = Math.max(...matching.map(({ constraints }) => constraints));
  const top = matching.filter(({ constraints }) => constraints === most).map(({ reading }) => reading);
  const [winner] = top;
  if (winner === undefined) return { kind: 'none' };
  if (top.length > 1) return { kind: 'conflict', names: top.map((reading) => metaOf(reading).name).sort() };
  if (!winner.valid) return { kind: 'invalid', name: winner.meta.name, problems: winner.problems };
  return { kind: 'governed', policy: winner.policy };
}
