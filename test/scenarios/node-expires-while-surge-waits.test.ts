import { expect, it } from 'vitest';
import { days, duration, minutes } from '../../lib/domain/time.ts';
import { accountOf, noteOf } from '../support/account.ts';
import { fleetWith, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

// Instances take four minutes to register; the oldest node's deadline comes at 17:03.
const scenario: Scenario = {
  fleet: fleetWith({ ages: [duration(days(14) - minutes(13)), days(2)] }),
  options: { delays: { registration: { min: 240, max: 240 } } },
  arrange: optsOutYoungest,
  minutes: 10,
};

it('a node whose deadline comes while its surge waits is recorded as expired, and the surge claim stays for its Pods (D7-02, R3.4-10, R3.9-01, PR-01)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'expire'],
    audit: ['17:00 started', '17:03 expired: its deadline 2026-06-09T17:03:00Z came while the surge was waiting'],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:01 Warning SurgeUnschedulable NodePool/api',
      '17:03 Warning RotationExpired NodePool/api',
    ],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2, made: 1 },
  });
  expect(noteOf(told, 'RotationExpired')).toBe(
    'The rotation of NodeClaim claim ended with its node: its deadline 2026-06-09T17:03:00Z came while the surge was waiting.',
  );
  expect(told.world.forcefulExpirations).toHaveLength(1);
  // Neither a success nor a failure: no cooldown and no pause follow.
  expect(Object.keys(stateOf(told.world))).toEqual(['last-ended']);
});

it('whatever action the process dies before (R3.8-04, D7-02)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
