import { expect, it } from 'vitest';
import type { Call, FaultPlan } from '../../lib/simulator/faults.ts';
import { seededFaults } from '../../lib/simulator/faults.ts';
import type { Scenario } from '../support/scenario.ts';
import { became, claimsOf, tell } from '../support/scenario.ts';

const isWrite = ({ verb }: Call): boolean => verb !== 'get' && verb !== 'list';

/** Of the n-th write the answer is lost; dry runs are counted, too. */
const losing = (nth: number): FaultPlan & { writes: number } => ({
  writes: 0,
  next(call) {
    if (!isWrite(call)) return undefined;
    this.writes += 1;
    return this.writes === nth ? 'lostResponse' : undefined;
  },
});

const rotation = (plan: () => FaultPlan, minutes: number): Scenario => ({
  minutes,
  arrange: (stage) => {
    stage.faults = plan();
  },
});

const rows = ['started', 'draining', 'completed'];
const events = ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'];

it('a rotation of which every third write goes unanswered, by chance, loses time and no row (D5-05, D10-04, D7-09)', async () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const lost = { lostResponse: 0.35 };
    const told = await tell(rotation(() => seededFaults(seed, { create: lost, patch: lost, delete: lost }), 25));
    // A rotation may have to hand over again, so `draining` may be there more than once.
    expect({ seed, rows: [...new Set(became(told).rows)], leftovers: became(told).leftovers }).toEqual({
      seed,
      rows,
      leftovers: [],
    });
    expect(told.table.trail().filter((row) => row.startsWith('completed'))).toHaveLength(1);
    // An Event is for a patch that is known to have landed, so here it may be missing and is never doubled.
    expect(new Set(became(told).events).size).toBe(became(told).events.length);
    expect({ seed, made: told.claimsMade.length }).toEqual({ seed, made: 1 });
  }
});

it('whichever write’s answer is lost, the rotation ends as if it had come, with each row and no Event twice (D5-05, D10-03, D7-09)', async () => {
  const undisturbed = losing(0);
  await tell(rotation(() => undisturbed, 9));
  expect(undisturbed.writes).toBeGreaterThan(10);
  for (let nth = 1; nth <= undisturbed.writes; nth += 1) {
    const told = await tell(rotation(() => losing(nth), 9));
    const said = became(told).events;
    expect({ nth, rows: became(told).rows, leftovers: became(told).leftovers, claims: claimsOf(told).length }).toEqual({
      nth,
      rows,
      leftovers: [],
      claims: 2,
    });
    expect({ nth, said: events.filter((event) => said.includes(event)) }).toEqual({ nth, said });
    expect(told.claimsMade).toHaveLength(1);
  }
});
