import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import type { KubeObject } from '../../lib/simulator/kube-object.ts';
import type { Scenario } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, nodeNow, tell } from '../support/scenario.ts';
import { oneDueNode } from '../support/story.ts';

const [pool] = oneDueNode.pools as [(typeof oneDueNode.pools)[0]];

let odd = { claim: '', node: '' };
const scenario: Scenario = {
  minutes: 6,
  fleet: { ...oneDueNode, pools: [{ ...pool, ages: [days(10), days(9)] }] },
  arrange: (stage) => {
    const { store } = stage.world;
    [odd] = claimsOf(stage) as [typeof odd];
    store.update(store.get('NodeClaim', odd.claim) as KubeObject, { spec: { expireAfter: 'two weeks' } });
  },
};

it('a claim whose expireAfter cannot be read spoils nothing for the others and is never guessed at (D2-03, D5-06, D6-05)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: [
      'Normal RotationStarted NodePool/api',
      `Warning Unreadable NodeClaim/${odd.claim}`,
      'Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
  });
  expect(told.table.wire().map((row) => row.claim)).not.toContain(odd.claim);
  expect(nodeNow(told, odd.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
});

it('whatever action the process dies before (D5-06, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
