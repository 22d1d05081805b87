/**
 * What goes wrong in a random case, and for how long.
 */
import type { Dice } from './dice.ts';
import type { Trouble } from './sim-case.ts';
import { callFaults } from './sim-case.ts';

const all: readonly Trouble['kind'][] = [
  ...callFaults,
  'lostDelete',
  'unheardDelete',
  'lateLanding',
  'suspended',
  'crash',
  'skippedTick',
  'doubledTick',
  'overlappingTicks',
  'clockSkew',
  'tableDown',
  'tableDeaf',
  'insufficientCapacity',
  'neverRegisters',
  'refusedNodePatch',
  'refusedClaimPatch',
  'refusedClaimDelete',
  'refusedPod',
];

/** Whole outages of what answers once or not at all; a share of what happens call by call. */
const outages: ReadonlySet<Trouble['kind']> = new Set([
  'tableDown',
  'insufficientCapacity',
  'neverRegisters',
  'refusedNodePatch',
  'refusedClaimPatch',
  'refusedClaimDelete',
  'refusedPod',
]);

export function drawTroubles(dice: Dice, minutes: number): readonly Trouble[] {
  const count = dice.of([0, 1, 2, 4, 8]);
  return Array.from({ length: count }, () => {
    const kind = dice.of(all);
    const lasts = dice.of([5, 30, 120, 600, minutes]) * 60;
    const from = lasts >= minutes * 60 ? 0 : dice.below(minutes * 60 - lasts);
    const chance = kind.endsWith('Delete')
      ? 0.5
      : outages.has(kind)
        ? dice.of([0.3, 1, 1])
        : dice.of([0.01, 0.05, 0.2]);
    return { from, until: Math.min(from + lasts, minutes * 60), kind, chance, ...secondsOf(dice, kind) };
  });
}

function secondsOf(dice: Dice, kind: Trouble['kind']): { seconds?: number } {
  if (kind === 'suspended') return { seconds: dice.of([5, 40, 90, 200]) };
  if (kind === 'lateLanding') return { seconds: dice.of([3, 10]) };
  return kind === 'clockSkew' ? { seconds: 30 } : {};
}

/** Each costs a tick now and then; none lasts. */
export const lightTroubles = (dice: Dice, minutes: number): readonly Trouble[] =>
  (
    [
      'conflict',
      'throttled',
      'serverError',
      'lostResponse',
      'tornList',
      'crash',
      'skippedTick',
      'doubledTick',
      'overlappingTicks',
      'tableDeaf',
    ] as const
  )
    .filter(() => dice.chance(0.5))
    .map((kind) => ({
      from: 0,
      until: minutes * 60,
      kind,
      chance: kind === 'overlappingTicks' || kind === 'doubledTick' ? 0.1 : 0.01,
    }));
