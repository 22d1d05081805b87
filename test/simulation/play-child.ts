/**
 * The child process of a run: plays the seeds that it is sent, one at a time.
 */
import { caseOf } from './case-generator.ts';
import type { SeedOutcome } from './play-seeds.ts';
import { outcomeOf } from './play-seeds.ts';
import { runCase } from './run-case.ts';

async function play(seed: number): Promise<SeedOutcome> {
  const simCase = caseOf(seed);
  try {
    return outcomeOf(seed, simCase.calm, await runCase(simCase));
  } catch (error) {
    const nothing = {
      minutes: 0,
      ticks: 0,
      actions: 0,
      faults: {},
      moves: {},
      disruptions: {},
      blocked: {},
      rotations: {},
      forced: 0,
    };
    return { seed, calm: simCase.calm, ...nothing, thrown: String((error as Error).stack ?? error) };
  }
}

process.on('message', (seed: number) => {
  void play(seed).then((outcome) => process.send?.(outcome));
});
