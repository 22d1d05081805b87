import { expect, it } from 'vitest';
import { accountOf, noteOf } from '../support/account.ts';
import { at } from '../support/builders.ts';
import { annotationsOf, claimObject, fleetWith, optsOutYoungest } from '../support/moves.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

let third = '';

// The cloud has nothing to give until 17:12. Short times, so that three attempts fit into twenty minutes.
const scenario: Scenario = {
  fleet: fleetWith({ surge: { readyTimeout: '2m', retryBackoff: '3m', failurePause: '1m' } }),
  arrange: (stage) => {
    optsOutYoungest(stage);
    stage.world.launchOutcome = () =>
      stage.world.now < at('2026-06-09T17:12:00Z') ? 'insufficientCapacity' : 'registers';
  },
  minutes: 20,
  moves: [
    {
      when: (stage: Stage) => stateOf(stage.world)['started-at'] === '2026-06-09T17:15:00Z',
      make: (stage) => {
        third = annotationsOf(claimObject(stage, inFlight(stage).claim))['noderotation.io/retry-count'] ?? '';
      },
    },
  ],
};

it('without capacity the attempt is rolled back and tried again, each time after a longer wait (D7-07, R3.2-08, R3.2-12, R3.7-06, R3.8-01, PR-60)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: [
      'start',
      'awaitSurge',
      'rollBack',
      'start',
      'awaitSurge',
      'rollBack',
      'start',
      'awaitSurge',
      'handOver',
      'finish',
    ],
    // Three minutes after the first failure, six after the second.
    audit: [
      '17:00 started',
      '17:03 failed for the 1st time: the surge was not ready within 2m',
      '17:06 started',
      '17:09 failed for the 2nd time: the surge was not ready within 2m',
      '17:15 started',
      '17:17 draining provisioned',
      '17:18 completed provisioned',
    ],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:01 Warning SurgeUnschedulable NodePool/api',
      '17:03 Warning RotationFailed NodePool/api',
      '17:06 Normal RotationStarted NodePool/api',
      '17:07 Warning SurgeUnschedulable NodePool/api',
      '17:09 Warning RotationFailed NodePool/api',
      '17:15 Normal RotationStarted NodePool/api',
      '17:18 Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
    operators: ['Node opted out'],
    // Karpenter tries every ten seconds while the placeholder waits.
    claims: { present: 2, made: expect.any(Number) },
  });
  expect(noteOf(told, 'SurgeUnschedulable')).toMatch(
    /^no node takes the placeholder of claim yet: 0\/2 nodes are available: /,
  );
  expect(third).toBe('2');
});

it('whatever action the process dies before (R3.8-04, D7-07)', async () => {
  // One failure: the others are the same list again.
  await expectSameEndAfterEveryCrash({ ...scenario, moves: [], minutes: 6 });
});
