import { expect, it } from 'vitest';
import { demonstrationPolicy } from '../../lib/simulator/fleet.ts';
import type { Scenario } from '../support/scenario.ts';
import {
  became,
  claimState,
  claimsOf,
  expectSameEndAfterEveryCrash,
  nodeNow,
  tell,
  withSurge,
} from '../support/scenario.ts';
import { oneDueNode } from '../support/story.ts';

let old = { claim: '', node: '' };
/** No instance is to be had, so the attempt fails and the old node stays. */
const scenario: Scenario = {
  minutes: 8,
  fleet: { ...oneDueNode, policy: withSurge(demonstrationPolicy, { readyTimeout: '3m' }) },
  arrange: (stage) => {
    [old] = claimsOf(stage) as [typeof old];
    stage.world.launchOutcome = () => 'insufficientCapacity';
    stage.world.store.patch({ kind: 'Node', name: old.node }, { spec: { unschedulable: true } });
  },
};

it('a node that an operator had cordoned is still cordoned after a failed attempt, and its protection is gone (R3.4-08, R3.8-01, D7-07)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'rollBack'],
    rows: ['started', 'failed'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Warning SurgeUnschedulable NodePool/api',
      'Warning RotationFailed NodePool/api',
    ],
    leftovers: [],
  });
  expect(nodeNow(told, old.node)).toEqual({ cordoned: true, doNotDisrupt: undefined });
  expect(claimState(told, old.claim)).toMatchObject({ state: 'failed', 'retry-count': '1' });
});

it('whatever action the process dies before (R3.4-08, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
