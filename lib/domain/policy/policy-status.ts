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

/** Whether both say the same, whatever the order of their keys. Both are plain JSON. */
export function sameStatus(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = keysOf(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === keysOf(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameStatus(a[key], b[key]))
  );
}

/** JSON has no undefined: such a member is not there. */
const keysOf = (object: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.keys(object).filter((key) => object[key] !== undefined);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
