/**
 * What people and the cloud do in a random case, and when: at some minute, or once a rotation has come so far, or even
 * in the middle of a tick.
 */
import type { Dice } from './dice.ts';
import { drawSpec, drawWindow, manifestOf } from './draw-policies.ts';
import type { Move, TimedMove, Which } from './sim-case.ts';

export function drawMoves(dice: Dice, minutes: number, startsAt: string): readonly TimedMove[] {
  const count = dice.of([0, 3, 8, 16, 30]);
  const before = Array.from({ length: dice.of([0, 0, 2, 5]) }, () => ({ at: dice.below(120), move: drawState(dice) }));
  const later = Array.from({ length: count }, () => {
    const phase = dice.of([undefined, 'pending', 'hostSeen', 'hostSeen', 'draining', 'draining', 'none'] as const);
    return {
      // One that waits for a rotation must not come too late for it.
      at: dice.below(phase === undefined ? minutes * 60 : minutes * 30),
      ...(phase === undefined ? {} : { phase }),
      ...(dice.chance(0.4) ? { call: 1 + dice.below(12) } : {}),
      move: drawMove(dice, startsAt),
    };
  });
  return [...before, ...later];
}

/** What operators had set before anything began. */
function drawState(dice: Dice): Move {
  const at = { pool: any(dice), node: dice.below(8) };
  return dice.of<() => Move>([
    () => ({ kind: 'optOut', ...at }),
    () => ({ kind: 'cordon', ...at }),
    () => ({ kind: 'otherMark', ...at, value: dice.of(['false', 'TRUE', '']) }),
    () => ({ kind: 'freezePool', of: at.pool, minutes: dice.of([60, 300]) }),
  ])();
}

const garbage = [
  '',
  'true',
  'yesterday',
  '2026-13-45T00:00:00Z',
  '-1',
  '[{"step":"started"}]',
  'draining ',
  '999999999999',
];

type Draw = (dice: Dice, startsAt: string) => Move;
const any = (dice: Dice): number => dice.below(12);
const which = (dice: Dice): Which => dice.of<Which>(['candidate', 'candidate', 'host', 'host', dice.below(8)]);
const at = (dice: Dice) => ({ pool: any(dice), node: which(dice) });

const draws: readonly Draw[] = [
  (dice) => ({
    kind: dice.of(['freezePool', 'freezePool', 'freezePolicy']),
    of: any(dice),
    minutes: dice.of([2, 10, 30, 300, 'malformed', 'never'] as const),
  }),
  (dice) => ({ kind: dice.of(['thawPool', 'thawPolicy']), of: any(dice) }),
  (dice) => ({ kind: 'editPolicy', of: any(dice), spec: { mode: dice.of(['Observe', 'Rotate']) } }),
  (dice, startsAt) => ({
    kind: 'editPolicy',
    of: any(dice),
    spec: { maintenanceWindows: [drawWindow(dice, startsAt)] },
  }),
  (dice) => ({
    kind: 'editPolicy',
    of: any(dice),
    spec: { surge: { forcefulFallback: { enabled: dice.chance(0.5) }, readyTimeout: dice.of(['3m', '20m']) } },
  }),
  (dice) => ({
    kind: 'editPolicy',
    of: any(dice),
    spec: { ageThreshold: dice.of(['auto', '1h', '96h']), minRotationChances: dice.of([0, 1, 4]) },
  }),
  (dice) =>
    dice.chance(0.5)
      ? { kind: 'editPolicy', of: any(dice), spec: { exclusions: 'never' }, broken: 'spec' }
      : {
          kind: 'editPolicy',
          of: any(dice),
          spec: { exclusions: null },
          broken: 'no',
        },
  (dice) => ({ kind: 'deletePolicy', of: any(dice) }),
  (dice, startsAt) => ({
    kind: 'createPolicy',
    manifest: manifestOf(
      `made-${dice.suffix()}`,
      drawSpec(dice, dice.of([{}, { matchLabels: { team: 'red' } }, { matchLabels: { workload: 'api' } }]), startsAt),
    ),
  }),
  (dice) => ({ kind: dice.of(['optOut', 'optIn', 'cordon', 'uncordon']), ...at(dice) }),
  (dice) => ({ kind: dice.of(['optOut', 'cordon']), ...at(dice) }),
  (dice) => ({ kind: 'otherMark', ...at(dice), value: dice.of(['false', 'TRUE', 'true', '']) }),
  (dice) => ({ kind: 'revertPool', of: any(dice) }),
  (dice) => ({
    kind: dice.of(['clearKey', 'garbleKey']),
    on: dice.of(['NodePool', 'NodePool', 'NodeClaim', 'Node']),
    ...at(dice),
    nth: dice.below(12),
    text: dice.of(garbage),
  }),
  (dice) => ({
    kind: dice.of(['clearKey', 'garbleKey']),
    on: dice.of(['NodePool', 'NodeClaim', 'Node']),
    pool: any(dice),
    node: 'candidate',
    nth: dice.below(12),
    text: dice.of(garbage),
  }),
  (dice) => ({ kind: 'requestRotation', claim: dice.below(30), ignoreWindow: dice.chance(0.5) }),
  (dice) => ({ kind: dice.of(['deletePlaceholder', 'preempt']), pool: any(dice) }),
  (dice) => ({ kind: dice.of(['deleteClaim', 'deleteNode']), ...at(dice) }),
  (dice) => ({
    kind: 'editTemplate',
    of: any(dice),
    spec: dice.of([
      { expireAfter: '24h' },
      { expireAfter: '240h' },
      { terminationGracePeriod: '3m' },
      { expireAfter: 'Never' },
    ]),
  }),
  (dice) => ({ kind: 'setLimits', of: any(dice), limits: dice.of([null, { cpu: '1' }, { cpu: '200' }]) }),
  (dice) => ({ kind: 'setReplicas', of: any(dice), replicas: dice.of([null, null, null, 3]) }),
  (dice) => ({ kind: 'scale', app: any(dice), replicas: dice.below(9) }),
  (dice) => ({ kind: 'chosen', ...at(dice), reason: dice.of(['Drifted', 'Underutilized'] as const) }),
  (dice) => ({ kind: dice.of(['dies', 'loseMachine', 'interruptSpot']), ...at(dice) }),
  (dice) => ({ kind: 'notReady', ...at(dice), minutes: dice.of([1, 5, 25, 90]) }),
  () => ({ kind: 'newImage' }),
];

function drawMove(dice: Dice, startsAt: string): Move {
  if (dice.chance(0.01)) return { kind: 'retire' };
  if (dice.chance(0.015)) return { kind: 'deletePool', of: any(dice), foreground: dice.chance(0.5) };
  return dice.of(draws)(dice, startsAt);
}
