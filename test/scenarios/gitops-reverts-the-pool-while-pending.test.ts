import { expect, it } from 'vitest';
import type { Scenario, Stage } from '../support/scenario.ts';
import {
  annotates,
  became,
  claimsOf,
  expectSameEndAfterEveryCrash,
  inFlight,
  nodeNow,
  tell,
  when,
} from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

let old = { claim: '', node: '' };
const revert = (stage: Stage): void => {
  old = inFlight(stage);
  const ours = Object.keys(stateOf(stage.world)).map((key) => [`noderotation.io/${key}`, null] as const);
  annotates(stage, 'NodePool', 'api', Object.fromEntries(ours));
};
const onceTheHostIsSeen: Scenario = { minutes: 9, moves: [{ when: when.hostSeen(), after: 20, make: revert }] };
const beforeTheHostIsSeen: Scenario = { minutes: 9, moves: [{ when: when.waiting(), after: 20, make: revert }] };

it('a NodePool put back to what is in Git gets its anchor again from the claim, and the rotation goes on (D5-01, D5-02)', async () => {
  const told = await tell(onceTheHostIsSeen);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'restore', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'],
    leftovers: [],
  });
  const [started, draining, completed] = told.table.wire();
  expect(new Set([started, draining, completed].map((row) => row?.startedAt))).toEqual(new Set([started?.at]));
  expect(completed).toMatchObject({ claim: old.claim, surgePath: 'provisioned' });
  expect(nodeNow(told, old.node)).toBe('gone');
  expect(claimsOf(told)).toHaveLength(2);
});

it('whatever action the process dies before (D5-02, R3.8-04)', async () => {
  // A process that dies while it marks the host sees it ready when it comes back, and hands over in the same minute:
  // the later revert would have no moment in which to come.
  await expectSameEndAfterEveryCrash(beforeTheHostIsSeen);
});
