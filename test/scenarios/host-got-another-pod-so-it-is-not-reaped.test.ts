import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import {
  annotationsOf,
  appPodsOn,
  claimObject,
  fleetWith,
  freezes,
  nodeObject,
  optsOutYoungest,
  scales,
} from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';

// A freeze lets the attempt run into its timeout. By then the surge host has Pods of db beside the placeholder.
const scenario: Scenario = {
  fleet: fleetWith({ surge: { readyTimeout: '5m' } }),
  arrange: optsOutYoungest,
  minutes: 12,
  moves: [
    { when: when.waiting(), after: 20, make: (stage) => freezes(stage, 'NodePool', 'api', '2026-06-09T20:00:00Z') },
    { when: when.hostSeen(), after: 20, make: (stage) => scales(stage, 'db', 4) },
  ],
};

it('a surge host that serves other Pods by now is given back to the pool instead of being reaped (D7-11, R3.8-06, R3.1-08)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'hold', 'rollBack'],
    audit: ['17:00 started', '17:06 failed for the 1st time: a freeze held the rotation beyond readyTimeout (5m)'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:06 Warning RotationFailed NodePool/api'],
    leftovers: [],
    operators: ['Node opted out', 'NodePool api frozen until 2026-06-09T20:00:00Z'],
    claims: { present: 3, made: 1 },
  });
  const host = claimObject(told, told.claimsMade[0])?.status.nodeName ?? '';
  expect(appPodsOn(told.world, host)).toContain('db');
  expect(annotationsOf(nodeObject(told, host))).toEqual({});
});

it('whatever action the process dies before (R3.8-04, D7-07)', async () => {
  await expectSameEndAfterEveryCrash({ ...scenario, minutes: 8 });
});
