import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { app, cordons, fleetWith, isCordoned, nodeObject, optsOutYoungest, placeholderIn } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell, when } from '../support/scenario.ts';

const seen: unknown[] = [];

// The candidate is half empty, and somebody uncordons it: the scheduler has nothing nearer for the placeholder.
const scenario: Scenario = {
  fleet: fleetWith({ apps: [app('web', 3, '900m'), app('db', 2, '400m')] }),
  arrange: optsOutYoungest,
  minutes: 10,
  moves: [
    { when: when.waiting(), after: 5, make: (stage) => cordons(stage, inFlight(stage).node, false) },
    {
      when: (stage) => placeholderIn(stage) === undefined,
      make: (stage) => seen.push(isCordoned(nodeObject(stage, inFlight(stage).node))),
    },
  ],
};

it('a placeholder on the node that is to be rotated is moved, and the cordon put back (D7-02, R3.3-22, R3.4-07, PR-65)', async () => {
  const told = await tell(scenario);
  expect(seen).toEqual([true]);
  expect(accountOf(told)).toEqual({
    course: ['start', 'leaveBadHost', 'recreatePlaceholder', 'awaitSurge', 'handOver', 'finish'],
    audit: ['17:00 started', '17:04 draining provisioned', '17:05 completed provisioned'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:05 Normal RotationCompleted NodePool/api'],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2, made: 1 },
  });
});

it('whatever action the process dies before (R3.8-04, D7-02)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
