/**
 * Requirements on node labels, as Karpenter and a Pod's affinity write them.
 */

import * as z from 'zod';
import type { Unreadable } from '../../domain/cluster/object-ref.ts';
import type { Requirement } from '../../domain/cluster/requirements.ts';
import { valuesOf } from '../../domain/cluster/requirements.ts';

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'] as const;

export const isOperator = (value: unknown): value is Requirement['operator'] =>
  operators.some((operator) => operator === value);

/** One requirement of a node selector, of Karpenter or of a Pod's affinity. */
export const requirement = z
  .object({ key: z.string(), operator: z.enum(operators), values: z.array(z.string()).nullish() })
  .transform(({ key, operator, values }): Requirement => ({ key, operator, values: values ?? [] }));

/** A comparison whose operand is no whole number stays in the list, where it allows nothing, and is named. @design R3.7-04 */
export function nameOddBounds(
  requirements: readonly Requirement[] | null | undefined,
  path: string,
  problems: Unreadable[],
): void {
  for (const requirement of requirements ?? []) {
    if (valuesOf(requirement) !== undefined) continue;
    problems.push({
      path: `${path}[key=${requirement.key}].values`,
      text: requirement.values.join(', '),
      problem: `${requirement.operator} needs exactly one whole number`,
    });
  }
}
