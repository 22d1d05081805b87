import { expect, test } from 'vitest';
import { isMet, limitInWords, measuredInWords, missed, type Target } from './targets.ts';

const target = (over: Partial<Target>): Target => ({
  what: 'a thing',
  measured: 1,
  limit: 1,
  sense: 'atMost',
  unit: '',
  ...over,
});

test.each<[Partial<Target>, boolean]>([
  [{ measured: 1.5, limit: 1.5 }, true],
  [{ measured: 1.51, limit: 1.5 }, false],
  [{ sense: 'atLeast', measured: 1_000, limit: 1_000 }, true],
  [{ sense: 'atLeast', measured: 999, limit: 1_000 }, false],
  [{ sense: 'exactly', measured: 5, limit: 5 }, true],
  [{ sense: 'exactly', measured: 4, limit: 5 }, false],
  [{ sense: 'exactly', measured: 6, limit: 5 }, false],
  [{ sense: 'within', measured: 1.1, tolerance: 0.1 }, false],
  [{ sense: 'within', measured: 1.09, tolerance: 0.1 }, true],
  [{ sense: 'within', measured: 0.91, tolerance: 0.1 }, true],
  [{ sense: 'within', measured: 0.89, tolerance: 0.1 }, false],
  [{ measured: Number.NaN }, false],
])('%j is met: %s (D15-05)', (over, met) => {
  expect(isMet(target(over))).toBe(met);
  expect(missed([target(over)])).toHaveLength(met ? 0 : 1);
});

test('a target says its limit, its unit and how far it may be off', () => {
  expect(limitInWords(target({ limit: 1.5, unit: '× floor' }))).toBe('≤ 1.50 × floor');
  expect(limitInWords(target({ sense: 'within', tolerance: 0.1, unit: '×' }))).toBe('= 1 × ± 10 %');
  expect(measuredInWords(target({ measured: 1_287.4, unit: 'MB' }))).toBe('1287 MB');
});
