import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { annotationsOf, freezes, hostOf, isCordoned, nodeObject, optsOutYoungest } from '../support/moves.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { annotates, expectSameEndAfterEveryCrash, inFlight, tell, when } from '../support/scenario.ts';

const ownMarks = {
  'karpenter.sh/do-not-disrupt': null,
  'noderotation.io/do-not-disrupt-owned': null,
  'noderotation.io/surge-for': null,
};
const held: unknown[] = [];

const marked = (stage: Stage) =>
  [inFlight(stage).node, hostOf(stage)].map(
    (name) => annotationsOf(nodeObject(stage, name))['noderotation.io/surge-for'] === inFlight(stage).claim,
  );

const scenario: Scenario = {
  arrange: optsOutYoungest,
  minutes: 12,
  moves: [
    { when: when.waiting(), after: 20, make: (stage) => freezes(stage, 'NodePool', 'api', '2026-06-09T17:06:30Z') },
    // Under the freeze somebody's clean-up script takes the marks off both nodes.
    {
      when: when.hostSeen(),
      make: (stage) => {
        for (const node of [inFlight(stage).node, hostOf(stage)]) annotates(stage, 'Node', node, ownMarks);
      },
    },
    // A tick later they are back; nothing else has happened.
    {
      when: (stage) => marked(stage).every(Boolean),
      make: (stage) => held.push({ ...inFlight(stage), cordoned: isCordoned(nodeObject(stage, inFlight(stage).node)) }),
    },
  ],
};

it('a freeze holds a waiting surge with its marks kept, and the rotation goes on when it ends (R3.1-05, R3.1-06, R3.1-07, D7-02)', async () => {
  const told = await tell(scenario);
  expect(held).toEqual([
    { claim: expect.stringMatching(/^api-/), node: expect.any(String), surgeClaim: told.claimsMade[0], cordoned: true },
  ]);
  expect(accountOf(told)).toEqual({
    course: ['start', 'hold', 'handOver', 'finish'],
    audit: ['17:00 started', '17:07 draining provisioned', '17:08 completed provisioned'],
    events: ['17:00 Normal RotationStarted NodePool/api', '17:08 Normal RotationCompleted NodePool/api'],
    leftovers: [],
    operators: ['Node opted out', 'NodePool api frozen until 2026-06-09T17:06:30Z'],
    claims: { present: 2, made: 1 },
  });
  // The surge was ready within the first minute; the hold does not count as waiting for it.
  expect(told.table.wire().at(-1)).toMatchObject({ surgeWait: '1m8s', drain: '1m' });
});

it('whatever action the process dies before (R3.8-04, R3.1-07)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
