/**
 * Kubernetes quantities, exact: a whole number of nano-units in a big integer.
 *
 * Nano is the finest suffix that Kubernetes has; what is written finer still is rounded away from zero, as Kubernetes
 * does it, so that a request never shrinks to nothing.
 */
import { assert } from '../assert.ts';

declare const brand: unique symbol;

/** Nano-units: one CPU is 10⁹, one byte is 10⁹. @design D8-01 */
export type Quantity = bigint & { readonly [brand]: 'Quantity' };

const nanoPerUnit = 10n ** 9n;

export const nothing: Quantity = 0n as Quantity;

/** Whole units: CPUs, bytes, nodes. @throws BrokenAssumption when `count` is not a whole number. */
export function units(count: number): Quantity {
  assert(Number.isSafeInteger(count), `a quantity of whole units is a whole number, not ${count}`);
  return (BigInt(count) * nanoPerUnit) as Quantity;
}

/** Thousandths of a unit, as in `500m`. @throws BrokenAssumption when `count` is not a whole number. */
export function millis(count: number): Quantity {
  assert(Number.isSafeInteger(count), `a quantity of milli-units is a whole number, not ${count}`);
  return ((BigInt(count) * nanoPerUnit) / 1_000n) as Quantity;
}

/** In units, rounded to what a number can hold: for metrics and charts, never for a comparison. */
export const toNumber = (quantity: Quantity): number => Number(quantity) / 1e9;

export const addQuantities = (a: Quantity, b: Quantity): Quantity => (a + b) as Quantity;
export const subtractQuantities = (a: Quantity, b: Quantity): Quantity => (a - b) as Quantity;
export const multiplyQuantity = (a: Quantity, count: number): Quantity => (a * BigInt(count)) as Quantity;
export const smaller = (a: Quantity, b: Quantity): Quantity => (a <= b ? a : b);
export const larger = (a: Quantity, b: Quantity): Quantity => (a >= b ? a : b);

/** Powers of ten, relative to one unit. */
const decimalPowers: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
/** Powers of 1024. */
const binaryPowers: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };

const form = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

/** Larger exponents are no quantity of anything and would only cost time. */
const largestExponent = 100;

/**
 * Reads every form that Kubernetes accepts: `4`, `.5`, `500m`, `1.5Gi`, `128e6`, `1E3`, `-2k`.
 *
 * @returns undefined when the text is no quantity
 * @design D8-01
 */
export function parseQuantity(text: string): Quantity | undefined {
  const known = read.get(text);
  if (known !== undefined) return known;
  const quantity = quantityIn(text);
  if (quantity === undefined || text.length > longestKept) return quantity;
  if (read.size >= mostKept) read.clear();
  read.set(text, quantity);
  return quantity;
}

// The nodes of a cluster are of a few sizes, so thousands of amounts are the same few texts.
const read = new Map<string, Quantity>();
const mostKept = 1_000;
const longestKept = 32;

function quantityIn(text: string): Quantity | undefined {
  const match = form.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', exponentMark, exponentText, suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction);
  const factor = exponentMark === undefined ? (binaryPowers[suffix] ?? 0) : 0;
  const exponent = exponentMark === undefined ? (decimalPowers[suffix] ?? 0) : Number(exponentText);
  if (exponent > largestExponent) return digits === 0n ? nothing : undefined;
  const nano = shiftedRoundingUp(digits * 1024n ** BigInt(factor), exponent - fraction.length + 9);
  return (sign === '-' ? -nano : nano) as Quantity;
}

/** `digits` × 10^`power`, rounded up. */
function shiftedRoundingUp(digits: bigint, power: number): bigint {
  if (digits === 0n) return 0n;
  if (power >= 0) return digits * 10n ** BigInt(power);
  if (-power > digits.toString().length) return 1n;
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}

export type QuantityStyle = 'decimal' | 'binary';

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

/**
 * The canonical Kubernetes text: no fraction, the largest suffix that keeps the number whole.
 *
 * `binary` uses Ki and its like where the amount is a multiple of 1024 units, and decimal suffixes otherwise. The text
 * always reads back as the same quantity.
 *
 * @design D8-01
 */
export function formatQuantity(quantity: Quantity, style: QuantityStyle = 'decimal'): string {
  if (quantity === 0n) return '0';
  if (style === 'binary' && quantity % (1024n * nanoPerUnit) === 0n) {
    return withLargestSuffix(quantity / nanoPerUnit, 1024n, binarySuffixes);
  }
  return withLargestSuffix(quantity, 1000n, decimalSuffixes);
}

function withLargestSuffix(amount: bigint, step: bigint, suffixes: readonly string[]): string {
  let rest = amount;
  let index = 0;
  while (index < suffixes.length - 1 && rest % step === 0n) {
    rest /= step;
    index += 1;
  }
  return `${rest}${suffixes[index]}`;
}
