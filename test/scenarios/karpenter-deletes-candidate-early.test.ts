import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { claimObject, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

const scenario: Scenario = {
  arrange: optsOutYoungest,
  minutes: 16,
  moves: [
    {
      when: when.waiting(),
      after: 20,
      make: (stage) => {
        const claim = claimObject(stage, inFlight(stage).claim);
        if (claim) stage.world.store.terminate(claim);
      },
    },
  ],
};

it('a candidate that Karpenter deletes long before its deadline ends as expired, and the row says that it was not time (D7-02, R3.2-52)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'expire'],
    audit: ['17:00 started', '17:01 expired: Karpenter or somebody else deleted the NodeClaim before its deadline'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:01 Warning RotationExpired NodePool/api'],
    leftovers: [],
    operators: ['Node opted out'],
    // Karpenter planned a second claim for the evicted Pods while the placeholder still held the first; it removes the empty one itself.
    claims: { present: 2, made: 2 },
  });
  expect(told.world.forcefulExpirations).toEqual([]);
  expect(Object.keys(stateOf(told.world))).toEqual(['last-ended']);
});

it('whatever action the process dies before (R3.8-04, D7-02)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
