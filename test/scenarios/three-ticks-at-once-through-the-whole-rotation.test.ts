import { expect, it } from 'vitest';
import { demonstrationPolicy } from '../../lib/simulator/fleet.ts';
import type { Scenario } from '../support/scenario.ts';
import { became, claimState, claimsOf, expectSameEndAfterEveryCrash, tell, withSurge } from '../support/scenario.ts';
import { oneDueNode } from '../support/story.ts';

const arrange: Scenario['arrange'] = (stage) => {
  stage.ticksAtOnce = 3;
};
const succeeds: Scenario = { minutes: 8, arrange };
const fails: Scenario = {
  minutes: 8,
  fleet: { ...oneDueNode, policy: withSurge(demonstrationPolicy, { readyTimeout: '3m' }) },
  arrange: (stage) => {
    stage.ticksAtOnce = 3;
    stage.world.launchOutcome = () => 'insufficientCapacity';
  },
};

it('three ticks at every moment of a rotation do what one would have done (D1-03, D5-05, D5-08)', async () => {
  const [three, one] = [await tell(succeeds), await tell({ minutes: 8 })];
  expect({ ...became(three), course: [] }).toEqual({ ...became(one), course: [] });
  expect(three.table.wire().map((row) => row.at)).toEqual(one.table.wire().map((row) => row.at));
  expect(three.claimsMade).toHaveLength(1);
});

it('three ticks at every moment of an attempt that fails count one failure (D7-07, R3.2-12)', async () => {
  const told = await tell(fails);
  expect(became(told)).toMatchObject({ rows: ['started', 'failed'], leftovers: [] });
  const [old] = claimsOf(told);
  expect(claimState(told, old?.claim ?? '')).toMatchObject({ state: 'failed', 'retry-count': '1' });
});

it('whatever action one of the three dies before (D1-03, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(succeeds, 2);
});
