import { expect, it } from 'vitest';
import { accountOf } from '../support/account.ts';
import { annotationsOf, claimObject, nodeObject, optsOutYoungest } from '../support/moves.ts';
import type { Scenario } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

// The first claim fails to launch and Karpenter makes another; the node of that one is replaced by node repair.
// Pods take 70 s to start, so the placeholder is bound a minute before it runs.
const scenario: Scenario = {
  options: { delays: { podStart: { min: 70, max: 70 } } },
  arrange: (stage) => {
    optsOutYoungest(stage);
    stage.world.launchOutcome = (_offering, claim) =>
      claim === stage.claimsMade[0] ? 'insufficientCapacity' : 'registers';
  },
  minutes: 12,
  moves: [
    {
      when: when.hostSeen(),
      after: 20,
      make: (stage) => {
        const claim = claimObject(stage, inFlight(stage).surgeClaim);
        if (claim) stage.world.store.terminate(claim);
      },
    },
    // While it waits for the third host, only that one and the candidate are marked.
    {
      when: (stage) => inFlight(stage).surgeClaim === stage.claimsMade[2],
      make: (stage) => {
        const marked = stage.world.store
          .all('Node')
          .filter((node) => annotationsOf(node)['noderotation.io/surge-for'] !== undefined);
        expect(marked.map(({ metadata }) => metadata.name).sort()).toEqual(
          [inFlight(stage).node, claimObject(stage, stage.claimsMade[2])?.status.nodeName].sort(),
        );
        expect(nodeObject(stage, claimObject(stage, stage.claimsMade[1])?.status.nodeName)).toBeUndefined();
        expect(annotationsOf(claimObject(stage, inFlight(stage).claim))['noderotation.io/surge-claim']).toBe(
          stage.claimsMade[2],
        );
      },
    },
  ],
};

it('a surge claim that is replaced while it is awaited is followed, on the pool and on the claim (D7-02, R3.8-05, PR-47)', async () => {
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
    audit: ['17:00 started', '17:06 draining provisioned', '17:08 completed provisioned'],
    events: [
      '17:00 Normal RotationStarted NodePool/api',
      '17:01 Warning SurgeUnschedulable NodePool/api',
      '17:08 Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2, made: 3 },
  });
  expect(told.table.wire().at(-1)).toMatchObject({ surgeClaim: told.claimsMade[2], surgePath: 'provisioned' });
  expect(stateOf(told.world)).not.toHaveProperty('last-failure-at');
});

it('whatever action the process dies before (R3.8-04, D7-02)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
