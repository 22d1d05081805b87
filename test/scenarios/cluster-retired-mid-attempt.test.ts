import { expect, it } from 'vitest';
import type { Move, Scenario } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, inFlight, nodeNow, tell, when } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

let candidate = { claim: '', node: '' };
const retire = (at: Move['when']): Move => ({
  when: at,
  after: 20,
  make: (stage) => {
    candidate = inFlight(stage);
    stage.retired = true;
  },
});
const pending: Scenario = { minutes: 6, moves: [retire(when.waiting())] };
const draining: Scenario = {
  minutes: 9,
  options: { delays: { instanceStop: { min: 150, max: 150 } } },
  moves: [retire(when.draining())],
};

it('a cluster taken out of the configuration is left as if we had never been there (D6-01, D7-08, D9-03)', async () => {
  const told = await tell(pending);
  expect(became(told)).toEqual({
    course: ['start', 'abort'],
    rows: ['started', 'aborted'],
    events: [
      'Normal RotationStarted NodePool/api',
      'Normal RotationAborted NodePool/api',
      'Warning GovernanceLost NodePool/api',
    ],
    leftovers: [],
  });
  expect(told.table.wire()[1]).toMatchObject({
    reason: 'GovernanceLost: the cluster has been retired from the configuration',
  });
  expect(nodeNow(told, candidate.node)).toEqual({ cordoned: false, doNotDisrupt: undefined });
  expect(claimsOf(told)).toHaveLength(2);
});

it('a drain under way in a retired cluster is followed to its end (D6-01, D9-03)', async () => {
  const told = await tell(draining);
  expect(became(told)).toMatchObject({
    course: ['start', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'],
    rows: ['started', 'draining', 'completed'],
    leftovers: [],
  });
  expect(nodeNow(told, candidate.node)).toBe('gone');
});

it('a warning given before goes with the cluster, and no other is given (D9-03, D11-03)', async () => {
  const told = await tell({
    minutes: 4,
    arrange: (stage) => void stage.world.store.patch({ kind: 'NodePool', name: 'api' }, { spec: { replicas: 2 } }),
    moves: [
      {
        when: ({ world }) => stateOf(world).warnings === 'StaticNodePool',
        make: (stage) => void Object.assign(stage, { retired: true }),
      },
    ],
  });
  expect(told.movesLeft).toBe(0);
  expect(became(told).events).toEqual(['Warning StaticNodePool NodePool/api']);
  expect(stateOf(told.world)).toEqual({});
});

it('whatever action the process dies before (D9-03, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(pending);
  await expectSameEndAfterEveryCrash(draining, 2);
});
