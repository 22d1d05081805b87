/**
 * Policies of a random case: feasible and not, valid and not, one over another, some of them in conflict.
 */
import { DateTime } from 'luxon';
import type { Manifest } from '../../lib/simulator/kube-object.ts';
import type { Dice } from './dice.ts';
import { brokenLabel } from './policy-terms.ts';
import type { PoolPlan } from './sim-case.ts';

const allDays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const zones = ['Asia/Tokyo', 'UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];

export const manifestOf = (name: string, spec: object, broken?: 'spec' | 'selector'): Manifest => ({
  apiVersion: 'noderotation.io/v1alpha1',
  kind: 'RotationPolicy',
  metadata: { name, ...(broken ? { labels: { [brokenLabel]: broken } } : {}) },
  spec,
});

/** As a rule it opens within hours of the start of the case, or there would be nothing to see. */
export function drawWindow(dice: Dice, startsAt: string): object {
  if (dice.chance(0.12)) return { timezone: 'UTC', days: allDays, start: '00:00', end: '24:00' };
  const timezone = dice.of(zones);
  const first = DateTime.fromISO(startsAt, { zone: timezone }).hour;
  const start = dice.chance(0.75) ? first + 1 + dice.below(3) : dice.below(24);
  const length = dice.of([2, 4, 8, 12]);
  const hour = (value: number): string => `${String(value % 24).padStart(2, '0')}:00`;
  const some = allDays.filter(() => dice.chance(0.5));
  const days = dice.chance(0.88) || some.length === 0 ? allDays : some;
  return { timezone, days, start: hour(start), end: hour(start + length) };
}

export function drawSpec(dice: Dice, selector: object, startsAt: string): object {
  const day = (offset: number): string =>
    new Date(Date.parse(startsAt) + offset * 86_400_000).toISOString().slice(0, 10);
  const from = dice.below(3);
  const surge = {
    readyTimeout: dice.of(['5m', '10m', '15m', '30m']),
    cooldownAfter: dice.of(['0s', '2m', '10m']),
    retryBackoff: dice.of(['10m', '30m', '1h']),
    ...(dice.chance(0.3) ? { failurePause: dice.of(['1m', '20m']) } : {}),
    ...(dice.chance(0.3) ? { wholeNodeReservation: true } : {}),
    ...(dice.chance(0.35) ? { forcefulFallback: { enabled: true } } : {}),
    ...(dice.chance(0.3) ? { deferBlockedDrains: true } : {}),
    ...(dice.chance(0.2)
      ? {
          matchNodeRequirements: {
            required: dice.of([[], ['kubernetes.io/arch']]),
            preferred: ['topology.kubernetes.io/zone'],
          },
        }
      : {}),
  };
  return {
    nodePoolSelector: selector,
    mode: dice.chance(0.08) ? 'Observe' : 'Rotate',
    ageThreshold: dice.chance(0.4) ? dice.of(['1h', '6h', '24h', '96h']) : 'auto',
    minRotationChances: dice.of([1, 1, 1, 2, 2, 3]),
    maintenanceWindows: Array.from({ length: dice.small(3) }, () => drawWindow(dice, startsAt)),
    ...(dice.chance(0.25)
      ? {
          exclusions: [
            { timezone: dice.of(zones), from: day(from), to: day(from + dice.below(2)), reason: 'a holiday' },
          ],
        }
      : {}),
    surge,
  };
}

export function drawPolicies(dice: Dice, pools: readonly PoolPlan[], startsAt: string): readonly Manifest[] {
  const all = manifestOf('all', drawSpec(dice, {}, startsAt));
  const drawn = dice.chance(0.92) ? [all] : [];
  for (const pool of pools) {
    if (dice.chance(0.35))
      drawn.push(manifestOf(`for-${pool.name}`, drawSpec(dice, { matchLabels: { workload: pool.name } }, startsAt)));
    // As specific as the one before: a conflict, where both are there.
    if (dice.chance(0.06))
      drawn.push(
        manifestOf(
          `also-${pool.name}`,
          drawSpec(dice, { matchExpressions: [{ key: 'workload', operator: 'In', values: [pool.name] }] }, startsAt),
        ),
      );
    if (dice.chance(0.05)) {
      const spec = {
        ...drawSpec(dice, { matchLabels: { workload: pool.name, team: pool.team } }, startsAt),
        // What no other move of a case touches.
        exclusions: 'never',
      };
      drawn.push(manifestOf(`broken-${pool.name}`, spec, 'spec'));
    }
  }
  if (dice.chance(0.05))
    drawn.push(
      manifestOf('unreadable', { ...drawSpec(dice, {}, startsAt), nodePoolSelector: 'all of them' }, 'selector'),
    );
  return drawn;
}

/** One for all pools: every day some hours, two chances. */
export const calmPolicies = (dice: Dice): readonly Manifest[] => [
  manifestOf('calm', {
    nodePoolSelector: {},
    minRotationChances: 2,
    maintenanceWindows: [
      {
        timezone: dice.of(['Asia/Tokyo', 'UTC']),
        days: allDays,
        start: dice.of(['01:00', '22:00']),
        end: dice.of(['05:00', '08:00']),
      },
    ],
    surge: { readyTimeout: '15m', cooldownAfter: dice.of(['0s', '5m', '10m']), retryBackoff: '15m' },
  }),
];
