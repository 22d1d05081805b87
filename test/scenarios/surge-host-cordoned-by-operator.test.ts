import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { annotationsOf, cordons, hostOf, isCordoned, nodeObject, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, tell, when } from '../support/scenario.ts';

let cordoned = '';

// Pods take 70 s to start, so the placeholder is bound a minute before it runs.
const scenario: Scenario = {
  options: { delays: { podStart: { min: 70, max: 70 } } },
  arrange: optsOutYoungest,
  minutes: 10,
  moves: [
    {
      when: when.hostSeen(),
      after: 5,
      make: (stage) => {
        cordoned = hostOf(stage);
        cordons(stage, cordoned, true);
      },
    },
  ],
};

it('a surge host that an operator cordons is given up, with our marks taken off and his cordon left (D7-02, D7-03, R3.4-08, R3.4-05)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: [
      'start',
      'awaitSurge',
      'leaveBadHost',
      'recreatePlaceholder',
      'awaitSurge',
      'handOver',
      'awaitDrain',
      'finish',
    ],
    audit: ['17:00 started', '17:05 draining provisioned', '17:07 completed provisioned'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:07 Normal RotationCompleted NodePool/api'],
    leftovers: [],
    operators: ['Node cordoned', 'Node opted out'],
    claims: { present: 3, made: 2 },
  });
  expect(isCordoned(nodeObject(told, cordoned))).toBe(true);
  expect(annotationsOf(nodeObject(told, cordoned))).toEqual({});
  expect(told.table.wire().at(-1)).toMatchObject({ surgeClaim: told.claimsMade[1] });
});

it('whatever action the process dies before (R3.8-04, D7-02)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
