/**
 * A PodDisruptionBudget, read at a start and at a stuck drain to name what blocks.
 */
import type { LabelSelector } from './label-selector.ts';
import type { ObjectMeta, Unreadable } from './object-ref.ts';

export interface DisruptionBudget {
  readonly meta: ObjectMeta;
  /** Absent selects nothing (policy/v1). */
  readonly selector?: LabelSelector;
  /** As written: a number or a percentage. */
  readonly minAvailable?: string;
  readonly maxUnavailable?: string;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  readonly unreadable: readonly Unreadable[];
}
