import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Quantity } from '../../../lib/domain/cluster/quantity.ts';
import { formatQuantity, parseQuantity } from '../../../lib/domain/cluster/quantity.ts';

const quantities = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map((amount) => amount as Quantity);
const roundQuantities = fc
  .tuple(fc.bigInt({ min: -5_000n, max: 5_000n }), fc.nat(12), fc.constantFrom(10n, 1024n))
  .map(([mantissa, power, base]) => (mantissa * base ** BigInt(power)) as Quantity);

const powers = {
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  '': [10n, 0],
  k: [10n, 3],
  G: [10n, 9],
  E: [10n, 18],
  Ki: [1024n, 1],
  Gi: [1024n, 3],
  Ei: [1024n, 6],
} as const;

describe('quantities', () => {
  test('what is written reads back as the same quantity, in both styles (D8-01)', () => {
    fc.assert(
      fc.property(
        fc.oneof(quantities, roundQuantities),
        fc.constantFrom('decimal' as const, 'binary' as const),
        (quantity, style) => {
          expect(parseQuantity(formatQuantity(quantity, style))).toBe(quantity);
        },
      ),
    );
  });

  test('canonical text has no fraction and no larger suffix that would keep it whole (D8-01)', () => {
    fc.assert(
      fc.property(roundQuantities, (quantity) => {
        const text = formatQuantity(quantity);
        expect(text).toMatch(/^-?\d+[numkMGTPE]?$/);
        if (quantity !== 0n && !text.endsWith('E')) expect(text).not.toMatch(/000[numkMGTPE]?$/);
      }),
    );
  });

  test('reading equals rational arithmetic, rounded away from zero (D8-01)', () => {
    const suffixes = fc.constantFrom(...(Object.keys(powers) as (keyof typeof powers)[]));
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.nat(10 ** 6),
        fc.stringMatching(/^\d{0,15}$/),
        suffixes,
        (negative, whole, fraction, suffix) => {
          const [base, power] = powers[suffix];
          const scaled = BigInt(whole + fraction) * 10n ** 9n * (power > 0 ? base ** BigInt(power) : 1n);
          const divisor = 10n ** BigInt(fraction.length) * (power < 0 ? base ** BigInt(-power) : 1n);
          const expected = (scaled + divisor - 1n) / divisor;
          const text = `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}${suffix}`;
          expect(parseQuantity(text)).toBe(negative ? -expected : expected);
        },
      ),
    );
  });

  test('no text makes reading fail or take long (D8-01)', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[+-]?\d*\.?\d*[eE]?[+-]?\d*[numkMGTPE]?i?$/)), (text) => {
        expect(['bigint', 'undefined']).toContain(typeof parseQuantity(text));
      }),
    );
  });
});
