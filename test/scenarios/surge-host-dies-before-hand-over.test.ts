import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { machineDies, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell, when } from '../support/scenario.ts';

// Pods take 70 s to start, so the placeholder is bound a minute before it runs.
const scenario: Scenario = {
  options: { delays: { podStart: { min: 70, max: 70 } } },
  arrange: optsOutYoungest,
  minutes: 10,
  moves: [{ when: when.hostSeen(), after: 20, make: (stage) => machineDies(stage, inFlight(stage).surgeClaim ?? '') }],
};

it('a surge host that dies while it is awaited is replaced within the same attempt (D7-02, R3.3-22, R3.8-05, PR-47, PR-68)', async () => {
  const told = await tell(scenario);
  expect(accountOf(told)).toEqual({
    course: ['start', 'awaitSurge', 'recreatePlaceholder', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'],
    audit: ['17:00 started', '17:04 draining provisioned', '17:06 completed provisioned'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:06 Normal RotationCompleted NodePool/api'],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2, made: 2 },
  });
  expect(told.table.wire().at(-1)).toMatchObject({
    surgeClaim: told.claimsMade[1],
    surgeWait: expect.stringMatching(/^3m\d+s$/),
  });
});

it('whatever action the process dies before (R3.8-04, D7-02)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
