import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Quantity } from '../../../lib/domain/cluster/quantity.ts';
import type { ResourceList } from '../../../lib/domain/cluster/resource-list.ts';
import {
  fits,
  formatResourceList,
  maximum,
  minimum,
  minus,
  minusFloored,
  parseResourceList,
  plus,
  sameAmounts,
  scale,
  total,
} from '../../../lib/domain/cluster/resource-list.ts';

const lists: fc.Arbitrary<ResourceList> = fc
  .dictionary(
    fc.constantFrom('cpu', 'memory', 'pods', 'nvidia.com/gpu', 'hugepages-2Mi'),
    fc.bigInt({ min: 0n, max: 10n ** 24n }),
  )
  .map((record) => new Map(Object.entries(record).map(([name, amount]) => [name, amount as Quantity])));

test('addition is commutative, associative and undone by subtraction (D8-01)', () => {
  fc.assert(
    fc.property(lists, lists, lists, (a, b, c) => {
      expect(sameAmounts(plus(a, b), plus(b, a))).toBe(true);
      expect(sameAmounts(plus(plus(a, b), c), plus(a, plus(b, c)))).toBe(true);
      expect(sameAmounts(minus(plus(a, b), b), a)).toBe(true);
      expect(sameAmounts(scale(a, 3), total([a, a, a]))).toBe(true);
    }),
  );
});

test('the minimum fits into both lists and both fit into the maximum (D8-01)', () => {
  fc.assert(
    fc.property(lists, lists, (a, b) => {
      expect([fits(minimum(a, b), a), fits(minimum(a, b), b), fits(a, maximum(a, b)), fits(b, maximum(a, b))]).toEqual([
        true,
        true,
        true,
        true,
      ]);
      expect([...minusFloored(a, b).values()].every((amount) => amount >= 0n)).toBe(true);
    }),
  );
});

test('a list reads back as it was written (D8-01)', () => {
  fc.assert(
    fc.property(lists, (list) => {
      const { list: again, unreadable } = parseResourceList(formatResourceList(list), 'requests');
      expect(unreadable).toEqual([]);
      expect(new Map([...again].sort())).toEqual(new Map([...list].sort()));
    }),
  );
});
