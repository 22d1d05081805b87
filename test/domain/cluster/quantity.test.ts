import { describe, expect, test } from 'vitest';
import type { Quantity } from '../../../lib/domain/cluster/quantity.ts';
import { formatQuantity, millis, parseQuantity, toNumber, units } from '../../../lib/domain/cluster/quantity.ts';

const nano = (amount: bigint): Quantity => amount as Quantity;
const unit = 10n ** 9n;

describe('reading', () => {
  test.each([
    ['0', 0n],
    ['-0', 0n],
    ['4', 4n * unit],
    ['+4', 4n * unit],
    ['-4', -4n * unit],
    ['004', 4n * unit],
    ['0.5', unit / 2n],
    ['.5', unit / 2n],
    ['5.', 5n * unit],
    ['1n', 1n],
    ['1u', 1_000n],
    ['500m', unit / 2n],
    ['1.5m', 1_500_000n],
    ['2k', 2_000n * unit],
    ['3M', 3n * 10n ** 6n * unit],
    ['1G', 10n ** 9n * unit],
    ['1T', 10n ** 12n * unit],
    ['1P', 10n ** 15n * unit],
    ['1E', 10n ** 18n * unit],
    ['1Ki', 1024n * unit],
    ['1.5Gi', 1536n * 2n ** 20n * unit],
    ['-1Mi', -(2n ** 20n) * unit],
    ['1Ti', 2n ** 40n * unit],
    ['1Pi', 2n ** 50n * unit],
    ['1Ei', 2n ** 60n * unit],
    ['1e3', 1_000n * unit],
    ['1E3', 1_000n * unit],
    ['1e+3', 1_000n * unit],
    ['1.5e3', 1_500n * unit],
    ['129e-3', 129_000_000n],
    ['0e999999999', 0n],
  ])('%s is %s nano-units (D8-01)', (text, expected) => {
    expect(parseQuantity(text)).toBe(expected);
  });

  test.each([
    ['1.1n', 2n],
    ['0.1n', 1n],
    ['-0.1n', -1n],
    ['1e-10', 1n],
    ['0.0000000011', 2n],
    ['1e-999999999', 1n],
    ['-1e-999999999', -1n],
    ['0.9Ki', 921_600_000_000n],
    ['0.000000000001Ki', 2n],
  ])('%s is finer than nano and is rounded away from zero to %s (D8-01)', (text, expected) => {
    expect(parseQuantity(text)).toBe(expected);
  });

  test.each([
    '',
    ' ',
    '1 ',
    '+',
    '-',
    '.',
    '-.',
    'm',
    'Gi',
    '1.1.M',
    '1+1.0M',
    '0.1mi',
    '0.1am',
    'aoeu',
    '.5i',
    '1i',
    '-3.01i',
    '1e',
    '1e+',
    '1e1.5',
    '-3.01e-',
    '1e3Ki',
    '1Kib',
    '1K',
    '1gi',
    '--1',
    '0x1',
    '１',
    'NaN',
    'Infinity',
    '1e101',
  ])('"%s" is no quantity (D8-01)', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });
});

describe('writing', () => {
  test.each([
    [0n, '0'],
    [1n, '1n'],
    [1_000n, '1u'],
    [unit / 2n, '500m'],
    [1_500_000n, '1500u'],
    [unit, '1'],
    [3_900n * (unit / 1_000n), '3900m'],
    [4_000n * unit, '4k'],
    [-unit / 2n, '-500m'],
    [10n ** 21n * unit, '1000E'],
  ])('%s nano-units are %s with a decimal suffix (D8-01)', (amount, expected) => {
    expect(formatQuantity(nano(amount))).toBe(expected);
  });

  test.each([
    ['1Gi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['1024', '1Ki'],
    ['1023', '1023'],
    ['1025', '1025'],
    ['1000000000', '1G'],
    ['358859Mi', '358859Mi'],
    ['2048Ei', '2048Ei'],
    ['-1Ki', '-1Ki'],
    ['1500m', '1500m'],
    ['0', '0'],
  ])('%s counted in bytes is %s (D8-01)', (text, expected) => {
    expect(formatQuantity(parseQuantity(text) ?? nano(-1n), 'binary')).toBe(expected);
  });

  test('whole and milli-units are made from whole numbers only (D8-01)', () => {
    expect([units(3), millis(500), toNumber(millis(1_500))]).toEqual([3n * unit, unit / 2n, 1.5]);
    expect(() => units(0.5)).toThrow('0.5');
    expect(() => millis(Number.NaN)).toThrow('NaN');
  });
});
