import { expect, it } from 'vitest';
import type { KubeObject } from '../../lib/simulator/kube-object.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, inFlight, nodeNow, tell } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

let old = { claim: '', node: '' };
let lostHost = '';

/** The next delete of the old claim never arrives; dry runs and everything else do. */
const loseTheDelete = (stage: Stage): void => {
  let lost = false;
  stage.faults = {
    next: ({ verb, kind }) => {
      const real =
        verb === 'delete' && kind === 'NodeClaim' && stateOf(stage.world)['active-rotation-state'] === 'draining';
      if (!real || lost) return undefined;
      lost = true;
      return 'lostRequest';
    },
  };
};

const neverLanded = (stage: Stage): boolean => {
  const { claim } = inFlight(stage);
  return (
    stateOf(stage.world)['active-rotation-state'] === 'draining' &&
    stage.world.store.get('NodeClaim', claim)?.metadata.deletionTimestamp === undefined
  );
};

/** The spot instance is taken back: claim, Node and Pods are gone at once. */
const hostVanishes = (stage: Stage): void => {
  old = inFlight(stage);
  const { store } = stage.world;
  const claim = store.get('NodeClaim', inFlight(stage).surgeClaim ?? '') as KubeObject & {
    status: { nodeName: string };
  };
  lostHost = claim.metadata.name;
  const node = store.get('Node', claim.status.nodeName) as KubeObject;
  store.remove(claim);
  store.remove(node);
};

const scenario: Scenario = {
  minutes: 12,
  arrange: loseTheDelete,
  moves: [{ when: neverLanded, after: 20, make: hostVanishes }],
};

it('a delete that never arrived is not repeated onto a host that is gone: the rotation waits for another surge (D7-05, D5-03)', async () => {
  const told = await tell(scenario);
  expect(told.movesLeft).toBe(0);
  expect(became(told)).toEqual({
    course: [
      'start',
      'awaitSurge',
      'handOver (unreachable)',
      'leaveDraining',
      'recreatePlaceholder',
      'awaitSurge',
      'handOver',
      'finish',
    ],
    rows: ['started', 'draining', 'draining', 'completed'],
    events: ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'],
    leftovers: [],
  });
  expect(new Set(told.table.wire().map((row) => row.startedAt)).size).toBe(1);
  expect(told.claimsMade[0]).toBe(lostHost);
  expect(told.claimsMade).toHaveLength(2);
  expect(nodeNow(told, old.node)).toBe('gone');
  expect(claimsOf(told)).toHaveLength(2);
});

it('a delete that never arrived is repeated while its host is still what it was (D7-05)', async () => {
  const told = await tell({ minutes: 8, arrange: loseTheDelete });
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver (unreachable)', 'repeatDelete', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'],
    leftovers: [],
  });
  expect(told.claimsMade).toHaveLength(1);
});

it('whatever action the process dies before (D7-05, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash({ minutes: 9, arrange: loseTheDelete });
});
