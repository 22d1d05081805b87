/**
 * What came of a run, and the story of one case, for people.
 */
import type { Played, SeedOutcome } from './play-seeds.ts';
import type { CaseResult } from './run-case.ts';
import type { SimCase } from './sim-case.ts';

const total = (
  outcomes: readonly SeedOutcome[],
  of: 'faults' | 'moves' | 'rotations' | 'blocked' | 'disruptions',
): string => {
  const sums = new Map<string, number>();
  for (const outcome of outcomes)
    for (const [name, count] of Object.entries(outcome[of])) sums.set(name, (sums.get(name) ?? 0) + count);
  const sorted = [...sums].sort(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
};
const sum = (outcomes: readonly SeedOutcome[], of: 'minutes' | 'ticks' | 'actions' | 'forced'): number =>
  outcomes.reduce((before, outcome) => before + outcome[of], 0);

export function reportOf({ seconds, outcomes, failures }: Played): string {
  const days = sum(outcomes, 'minutes') / 1440;
  const calm = outcomes.filter((outcome) => outcome.calm);
  return [
    `${outcomes.length} seeds (${calm.length} calm) in ${Math.round(seconds)} s: ${days.toFixed(1)} cluster-days, ${((days * 60) / Math.max(1, seconds)).toFixed(0)} a minute`,
    `ticks: ${sum(outcomes, 'ticks')}, actions: ${sum(outcomes, 'actions')}`,
    `rotations: ${total(outcomes, 'rotations')}`,
    `forceful expirations: ${sum(outcomes, 'forced')}, in calm cases ${sum(calm, 'forced')}`,
    `faults: ${total(outcomes, 'faults')}`,
    `moves: ${total(outcomes, 'moves')}`,
    `taken by Karpenter itself: ${total(outcomes, 'disruptions')}`,
    `held (pool-ticks): ${total(outcomes, 'blocked')}`,
    `violations: ${failures.length}`,
    ...failures.map(
      ({ seed, violation, thrown }) =>
        `  seed ${seed}: ${violation ? `${violation.rule}: ${violation.message}` : thrown}`,
    ),
  ].join('\n');
}

/** The world, its policies, what was planned, what happened, and what was violated. */
export function storyOf(simCase: SimCase, result: CaseResult): string {
  const { pools, apps, policies, moves, troubles } = simCase;
  return [
    `seed ${simCase.seed}, from ${simCase.startsAt} for ${simCase.minutes} minutes${simCase.calm ? ', calm' : ''}`,
    ...pools.map(
      ({ nodes, ...pool }) =>
        `pool ${JSON.stringify(pool)} with ${nodes.length} nodes: ${nodes.map((node) => `${node.ageMinutes}m${node.expireAfter ? ` E=${node.expireAfter}` : ''}${node.terminationGracePeriod ? ` tGP=${node.terminationGracePeriod}` : ''}`).join(', ')}`,
    ),
    ...apps.map((app) => `app ${JSON.stringify(app)}`),
    ...policies.map(({ metadata, spec }) => `policy ${metadata.name} ${JSON.stringify(spec)}`),
    ...troubles.map((trouble) => `trouble ${JSON.stringify(trouble)}`),
    ...moves.map((move) => `move ${JSON.stringify(move)}`),
    '',
    ...result.story,
    '',
    ...result.violations.map(
      ({ rule, message, at }) => `VIOLATED at ${new Date(at).toISOString()} ${rule}: ${message}`,
    ),
    `${result.violations.length} violations, ${result.ticks} ticks, ${result.actions} actions`,
  ].join('\n');
}
