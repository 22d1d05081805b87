import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { fleetWith, freezes, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';

const scenario: Scenario = {
  fleet: fleetWith({ surge: { readyTimeout: '5m', retryBackoff: '8m', failurePause: '2m' } }),
  arrange: optsOutYoungest,
  minutes: 22,
  moves: [
    { when: when.waiting(), after: 20, make: (stage) => freezes(stage, 'NodePool', 'api', '2026-06-09T17:16:00Z') },
  ],
};

it('a freeze longer than readyTimeout fails the attempt with a rollback, and the next one waits for its end (R3.1-06, R3.1-08, D7-02, D7-07, D7-11)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'hold', 'rollBack', 'start', 'awaitSurge', 'handOver', 'finish'],
    // The backoff is over at 17:14, the freeze at 17:16.
    audit: [
      '17:00 started',
      '17:06 failed for the 1st time: a freeze held the rotation beyond readyTimeout (5m)',
      '17:16 started',
      '17:18 draining provisioned',
      '17:19 completed provisioned',
    ],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:06 Warning RotationFailed NodePool/api',
      '17:16 Normal RotationStarted NodePool/api',
      '17:19 Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
    operators: ['Node opted out', 'NodePool api frozen until 2026-06-09T17:16:00Z'],
    // The host of the first attempt was induced by it, and went with it.
    claims: { present: 2, made: 2 },
  });
});

it('whatever action the process dies before (R3.8-04, D7-07)', async () => {
  // What follows the rollback is a rotation as any other, told in its own file.
  await expectSameEndAfterEveryCrash({ ...scenario, minutes: 9 });
});
