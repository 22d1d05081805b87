/**
 * Node selector requirements as Karpenter and Kubernetes write them, and exact set arithmetic over their values.
 *
 * A requirement is a set of label values, finite or everything but a few, and of the answer to "may the label be
 * missing?". Numeric bounds are kept as bounds: a comparison is never weakened into Exists.
 */
import type { Unreadable } from './object-ref.ts';

export type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt' | 'Gte' | 'Lte';

/** One requirement on one label key. Gte and Lte exist in Karpenter only. */
export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** The values that a label may have. */
export type ValueSet =
  /** Exactly these. */
  | { readonly kind: 'some'; readonly values: ReadonlySet<string>; readonly orMissing: boolean }
  /** Everything but these; within bounds, only whole numbers from `least` to `most`. */
  | {
      readonly kind: 'allBut';
      readonly values: ReadonlySet<string>;
      readonly orMissing: boolean;
      readonly least?: bigint;
      readonly most?: bigint;
    };

export const anyValue: ValueSet = { kind: 'allBut', values: new Set(), orMissing: true };
const noValue: ValueSet = { kind: 'some', values: new Set(), orMissing: false };

/**
 * The values that all requirements on `key` leave; everything when there is none.
 *
 * A comparison whose operand cannot be read allows nothing, as in the scheduler, and is named.
 *
 * @design R3.7-02, R3.7-04
 */
export function valuesAllowed(
  requirements: readonly Requirement[],
  key: string,
): { readonly allowed: ValueSet; readonly unreadable: readonly Unreadable[] } {
  const unreadable: Unreadable[] = [];
  let allowed = anyValue;
  for (const [index, requirement] of requirements.entries()) {
    if (requirement.key !== key) continue;
    const values = valuesOf(requirement);
    if (values === undefined) {
      const text = requirement.values.join(', ');
      const problem = `${key} ${requirement.operator} needs exactly one whole number`;
      unreadable.push({ path: `requirements[${index}].values`, text, problem });
    }
    allowed = intersect(allowed, values ?? noValue);
  }
  return { allowed, unreadable };
}

/** The set of one requirement; undefined when its numeric operand cannot be read. @design R3.7-04 */
export function valuesOf({ operator, values }: Requirement): ValueSet | undefined {
  switch (operator) {
    case 'In':
      return { kind: 'some', values: new Set(values), orMissing: false };
    case 'NotIn':
      return { kind: 'allBut', values: new Set(values), orMissing: true };
    case 'Exists':
      return { kind: 'allBut', values: new Set(), orMissing: false };
    case 'DoesNotExist':
      return { kind: 'some', values: new Set(), orMissing: true };
    case 'Gt':
    case 'Gte':
    case 'Lt':
    case 'Lte': {
      const operand = values.length === 1 ? wholeNumber(values[0] as string) : undefined;
      if (operand === undefined) return undefined;
      const any = { kind: 'allBut', values: new Set<string>(), orMissing: false } as const;
      if (operator === 'Gt') return { ...any, least: operand + 1n };
      if (operator === 'Gte') return { ...any, least: operand };
      return { ...any, most: operator === 'Lt' ? operand - 1n : operand };
    }
  }
}

/** What both sets have in common. */
export function intersect(a: ValueSet, b: ValueSet): ValueSet {
  const orMissing = a.orMissing && b.orMissing;
  if (a.kind === 'some') return { kind: 'some', values: new Set([...a.values].filter((v) => allows(b, v))), orMissing };
  if (b.kind === 'some') return { kind: 'some', values: new Set([...b.values].filter((v) => allows(a, v))), orMissing };
  const least = stricter(a.least, b.least, (x, y) => x > y);
  const most = stricter(a.most, b.most, (x, y) => x < y);
  return {
    kind: 'allBut',
    values: new Set([...a.values, ...b.values]),
    orMissing,
    ...(least === undefined ? {} : { least }),
    ...(most === undefined ? {} : { most }),
  };
}

const stricter = (a: bigint | undefined, b: bigint | undefined, isStricter: (a: bigint, b: bigint) => boolean) =>
  a === undefined || (b !== undefined && isStricter(b, a)) ? b : a;

/** Whether a label with this value satisfies the set; undefined stands for a missing label. */
export function allows(set: ValueSet, value: string | undefined): boolean {
  if (value === undefined) return set.orMissing;
  if (set.kind === 'some') return set.values.has(value);
  if (set.values.has(value)) return false;
  if (set.least === undefined && set.most === undefined) return true;
  const number = wholeNumber(value);
  return number !== undefined && (set.least ?? number) <= number && number <= (set.most ?? number);
}

/**
 * Whether no label satisfies the set, not even a missing one.
 *
 * Between two bounds the whole numbers are counted as Karpenter writes them, without leading zeros.
 */
export function isEmpty(set: ValueSet): boolean {
  if (set.orMissing) return false;
  if (set.kind === 'some') return set.values.size === 0;
  const { least, most } = set;
  if (least === undefined || most === undefined) return false;
  const excluded = [...set.values].filter((value) => {
    const number = wholeNumber(value);
    return number !== undefined && String(number) === value && least <= number && number <= most;
  });
  return most - least + 1n <= BigInt(excluded.length);
}

/** The values of a finite set, sorted; undefined when it is not finite. */
export const listedValues = (set: ValueSet): readonly string[] | undefined =>
  set.kind === 'some' ? [...set.values].sort() : undefined;

/** The set in words, for a message: `a, b`, `any but c`, `whole numbers 5 to 9`, `none`. */
export function describeValues(set: ValueSet): string {
  const list = [...set.values].sort().join(', ');
  if (set.kind === 'some') return list === '' ? 'none' : list;
  const but = list === '' ? '' : ` but ${list}`;
  if (set.least !== undefined && set.most !== undefined) return `whole numbers ${set.least} to ${set.most}${but}`;
  if (set.least !== undefined) return `whole numbers from ${set.least}${but}`;
  if (set.most !== undefined) return `whole numbers up to ${set.most}${but}`;
  return `any${but}`;
}

/** Whole numbers as the scheduler reads them: decimal, signed, 64 bits. */
function wholeNumber(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const number = BigInt(text.replace(/^\+/, ''));
  return number >= -(2n ** 63n) && number < 2n ** 63n ? number : undefined;
}
