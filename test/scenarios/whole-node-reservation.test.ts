import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import { accountOf } from '../support/account.ts';
import { app, appPodsOn, claimObject, fleetWith, optsOutYoungest, placeholderIn } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';

const asked: unknown[] = [];

// The fleet of the story in which spare room takes the drain, with the one switch turned.
const scenario: Scenario = {
  fleet: fleetWith({
    ages: [days(10), days(2), days(2), days(2)],
    apps: [app('web', 6, '900m'), app('db', 4, '400m')],
    surge: { wholeNodeReservation: true },
  }),
  arrange: optsOutYoungest,
  minutes: 7,
  moves: [
    {
      when: when.waiting(),
      make: (stage) => asked.push(placeholderIn(stage)?.spec.containers?.map(({ resources }) => resources?.requests)),
    },
  ],
};

it('with a whole-node reservation spare room is not enough: the replacement is a node of its own (R3.3-05, R3.3-16, R3.3-17, R3.3-19, D7-04, PR-56)', async () => {
  const told = await tell(scenario);
  // What the claim states as allocatable, less the daemons; no Pod slots and no storage.
  expect(asked).toEqual([[{ cpu: '3820m', memory: '15027Mi' }]]);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    audit: ['17:00 started', '17:02 draining provisioned', '17:03 completed provisioned'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:03 Normal RotationCompleted NodePool/api'],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 4, made: 1 },
  });
  expect(appPodsOn(told.world, claimObject(told, told.claimsMade[0])?.status.nodeName ?? '')).toEqual(['db', 'web']);
});

it('whatever action the process dies before (R3.8-04, D7-06)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
