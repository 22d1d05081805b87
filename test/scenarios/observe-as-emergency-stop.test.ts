import { expect, it } from 'vitest';
import type { Move, Scenario } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, inFlight, nodeNow, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

let candidate = { claim: '', node: '' };
const setObserve = (at: Move['when']): Move => ({
  when: at,
  after: 20,
  make: (stage) => {
    candidate = inFlight(stage);
    stage.world.store.patch({ kind: 'RotationPolicy', name: 'nights' }, { spec: { mode: 'Observe' } });
  },
});
const pending: Scenario = { minutes: 6, moves: [setObserve(when.waiting())] };
const draining: Scenario = {
  minutes: 9,
  options: { delays: { instanceStop: { min: 150, max: 150 } } },
  moves: [setObserve(when.draining())],
};

it('mode Observe stops a rotation that waits for its surge: it is undone, silently and without a failure (D2-08, D6-01, D7-08, D7-12)', async () => {
  const told = await tell(pending);
  expect(became(told)).toEqual({
    course: ['start', 'abort'],
    rows: ['started', 'aborted'],
    events: ['Normal RotationStarted NodePool/api'],
    leftovers: [],
  });
  expect(told.table.wire()[1]).toMatchObject({ reason: 'GovernanceLost: RotationPolicy nights is in mode Observe' });
  expect(nodeNow(told, candidate.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(Object.keys(stateOf(told.world))).toEqual(['last-ended']);
  expect(claimsOf(told)).toHaveLength(2);
});

it('mode Observe cannot stop a drain, which is followed to its end, and nothing starts after it (D2-08, D6-01)', async () => {
  const told = await tell({ ...draining, minutes: 30 });
  expect(became(told)).toEqual({
    course: ['start', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'],
    rows: ['started', 'draining', 'completed'],
    events: ['Normal RotationStarted NodePool/api'],
    leftovers: [],
  });
  expect(nodeNow(told, candidate.node)).toBe('gone');
});

it('whatever action the process dies before (D2-08, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(pending);
  await expectSameEndAfterEveryCrash(draining, 2);
});
