import { describe, expect, it } from 'vitest';
import { arrivalsExceed, capacity, rotationEstimate } from '../../../lib/domain/schedule/throughput.ts';
import { days, formatDuration, hours, minutes, zero } from '../../../lib/domain/time.ts';
import { aPolicy, lasting } from '../../support/builders.ts';

const { surge } = aPolicy();

describe('t_rot_est (R3.2-15)', () => {
  it.each([
    ['stock: 5m + 10m', {}, '1h', '15m'],
    ['a grace shorter than the usual drain bounds it', {}, '4m', '9m'],
    ['no grace at all', {}, '0s', '5m'],
    ['a stated drain', { drainEstimate: lasting('30m') }, '1h', '35m'],
    ['a stated drain at its bound', { drainEstimate: lasting('1h') }, '1h', '1h5m'],
    ['a stated drain above its bound is clamped', { drainEstimate: lasting('2h') }, '1h', '1h5m'],
    ['provisioning above readyTimeout is clamped', { provisioningEstimate: lasting('20m') }, '1h', '25m'],
    ['a grace of a day changes nothing', {}, '24h', '15m'],
  ])('%s (R3.2-15)', (_, over, grace, expected) => {
    expect(formatDuration(rotationEstimate({ ...surge, ...over }, lasting(grace)))).toBe(expected);
  });

  it('an unset grace bounds nothing (R3.2-15)', () => {
    expect(rotationEstimate(surge, undefined)).toBe(minutes(15));
    expect(rotationEstimate({ ...surge, drainEstimate: hours(3) }, undefined)).toBe(hours(3) + minutes(5));
  });
});

describe('C (R3.2-40)', () => {
  it.each([
    ['4h', 10],
    ['4h10m', 10],
    ['4h10m1s', 11],
    ['25m', 1],
    ['1s', 1],
    ['0s', 0],
  ])('an occurrence of %s holds %i starts of 25m each (R3.2-40)', (length, expected) => {
    expect(capacity(surge, hours(1), lasting(length))).toBe(expected);
  });

  it('failurePause plays no part (R3.2-17)', () => {
    expect(capacity({ ...surge, cooldownAfter: zero }, hours(1), hours(4))).toBe(16);
    expect(capacity({ ...surge, ...{ failurePause: hours(4) } }, hours(1), hours(4))).toBe(10);
  });
});

describe('arrivals (R3.2-41)', () => {
  it.each([
    ['equal', 10, 20, days(4), days(8), false],
    ['one millisecond younger', 10, 20, days(4), days(8) - 1, true],
    ['one node more', 10, 21, days(4), days(8), true],
  ])('C < N·P/A, exactly: %s (R3.2-41)', (_, starts, nodes, period, age, expected) => {
    expect(arrivalsExceed(starts, nodes, period, age as typeof period)).toBe(expected);
  });

  it('is exact beyond what a double holds (R3.2-41)', () => {
    const period = 9_007_199_254_740_991 as typeof zero;
    expect(arrivalsExceed(3, 3, period, period)).toBe(false);
    expect(arrivalsExceed(3, 3, period, (period - 1) as typeof zero)).toBe(true);
  });
});
