import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import type { Scenario } from '../support/scenario.ts';
import { annotates, became, claimsOf, expectSameEndAfterEveryCrash, nodeNow, tell, when } from '../support/scenario.ts';
import { oneDueNode, stateOf } from '../support/story.ts';

const [pool] = oneDueNode.pools as [(typeof oneDueNode.pools)[0]];
const twoDue = { ...oneDueNode, pools: [{ ...pool, ages: [days(11), days(10)] }] };

let optedOut = { claim: '', node: '' };
const scenario: Scenario = {
  fleet: twoDue,
  minutes: 20,
  arrange: (stage) => {
    [optedOut] = claimsOf(stage) as [typeof optedOut];
    annotates(stage, 'Node', optedOut.node, { 'karpenter.sh/do-not-disrupt': 'true' });
  },
};

it('a node that its operator has taken out is passed over, the next in line is rotated, and the mark stays (R3.2-06, D6-05, R3.4-03)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toMatchObject({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    leftovers: [],
  });
  expect(told.table.wire().map((row) => row.claim)).not.toContain(optedOut.claim);
  expect(nodeNow(told, optedOut.node)).toEqual({ cordoned: false, doNotDisrupt: 'true' });
});

it('a pool of which every node is taken out is left alone and said once to be so (D4-03, D6-05, D11-03)', async () => {
  const told = await tell({
    ...scenario,
    arrange: (stage) => {
      for (const { node } of claimsOf(stage)) annotates(stage, 'Node', node, { 'karpenter.sh/do-not-disrupt': 'true' });
    },
  });
  expect(became(told)).toMatchObject({ course: [], rows: [], leftovers: [] });
  expect(told.claimsMade).toEqual([]);
  expect(became(told).events.filter((event) => event.includes('PoolOptedOut'))).toEqual([
    'Warning PoolOptedOut NodePool/api',
  ]);
  expect(stateOf(told.world).warnings).toContain('PoolOptedOut');
});

it('a node that is given back before the window closes is rotated in it after all (R3.2-06, R3.8-07)', async () => {
  const told = await tell({
    ...scenario,
    minutes: 32,
    moves: [
      {
        when: when.over(),
        make: (stage) => annotates(stage, 'Node', optedOut.node, { 'karpenter.sh/do-not-disrupt': null }),
      },
    ],
  });
  expect(told.movesLeft).toBe(0);
  expect(told.table.trail().filter((row) => row.startsWith('completed'))).toHaveLength(2);
  expect(nodeNow(told, optedOut.node)).toBe('gone');
});

it('whatever action the process dies before (R3.2-06, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash({ ...scenario, minutes: 8 });
});
