import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import type { Scenario } from '../support/scenario.ts';
import {
  annotates,
  became,
  claimState,
  claimsOf,
  expectSameEndAfterEveryCrash,
  nodeNow,
  tell,
  when,
} from '../support/scenario.ts';
import { oneDueNode } from '../support/story.ts';

const [pool] = oneDueNode.pools as [(typeof oneDueNode.pools)[0]];
const key = 'noderotation.io/state';

let odd = { claim: '', node: '' };
const scenario: Scenario = {
  minutes: 6,
  fleet: { ...oneDueNode, pools: [{ ...pool, ages: [days(10), days(9)] }] },
  arrange: (stage) => {
    [odd] = claimsOf(stage) as [typeof odd];
    annotates(stage, 'NodeClaim', odd.claim, { [key]: 'pendign' });
  },
};

it('a claim whose state nobody can read is named once and left alone, the next in line is rotated (D5-06, D6-05, D11-03)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: [
      'Normal RotationStarted NodePool/api',
      `Warning StateMalformed NodeClaim/${odd.claim}`,
      'Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
  });
  expect(told.table.wire().map((row) => row.claim)).not.toContain(odd.claim);
  expect(claimState(told, odd.claim)).toEqual({ state: 'pendign', warnings: 'StateMalformed' });
  expect(nodeNow(told, odd.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
});

it('once an operator has removed it, the claim is rotated in its turn (D5-06)', async () => {
  const told = await tell({
    ...scenario,
    minutes: 22,
    moves: [{ when: when.over(), make: (stage) => annotates(stage, 'NodeClaim', odd.claim, { [key]: null }) }],
  });
  expect(told.table.trail().at(-1)).toBe(`completed ${odd.claim} provisioned`);
  expect(nodeNow(told, odd.node)).toBe('gone');
});

it('whatever action the process dies before (D5-06, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
