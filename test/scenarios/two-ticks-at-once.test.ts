import { expect, it } from 'vitest';
import type { Scenario } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';

const scenario: Scenario = {
  minutes: 8,
  arrange: (stage) => {
    stage.ticksAtOnce = 2;
  },
};

it('two ticks at the same moment make one rotation, one new node and one row of each step (D1-03, D5-05, D5-08, D10-03)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toMatchObject({ rows: ['started', 'draining', 'completed'], leftovers: [] });
  expect(became(told).events).toEqual(['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api']);
  expect(told.claimsMade).toHaveLength(1);
  expect(claimsOf(told)).toHaveLength(2);
  const stops = told.ticks.flatMap((tick) =>
    tick.pools.flatMap(({ stopped }) => (stopped ? [stopped.split(':')[0]] : [])),
  );
  expect(new Set(stops)).toEqual(new Set(['conflict']));
});

it('whatever action one of the two dies before (D1-03, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
