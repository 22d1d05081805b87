import { expect, it } from 'vitest';
import type { Scenario, Stage } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, inFlight, nodeNow, tell, when } from '../support/scenario.ts';

let old = { claim: '', node: '' };
const missed = (stage: Stage): number => stage.steps.filter((step) => step.endsWith('Timeout')).length;
const scenario: Scenario = {
  minutes: 18,
  moves: [
    {
      when: when.draining(),
      make: (stage) => {
        old = inFlight(stage);
        stage.faults = { next: () => 'lostRequest' };
      },
    },
    {
      when: (stage) => missed(stage) === 10,
      make: (stage) => {
        stage.faults = { next: () => undefined };
      },
    },
  ],
};

it('a drain that ends while the API does not answer is finished by the first tick that sees it (R3.8-03, D7-05, D7-06)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'],
    leftovers: [],
  });
  expect(missed(told)).toBe(10);
  expect(told.table.wire()[2]).toMatchObject({ claim: old.claim, drain: '11m' });
  expect(nodeNow(told, old.node)).toBe('gone');
  expect(claimsOf(told).map(({ node }) => nodeNow(told, node))).toEqual([
    { cordoned: false, doNotDisrupt: undefined },
    { cordoned: false, doNotDisrupt: undefined },
  ]);
});

it('whatever action the process dies before (R3.8-03, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
