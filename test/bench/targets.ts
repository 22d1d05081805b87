/**
 * What the product has to reach, and whether it does. A target is judged by medians; numbers of calls and sizes are exact.
 */
import { rounded } from './statistics.ts';

export interface Target {
  /** What is measured, as a sentence would name it. */
  readonly what: string;
  readonly measured: number;
  readonly limit: number;
  readonly sense: 'atMost' | 'atLeast' | 'exactly' | 'within';
  /** `within`: how far from the limit it may be, as a share of it. */
  readonly tolerance?: number;
  /** `×` for a ratio to the floor, else a unit. */
  readonly unit: string;
}

/** @design D15-05 */
export function isMet({ measured, limit, sense, tolerance = 0 }: Target): boolean {
  switch (sense) {
    case 'atMost':
      return measured <= limit;
    case 'atLeast':
      return measured >= limit;
    case 'exactly':
      return measured === limit;
    case 'within':
      return Math.abs(measured - limit) <= tolerance * Math.abs(limit);
  }
}

export const missed = (targets: readonly Target[]): readonly Target[] => targets.filter((target) => !isMet(target));

const senses = { atMost: '≤', atLeast: '≥', exactly: '=', within: '=' } as const;

/** `≤ 1.50 ×`. */
export function limitInWords({ limit, sense, tolerance, unit }: Target): string {
  const around = sense === 'within' ? ` ± ${Math.round((tolerance ?? 0) * 100)} %` : '';
  return `${senses[sense]} ${amount(limit, unit)}${around}`;
}

export const measuredInWords = ({ measured, unit }: Target): string => amount(measured, unit);

const amount = (value: number, unit: string): string =>
  `${Number.isInteger(value) ? String(value) : rounded(value)}${unit === '' ? '' : ` ${unit}`}`;
