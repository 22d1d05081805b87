import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import { forbidden } from '../../lib/simulator/api-status.ts';
import { kindOf } from '../../lib/simulator/kinds.ts';
import type { Scenario } from '../support/scenario.ts';
import { became, claimState, claimsOf, expectSameEndAfterEveryCrash, nodeNow, tell } from '../support/scenario.ts';
import { oneDueNode, stateOf } from '../support/story.ts';

const words = 'admission webhook "guard.example" denied the request: this NodeClaim is managed elsewhere';
const [pool] = oneDueNode.pools as [(typeof oneDueNode.pools)[0]];

let denied = { claim: '', node: '' };
let other = { claim: '', node: '' };
const scenario: Scenario = {
  minutes: 20,
  fleet: { ...oneDueNode, pools: [{ ...pool, ages: [days(11), days(10)] }] },
  arrange: (stage) => {
    [denied, other] = claimsOf(stage) as [typeof denied, typeof other];
    stage.world.store.admission = (verb, object) =>
      verb === 'patch' && object.metadata.name === denied.claim
        ? forbidden(kindOf('NodeClaim'), denied.claim, words)
        : undefined;
  },
};

it('a claim that takes no mark of ours fails once and then lets the others go first (D6-05, D7-01, D7-04, D6-08)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toMatchObject({
    course: [
      'start (rejected)',
      'recreatePlaceholder',
      'awaitSurge',
      'handOver (rejected)',
      'rollBack',
      'start',
      'awaitSurge',
      'handOver',
      'finish',
    ],
    rows: ['started', 'failed', 'started', 'draining', 'completed'],
    leftovers: [],
  });
  expect(told.table.wire().map((row) => row.claim)).toEqual([
    denied.claim,
    denied.claim,
    other.claim,
    other.claim,
    other.claim,
  ]);
  expect(told.table.wire()[1]).toMatchObject({ refusal: expect.stringContaining(words) });
  expect(nodeNow(told, denied.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(claimState(told, denied.claim)).toEqual({});
  expect(nodeNow(told, other.node)).toBe('gone');
  expect(stateOf(told.world)).toMatchObject({
    'last-failure-at': expect.any(String),
    'last-rotation-at': expect.any(String),
  });
});

it('whatever action the process dies before (D6-05, R3.8-04)', async () => {
  // Up to the end of the denied attempt; the other claim's rotation is the ordinary one.
  await expectSameEndAfterEveryCrash({ ...scenario, minutes: 6 });
});
