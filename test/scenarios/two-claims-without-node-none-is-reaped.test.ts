import { expect, it } from 'vitest';
import { accountOf, noteOf } from '../support/account.ts';
import { claimObject, fleetWith, optsOutYoungest, scales } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';

const scenario: Scenario = {
  fleet: fleetWith({ surge: { readyTimeout: '5m' } }),
  arrange: (stage) => {
    optsOutYoungest(stage);
    stage.world.launchOutcome = (_offering, claim) =>
      stage.claimsMade.indexOf(claim) < 2 ? 'neverRegisters' : 'registers';
  },
  minutes: 10,
  moves: [{ when: when.waiting(), after: 30, make: (stage) => scales(stage, 'web', 9) }],
};

it('two new claims without a node cannot be told apart, so none is reaped and somebody is told (D7-11, R3.8-05, D11-03, PR-46)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'rollBack'],
    audit: ['17:00 started', '17:06 failed for the 1st time: the surge was not ready within 5m'],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:01 Warning SurgeUnschedulable NodePool/api',
      '17:06 Warning RotationFailed NodePool/api',
      '17:06 Warning SurgeClaimAmbiguous NodePool/api',
    ],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 4, made: 2 },
  });
  expect(noteOf(told, 'SurgeClaimAmbiguous')).toBe(
    'It cannot be told which NodeClaim the failed attempt brought up (claim, claim), so none is deleted. Karpenter removes it once it is empty.',
  );
  expect(told.claimsMade.map((name) => claimObject(told, name)?.metadata.deletionTimestamp)).toEqual([
    undefined,
    undefined,
  ]);
});

it('whatever action the process dies before (R3.8-04, D7-07)', async () => {
  await expectSameEndAfterEveryCrash({ ...scenario, minutes: 8 });
});
