/**
 * Medians with their range. Other work on the machine lengthens some runs and shortens none, so a mean says little.
 */

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** How many were measured. */
  readonly runs: number;
}

/** The middle one, or the mean of the middle two. @throws RangeError for no values at all */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new RangeError('nothing has no median');
  return (low + high) / 2;
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
  runs: values.length,
});

/** Three digits that matter, whole numbers from 100 on. */
export function rounded(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toFixed(decimals);
}

/** `12.3 (11.0–15.2)`. */
export const spreadInWords = ({ median: middle, min, max }: Spread): string =>
  `${rounded(middle)} (${rounded(min)}–${rounded(max)})`;
