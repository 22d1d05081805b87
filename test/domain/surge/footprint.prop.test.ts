import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Quantity } from '../../../lib/domain/cluster/quantity.ts';
import type { ResourceList } from '../../../lib/domain/cluster/resource-list.ts';
import {
  amountOf,
  exceeding,
  fits,
  maximum,
  minusFloored,
  plus,
  sameAmounts,
} from '../../../lib/domain/cluster/resource-list.ts';
import type { Footprint } from '../../../lib/domain/surge/footprint.ts';
import { footprint } from '../../../lib/domain/surge/footprint.ts';
import { aClaim, aNode, aPod } from '../../support/builders.ts';
import { runs } from '../../support/properties.ts';

const list = (max: bigint): fc.Arbitrary<ResourceList> =>
  fc
    .dictionary(fc.constantFrom('cpu', 'memory', 'nvidia.com/gpu'), fc.bigInt({ min: 0n, max }))
    .map((record) => new Map(Object.entries(record).map(([name, amount]) => [name, amount as Quantity])));

const cases = fc.record({
  sum: list(20n),
  overhead: list(6n),
  allocatable: list(20n),
  ofNode: list(24n),
  wholeNode: fc.boolean(),
});
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

/** What really runs: the drain and the DaemonSets together are no more than the kubelet offers. */
const fitting = cases.map(
  (given): Case => ({ ...given, ofNode: maximum(given.ofNode, plus(given.sum, given.overhead)) }),
);

function sized({ sum, overhead, allocatable, ofNode, wholeNode }: Case): Footprint {
  const claim = aClaim('old', { allocatable });
  const census = {
    counted: [aPod('web')],
    daemonSet: [],
    mirror: [],
    completed: [],
    pinned: [],
    sum,
    daemonSetOverhead: overhead,
    unreadable: [],
  };
  return footprint({ census, claim, node: aNode(claim, { allocatable: ofNode }), wholeNode });
}

test('a clamp never asks for more than the limit of any resource that has one (R3.3-11)', () => {
  fc.assert(
    fc.property(cases, (given) => {
      const { limit, requests, refused } = sized(given);
      if (limit === null || refused !== null) return;
      expect(exceeding(requests, limit).filter((name) => limit.has(name))).toEqual([]);
    }),
  );
});

test('requests and shortfall add up to at least the drain, exactly without a whole node (R3.3-11, R3.3-16)', () => {
  fc.assert(
    fc.property(cases, (given) => {
      const { requests, shortfall, clamped } = sized(given);
      const both = plus(requests, shortfall);
      expect(given.wholeNode ? fits(given.sum, both) : sameAmounts(both, given.sum)).toBe(true);
      expect(clamped).toBe(shortfall.size > 0);
    }),
  );
});

test('a refusal names a resource without room that is asked for, and lowers nothing (R3.3-14)', () => {
  fc.assert(
    fc.property(cases, (given) => {
      const { refused, limit, requests, clamped } = sized(given);
      if (refused === null) return;
      expect([amountOf(limit ?? new Map(), refused), amountOf(requests, refused) > 0n, clamped]).toEqual([
        0n,
        true,
        false,
      ]);
      expect(fits(given.sum, requests)).toBe(true);
    }),
  );
});

test('a whole node together with its DaemonSets never exceeds the allocatable (R3.3-19)', () => {
  fc.assert(
    fc.property(cases, (given) => {
      const { requests, refused, limit } = sized({ ...given, wholeNode: true });
      if (refused !== null || limit === null) return;
      const ceiling = minusFloored(given.allocatable, given.overhead);
      for (const [name, most] of ceiling) expect(amountOf(requests, name) <= most).toBe(true);
    }),
  );
});

test('a drain that fits on its node beside its DaemonSets is never short by more than the band (R3.3-15, D8-04)', () => {
  let clamps = 0;
  fc.assert(
    fc.property(fitting, (given) => {
      expect(fits(plus(given.sum, given.overhead), given.ofNode)).toBe(true);
      const { bandExceeded, shortfall, clamped } = sized(given);
      const band = minusFloored(given.ofNode, given.allocatable);
      expect([bandExceeded, exceeding(shortfall, band)]).toEqual([[], []]);
      clamps += clamped ? 1 : 0;
    }),
    runs(1000),
  );
  expect(clamps).toBeGreaterThan(0);
});
