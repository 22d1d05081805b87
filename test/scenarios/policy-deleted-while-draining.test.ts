import { expect, it } from 'vitest';
import type { Scenario } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, inFlight, nodeNow, tell, when } from '../support/scenario.ts';

let old = { claim: '', node: '' };
const scenario: Scenario = {
  minutes: 9,
  options: { delays: { instanceStop: { min: 150, max: 150 } } },
  moves: [
    {
      when: when.draining(),
      after: 20,
      make: (stage) => {
        old = inFlight(stage);
        stage.world.store.delete({ kind: 'RotationPolicy', name: 'nights' });
      },
    },
  ],
};

it('a policy deleted while the old node drains changes nothing about the drain, and the marks come off at its end (D6-01, D7-05, D7-06, D11-03)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Warning GovernanceLost NodePool/api',
      'Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
  });
  expect(nodeNow(told, old.node)).toBe('gone');
  expect(claimsOf(told).map(({ node }) => nodeNow(told, node))).toEqual([
    { cordoned: false, doNotDisrupt: undefined },
    { cordoned: false, doNotDisrupt: undefined },
  ]);
});

it('whatever action the process dies before (D6-01, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
