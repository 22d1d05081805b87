import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameStatus } from '../../../lib/domain/policy/policy-status.ts';

/** The same text for the same value, whatever the order of its keys. */
const inOrder = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, reversed(member)] as const)
      .reverse(),
  );
}

describe('two statuses say the same', () => {
  it('when their JSON does, whatever the order of its keys (D2-07)', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(sameStatus(a, b)).toBe(inOrder(a) === inOrder(b));
        const again: unknown = JSON.parse(JSON.stringify(a));
        expect(sameStatus(again, reversed(again))).toBe(true);
      }),
    );
  });

  it.each([
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: [] }, { a: {} }, false],
    [{ a: null }, {}, false],
    [{ a: [1, 2] }, { a: [2, 1] }, false],
    [{ toString: 1 }, { valueOf: 1 }, false],
    [undefined, {}, false],
  ])('%j and %j: %s (D2-07)', (a, b, same) => {
    expect([sameStatus(a, b), sameStatus(b, a)]).toEqual([same, same]);
  });
});
