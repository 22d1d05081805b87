/**
 * The status of a RotationPolicy as it stands in the cluster, times and durations as text. People and `kubectl wait`
 * read it; nothing is decided by it.
 */

export interface PolicyCondition {
  readonly type: 'Ready' | 'Feasible';
  readonly status: 'True' | 'False' | 'Unknown';
  /** One word, or several finding codes joined by commas. */
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  /** When `status` last changed. */
  readonly lastTransitionTime: string;
}

export interface PoolStanding {
  readonly name: string;
  readonly ageThreshold?: string;
  readonly worstCasePeriod?: string;
  readonly guaranteedChances?: number;
  readonly capacity?: number;
  readonly candidates: number;
  readonly shortLead: number;
  readonly nextWindow?: { readonly start: string; readonly end?: string };
  /** Codes, sorted. */
  readonly findings: readonly string[];
}

/** @design D2-07 */
export interface PolicyStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly PolicyCondition[];
  readonly matchedNodePools: number;
  readonly rotatingNodePools: number;
  readonly nodePools: readonly PoolStanding[];
}

/** Whether both say the same, whatever the order of their keys. */
export const sameStatus = (a: unknown, b: unknown): boolean => inOrder(a) === inOrder(b);

const inOrder = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
