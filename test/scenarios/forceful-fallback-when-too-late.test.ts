import { expect, it } from 'vitest';
import { days, duration, minutes } from '../../lib/domain/time.ts';
import { accountOf, noteOf } from '../support/account.ts';
import { annotationsOf, claimObject, fleetWith, isCordoned, nodeObject, optsOutYoungest } from '../support/moves.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { expectSameEndAfterEveryCrash, inFlight, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

const begun: unknown[] = [];

const whileDraining = (stage: Stage): unknown => {
  const { claim, node } = inFlight(stage);
  return {
    pool: stateOf(stage.world)['rotation-mode'],
    claim: annotationsOf(claimObject(stage, claim))['noderotation.io/rotation-mode'],
    node: annotationsOf(nodeObject(stage, node)),
    cordoned: isCordoned(nodeObject(stage, node)),
  };
};

// Forty minutes are left at the opening; a rotation may take 15m + 1h + 2m.
const scenario: Scenario = {
  fleet: fleetWith({
    ages: [duration(days(14) - minutes(50)), days(2)],
    surge: { forcefulFallback: { enabled: true } },
  }),
  arrange: optsOutYoungest,
  minutes: 6,
  moves: [{ when: when.draining(), make: (stage) => begun.push(whileDraining(stage)) }],
};

it('a node with too little time left for a surge is drained inside the window without one (D6-07, D7-01, R3.6-01, R3.6-02, R3.6-05, R3.6-06)', async () => {
  const told = await tell(scenario);
  expect(begun).toEqual([{ pool: 'forceful-fallback', claim: 'forceful-fallback', node: {}, cordoned: false }]);
  expect(accountOf(told)).toEqual({
    course: ['startFallback', 'awaitDrain', 'finish'],
    audit: ['17:00 fallbackStarted', '17:02 completed'],
    events: ['17:00 Warning ForcefulFallback NodePool/api', '17:02 Normal RotationCompleted NodePool/api'],
    leftovers: [],
    operators: ['Node opted out'],
    claims: { present: 2, made: 1 },
  });
  expect(noteOf(told, 'ForcefulFallback')).toBe(
    'NodeClaim claim has less than 1h17m left, too little for a surge, so it is drained inside the window without one.',
  );
  expect(told.table.wire().at(-1)).toMatchObject({ step: 'completed', mode: 'forceful-fallback' });
  // It was ours, before its deadline: Karpenter had nothing to expire.
  expect(told.world.forcefulExpirations).toEqual([]);
});

it('with the option off such a node gets its surge, and its deadline comes when it comes (R3.6-04, D6-07)', async () => {
  const told = await tell({
    ...scenario,
    fleet: fleetWith({ ages: [duration(days(14) - minutes(50)), days(2)] }),
    moves: [],
  });
  expect(accountOf(told)).toMatchObject({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    audit: ['17:00 started', '17:02 draining provisioned', '17:03 completed provisioned'],
    leftovers: [],
    operators: ['Node opted out'],
  });
});

it('whatever action the process dies before (R3.8-04, D7-05)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
