import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Operator, Requirement } from '../../../lib/domain/cluster/requirements.ts';
import { allows, intersect, isEmpty, listedValues, valuesAllowed } from '../../../lib/domain/cluster/requirements.ts';

const operators: readonly Operator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'];
const labelValues = fc.constantFrom('a', 'b', '-1', '0', '1', '2', '3', '4', 'x1');
const requirements: fc.Arbitrary<Requirement> = fc.constantFrom(...operators).chain((operator) => {
  const numeric = ['Gt', 'Lt', 'Gte', 'Lte'].includes(operator);
  const values = numeric
    ? fc.tuple(fc.constantFrom('-1', '0', '1', '2', '3', '4'))
    : fc.uniqueArray(labelValues, { maxLength: 4 });
  return values.map((list): Requirement => ({ key: 'k', operator, values: list }));
});

/** The scheduler's reading of one requirement on one label, written without sets. */
function holds({ operator, values }: Requirement, value: string | undefined): boolean {
  const [number, bound] = [Number(value), Number(values[0])];
  const isNumber = value !== undefined && /^-?\d+$/.test(value);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return isNumber && number > bound;
    case 'Gte':
      return isNumber && number >= bound;
    case 'Lt':
      return isNumber && number < bound;
    case 'Lte':
      return isNumber && number <= bound;
  }
}

const samples = ['a', 'b', 'x1', 'zzz', ...Array.from({ length: 12 }, (_, index) => String(index - 4)), undefined];

test('the set of several requirements allows exactly what each of them allows (R3.7-04)', () => {
  fc.assert(
    fc.property(fc.array(requirements, { maxLength: 5 }), (all) => {
      const { allowed } = valuesAllowed(all, 'k');
      for (const value of samples) expect(allows(allowed, value)).toBe(all.every((one) => holds(one, value)));
    }),
  );
});

test('a set is empty exactly when no label satisfies it (D8-08)', () => {
  fc.assert(
    fc.property(fc.array(requirements, { maxLength: 5 }), (all) => {
      const { allowed } = valuesAllowed(all, 'k');
      expect(isEmpty(allowed)).toBe(!samples.some((value) => allows(allowed, value)));
    }),
  );
});

test('the order of requirements does not matter (R3.7-04)', () => {
  fc.assert(
    fc.property(fc.array(requirements, { maxLength: 5 }), (all) => {
      const [there, back] = [valuesAllowed(all, 'k').allowed, valuesAllowed([...all].reverse(), 'k').allowed];
      expect(listedValues(there)).toEqual(listedValues(back));
      expect(samples.map((value) => allows(there, value))).toEqual(samples.map((value) => allows(back, value)));
    }),
  );
});

test('the intersection of two sets allows what both allow (R3.7-02)', () => {
  const sets = fc.array(requirements, { maxLength: 3 }).map((all) => valuesAllowed(all, 'k').allowed);
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      for (const value of samples) expect(allows(intersect(a, b), value)).toBe(allows(a, value) && allows(b, value));
    }),
  );
});

test('an intersection is never wider than either side, in what it allows, lists and bounds (R3.7-02, R3.7-04)', () => {
  const sets = fc.array(requirements, { maxLength: 4 }).map((all) => valuesAllowed(all, 'k').allowed);
  fc.assert(
    fc.property(sets, sets, fc.oneof(fc.string(), fc.integer().map(String)), (a, b, text) => {
      const both = intersect(a, b);
      for (const side of [a, b]) {
        for (const value of [...samples, text]) if (allows(both, value)) expect(allows(side, value)).toBe(true);
        for (const value of listedValues(both) ?? []) expect(allows(side, value)).toBe(true);
        // A finite side leaves a finite intersection, an empty one an empty one.
        if (listedValues(side) !== undefined) expect(listedValues(both)).toBeDefined();
        if (isEmpty(side)) expect(isEmpty(both)).toBe(true);
      }
    }),
  );
});
