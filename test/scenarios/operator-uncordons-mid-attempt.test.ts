import { expect, it } from 'vitest';
import type { Scenario, Stage } from '../support/scenario.ts';
import { became, expectSameEndAfterEveryCrash, inFlight, nodeNow, tell, when } from '../support/scenario.ts';

let node = '';
const isCordoned = (stage: Stage): boolean => {
  const now = nodeNow(stage, node);
  return now !== 'gone' && now.cordoned;
};
const scenario: Scenario = {
  minutes: 10,
  // The surge takes minutes, so that a tick passes between the operator's move and the hand-over.
  options: { delays: { registration: { min: 130, max: 130 } } },
  moves: [
    {
      when: when.waiting(),
      after: 20,
      make: (stage) => {
        node = inFlight(stage).node;
        stage.world.store.patch({ kind: 'Node', name: node }, { spec: { unschedulable: null } });
      },
    },
    // Cordoned again while it still waits, or this move is never made.
    { when: (stage) => when.waiting()(stage) && isCordoned(stage), make: () => undefined },
  ],
};

it('a candidate that an operator uncordons is cordoned again by the next tick, and rotated (R3.4-07, R3.1-07, D7-02)', async () => {
  const told = await tell(scenario);
  expect(told.movesLeft).toBe(0);
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Warning SurgeUnschedulable NodePool/api',
      'Normal RotationCompleted NodePool/api',
    ],
    leftovers: [],
  });
  expect(nodeNow(told, node)).toBe('gone');
});

it('whatever action the process dies before (R3.4-07, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});
