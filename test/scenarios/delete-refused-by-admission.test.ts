import { expect, it } from 'vitest';
import { forbidden } from '../../lib/simulator/api-status.ts';
import { kindOf } from '../../lib/simulator/kinds.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { became, claimState, claimsOf, expectSameEndAfterEveryCrash, nodeNow, tell } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

const words = 'admission webhook "guard.example" denied the request: production nodes are deleted by people';
let old = { claim: '', node: '' };

/** Refuses to delete the old claim. A webhook without side effects is asked for dry runs, too; another may not be. */
const guarded = (refusesDryRuns: boolean): Scenario => ({
  minutes: 8,
  arrange: (stage) => {
    [old] = claimsOf(stage) as [typeof old];
    stage.world.store.admission = (verb, object) =>
      verb === 'delete' && object.metadata.name === old.claim && (refusesDryRuns || handingOver(stage))
        ? forbidden(kindOf('NodeClaim'), old.claim, words)
        : undefined;
  },
});

/** The placeholder is gone: the delete that comes is the real one. */
const handingOver = ({ world }: Stage): boolean =>
  world.store.all('Pod').every(({ metadata }) => metadata.namespace !== 'node-rotation');

it('a webhook that refuses the dry run turns the hand-over into a rollback that quotes it, before anything is given up (D7-04, D7-07, D8-09)', async () => {
  const told = await tell(guarded(true));
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'rollBack'],
    rows: ['started', 'failed'],
    events: ['Normal RotationStarted NodePool/api', 'Warning RotationFailed NodePool/api'],
    leftovers: [],
  });
  expect(told.table.wire()[1]).toMatchObject({ refusal: expect.stringContaining(words) });
  expect(nodeNow(told, old.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(claimState(told, old.claim)).toMatchObject({ state: 'failed', 'retry-count': '1' });
  // The node that was brought up for it goes again.
  expect(claimsOf(told)).toHaveLength(2);
});

it('a webhook that refuses only the delete itself ends the same way one tick later (D7-04, D7-07)', async () => {
  const told = await tell(guarded(false));
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver (rejected)', 'rollBack'],
    rows: ['started', 'draining', 'failed'],
    events: ['Normal RotationStarted NodePool/api', 'Warning RotationFailed NodePool/api'],
    leftovers: [],
  });
  expect(told.table.wire()[2]).toMatchObject({ refusal: expect.stringContaining(words) });
  expect(nodeNow(told, old.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(stateOf(told.world)).toHaveProperty('last-failure-at');
  expect(claimState(told, old.claim)).toMatchObject({ state: 'failed', 'retry-count': '1' });
  expect(claimsOf(told)).toHaveLength(2);
});

it('whatever action the process dies before (D7-04, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(guarded(true));
});
