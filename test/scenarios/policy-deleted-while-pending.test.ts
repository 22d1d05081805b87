import { expect, it } from 'vitest';
import type { Scenario } from '../support/scenario.ts';
import {
  became,
  claimState,
  claimsOf,
  expectSameEndAfterEveryCrash,
  inFlight,
  nodeNow,
  tell,
  when,
} from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

let candidate = { claim: '', node: '' };
const scenario: Scenario = {
  minutes: 6,
  moves: [
    {
      when: when.waiting(),
      after: 20,
      make: (stage) => {
        candidate = inFlight(stage);
        stage.world.store.delete({ kind: 'RotationPolicy', name: 'nights' });
      },
    },
  ],
};

it('a policy deleted while the surge waits undoes the attempt and counts no failure (D6-01, D7-08, D11-03, R3.4-05, R3.4-08)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'abort'],
    rows: ['started', 'aborted'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Normal RotationAborted NodePool/api',
      'Warning GovernanceLost NodePool/api',
    ],
    leftovers: [],
  });
  expect(told.table.wire()[1]).toMatchObject({ reason: 'GovernanceLost: no RotationPolicy matches NodePool api' });
  expect(nodeNow(told, candidate.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(claimState(told, candidate.claim)).toEqual({});
  expect(Object.keys(stateOf(told.world))).toEqual(['last-ended']);
});

it('the node that was being brought up goes with the attempt, the old one stays (D7-11, R3.9-01)', async () => {
  const told = await tell(scenario);
  expect(claimsOf(told)).toHaveLength(2);
  expect(claimsOf(told).map(({ claim }) => claim)).toContain(candidate.claim);
});

it('whatever action the process dies before (D7-08, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
