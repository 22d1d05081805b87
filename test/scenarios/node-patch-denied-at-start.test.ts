import { expect, it } from 'vitest';
import { forbidden } from '../../lib/simulator/api-status.ts';
import { demonstrationPolicy } from '../../lib/simulator/fleet.ts';
import { kindOf } from '../../lib/simulator/kinds.ts';
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
import { oneDueNode, stateOf } from '../support/story.ts';

const words = 'User "node-rotation" cannot patch resource "nodes" in API group "" at the cluster scope';
let old = { claim: '', node: '' };
const scenario: Scenario = {
  minutes: 9,
  fleet: { ...oneDueNode, policy: withSurge(demonstrationPolicy, { readyTimeout: '4m' }) },
  arrange: (stage) => {
    [old] = claimsOf(stage) as [typeof old];
    stage.world.store.admission = (verb, object) =>
      verb === 'patch' && object.kind === 'Node' ? forbidden(kindOf('Node'), object.metadata.name, words) : undefined;
  },
};

it('an attempt that may not mark nodes ends in a rollback at readyTimeout, with the server’s words (D7-01, D7-07, D5-01)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start (rejected)', 'recreatePlaceholder', 'awaitSurge (rejected)', 'rollBack'],
    rows: ['started', 'failed'],
    events: ['Normal RotationStarted NodePool/api', 'Warning RotationFailed NodePool/api'],
    leftovers: [],
  });
  expect(told.table.wire()[1]).toMatchObject({ refusal: expect.stringContaining(words) });
  expect(nodeNow(told, old.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(claimState(told, old.claim)).toMatchObject({ state: 'failed', 'retry-count': '1' });
  expect(stateOf(told.world)).toHaveProperty('last-failure-at');
  expect(claimsOf(told)).toHaveLength(2);
});

it('an attempt that may not mark the surge host only quotes the server, too (D7-03, D7-07, D5-01)', async () => {
  const told = await tell({
    ...scenario,
    arrange: (stage) => {
      [old] = claimsOf(stage) as [typeof old];
      stage.world.store.admission = (verb, object) =>
        verb === 'patch' && object.kind === 'Node' && object.metadata.name !== old.node
          ? forbidden(kindOf('Node'), object.metadata.name, words)
          : undefined;
    },
  });
  expect(became(told)).toMatchObject({
    course: ['start', 'awaitSurge (rejected)', 'rollBack'],
    rows: ['started', 'failed'],
    leftovers: [],
  });
  expect(told.table.wire()[1]).toMatchObject({ refusal: expect.stringContaining(words) });
  expect(nodeNow(told, old.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
});

it('whatever action the process dies before (D7-01, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
