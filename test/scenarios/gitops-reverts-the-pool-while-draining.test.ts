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
const scenario: Scenario = {
  minutes: 9,
  options: { delays: { instanceStop: { min: 150, max: 150 } } },
  moves: [{ when: when.draining(), after: 20, make: revert }],
};

it('a NodePool put back while the old node drains holds its slot again, and the drain ends in a completed rotation (D5-02, D7-05, D7-06)', async () => {
  const told = await tell(scenario);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'restore', 'awaitDrain', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: ['Normal RotationStarted NodePool/api', 'Normal RotationCompleted NodePool/api'],
    leftovers: [],
  });
  expect(told.table.wire().map((row) => row.claim)).toEqual([old.claim, old.claim, old.claim]);
  expect(stateOf(told.world)['last-rotation-at']).toBe(told.table.wire()[2]?.at);
  expect(nodeNow(told, old.node)).toBe('gone');
  expect(claimsOf(told).map(({ node }) => nodeNow(told, node))).toEqual([
    { cordoned: false, doNotDisrupt: undefined },
    { cordoned: false, doNotDisrupt: undefined },
  ]);
});

it('whatever action the process dies before (D5-02, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
