/**
 * The child process of a run: plays the seeds that it is sent, one at a time.
 */
import { caseOf } from './case-generator.ts';
import type { SeedOutcome } from './play-seeds.ts';
import { brokenOff, outcomeOf } from './play-seeds.ts';
import { runCase } from './run-case.ts';

async function play(seed: number): Promise<SeedOutcome> {
  const simCase = caseOf(seed);
  try {
    return outcomeOf(seed, simCase.calm, await runCase(simCase));
  } catch (error) {
    return brokenOff(seed, simCase.calm, String((error as Error).stack ?? error));
  }
}

process.on('message', (seed: number) => {
  void play(seed).then((outcome) => process.send?.(outcome));
});
