import { expect, test } from 'vitest';
import { median, rounded, spreadInWords, spreadOf } from './statistics.ts';

test.each([
  [[3], 3],
  [[1, 2], 1.5],
  [[9, 1, 5], 5],
  [[1, 100, 2, 3], 2.5],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test('nothing has no median', () => {
  expect(() => median([])).toThrow(RangeError);
});

test('a spread has the middle, both ends, and how many there were', () => {
  expect(spreadOf([4, 1, 3])).toEqual({ median: 3, min: 1, max: 4, runs: 3 });
  expect(spreadInWords(spreadOf([12.34, 9.876, 123.4]))).toBe('12.3 (9.88–123)');
});

test.each([
  [0, '0'],
  [0.456, '0.46'],
  [9.999, '10.00'],
  [10, '10.0'],
  [99.94, '99.9'],
  [100, '100'],
  [-12.34, '-12.3'],
])('%d is written as %s', (value, text) => {
  expect(rounded(value)).toBe(text);
});
