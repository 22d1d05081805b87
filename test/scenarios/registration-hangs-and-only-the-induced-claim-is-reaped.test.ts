import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { claimObject, fleetWith, optsOutYoungest, scales } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';

// The instance for the placeholder never registers. Meanwhile more Pods of web bring up another node of the pool.
const scenario: Scenario = {
  fleet: fleetWith({ surge: { readyTimeout: '5m', retryBackoff: '5m', failurePause: '2m' } }),
  arrange: (stage) => {
    optsOutYoungest(stage);
    stage.world.launchOutcome = (_offering, claim) => (claim === stage.claimsMade[0] ? 'neverRegisters' : 'registers');
  },
  minutes: 16,
  moves: [{ when: when.waiting(), after: 30, make: (stage) => scales(stage, 'web', 9) }],
};

it('of the claims that came during a failed attempt only the one that it induced is reaped (D7-11, R3.8-05, R3.8-06, PR-45, PR-46)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'rollBack', 'start', 'awaitSurge', 'handOver', 'finish'],
    audit: [
      '17:00 started',
      '17:06 failed for the 1st time: the surge was not ready within 5m',
      '17:11 started',
      '17:13 draining provisioned',
      '17:14 completed provisioned',
    ],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:01 Warning SurgeUnschedulable NodePool/api',
      '17:06 Warning RotationFailed NodePool/api',
      '17:11 Normal RotationStarted NodePool/api',
      '17:14 Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 3, made: 3 },
  });
  expect(told.claimsMade.map((name) => claimObject(told, name) !== undefined)).toEqual([false, true, true]);
});

it('whatever action the process dies before (R3.8-04, D7-07)', async () => {
  // What follows the rollback is a rotation as any other, told in its own file.
  await expectSameEndAfterEveryCrash({ ...scenario, minutes: 9 });
});
