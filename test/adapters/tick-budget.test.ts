import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TickBudget } from '../../lib/adapters/kubernetes/tick-budget.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('a tick has less time to begin than to end (D1-06)', () => {
  const budget = new TickBudget({ toBegin: 40_000, toEnd: 47_000 });
  expect([budget.left(), budget.leftForCalls()]).toEqual([40_000, 47_000]);
  vi.advanceTimersByTime(41_000);
  expect([budget.left(), budget.leftForCalls()]).toEqual([0, 6_000]);
});

test('a snapshot ages from its first request (D5-08)', () => {
  const budget = new TickBudget({ toBegin: 40_000, toEnd: 47_000 });
  vi.advanceTimersByTime(3_000);
  budget.snapshotBegins();
  vi.advanceTimersByTime(2_000);
  expect(budget.sinceSnapshot()).toBe(2_000);
});

test('a machine that slept while its monotonic clock stood still is noticed by the other clock (D5-08)', () => {
  const budget = new TickBudget({ toBegin: 40_000, toEnd: 47_000 });
  budget.snapshotBegins();
  vi.setSystemTime(Date.now() + 3_600_000);
  expect(budget.sinceSnapshot()).toBe(3_600_000);
  expect(budget.left()).toBe(0);
});

test('a clock set back gives no time back (D1-06)', () => {
  const budget = new TickBudget({ toBegin: 40_000, toEnd: 47_000 });
  vi.advanceTimersByTime(5_000);
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(budget.left()).toBe(35_000);
});
