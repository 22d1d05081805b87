import { expect, it } from 'vitest';
import { caseOf } from './case-generator.ts';
import { runCase } from './run-case.ts';
import { shrink } from './shrink.ts';

/** The same seeds in every run, as many as fit; `npm run sim -- --minutes 60 --from 100000` plays others. */
const seconds = Number(process.env['SIM_SECONDS'] ?? 120);
const atLeast = 12;

it('whatever clusters, policies, people and faults are drawn, every write keeps the rules and everything ends (D7-10, D7-11, D5-08, D10-03, D10-04, D6-03, R3.9-01, D14-02)', async () => {
  const until = performance.now() + seconds * 1000;
  let rotations = 0;
  for (let seed = 1; seed <= atLeast || performance.now() < until; seed += 1) {
    const simCase = caseOf(seed);
    const result = await runCase(simCase);
    rotations += result.rotations.length;
    if (result.violations.length > 0) {
      const small = await shrink(simCase, result, 60_000);
      expect.fail(
        [
          `seed ${seed}: ${result.violations[0]?.rule}: ${result.violations[0]?.message}`,
          `npm run sim -- --seed ${seed} tells the story; shrunk:`,
          JSON.stringify(small),
        ].join('\n'),
      );
    }
  }
  expect(rotations).toBeGreaterThan(atLeast);
}, 600_000);

it('a case is played the same way twice (D14-02)', async () => {
  for (const seed of [8, 10, 20]) {
    const [once, again] = [await runCase(caseOf(seed)), await runCase(caseOf(seed))];
    expect(again).toEqual(once);
    expect(caseOf(seed)).toEqual(caseOf(seed));
  }
}, 120_000);
