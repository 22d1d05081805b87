import { expect, it } from 'vitest';
import { accountOf, noteOf } from '../support/account.ts';
import { karpenterChooses, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

// Karpenter had decided before our mark was there: its condition is seen by the tick of 17:01, its delete follows a second later.
const scenario: Scenario = {
  arrange: optsOutYoungest,
  minutes: 10,
  moves: [
    { when: when.waiting(), after: 59, make: (stage) => karpenterChooses(stage, inFlight(stage).claim, 'Drifted') },
  ],
};

it('a candidate that Karpenter has chosen itself is left to it, and nobody has failed (D7-02, D7-08, D5-05)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'abort'],
    audit: ['17:00 started', '17:01 aborted: Karpenter has chosen the node itself (Drifted)'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:01 Normal RotationAborted NodePool/api'],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2, made: 2 },
  });
  expect(noteOf(told, 'RotationAborted')).toBe(
    'The rotation of NodeClaim claim was aborted and undone: Karpenter has chosen the node itself (Drifted).',
  );
  expect(Object.keys(stateOf(told.world))).toEqual(['last-ended']);
});

it('whatever action the process dies before (R3.8-04, D7-08)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
