import { expect, it } from 'vitest';
import type { Scenario } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, nodeNow, tell } from '../support/scenario.ts';
import { stateOf } from '../support/story.ts';

const scenario: Scenario = {
  minutes: 100,
  arrange: (stage) => void stage.world.store.patch({ kind: 'NodePool', name: 'api' }, { spec: { replicas: 2 } }),
};

it('a pool with a fixed number of nodes is not rotated, and a hundred ticks say so in one Event (D6-04, D11-03, D6-09)', async () => {
  const told = await tell(scenario);
  expect(told.ticks).toHaveLength(100);
  expect(became(told)).toEqual({
    course: [],
    rows: [],
    events: ['Warning StaticNodePool NodePool/api'],
    leftovers: [],
  });
  expect(told.ticks.slice(1).flatMap((tick) => tick.pools.flatMap(({ results }) => results))).toEqual([]);
  expect(new Set(told.ticks.map((tick) => tick.pools[0]?.decision.blocked?.reason))).toEqual(
    new Set(['StaticNodePool']),
  );
  expect(stateOf(told.world)).toEqual({ warnings: 'StaticNodePool' });
  expect(told.claimsMade).toEqual([]);
  expect(claimsOf(told).map(({ node }) => nodeNow(told, node))).toEqual(
    Array(2).fill({ cordoned: false, doNotDisrupt: undefined }),
  );
});

it('a fixed number of none is static, too (D6-04)', async () => {
  const none: Scenario['arrange'] = (stage) =>
    void stage.world.store.patch({ kind: 'NodePool', name: 'api' }, { spec: { replicas: 0 } });
  expect(became(await tell({ minutes: 3, arrange: none }))).toMatchObject({
    course: [],
    events: ['Warning StaticNodePool NodePool/api'],
  });
});

it('once it is dynamic again it is rotated, and the warning is taken back (D6-04, D11-03)', async () => {
  const told = await tell({
    ...scenario,
    minutes: 10,
    moves: [
      {
        when: (stage) => stateOf(stage.world).warnings === 'StaticNodePool',
        make: (stage) => void stage.world.store.patch({ kind: 'NodePool', name: 'api' }, { spec: { replicas: null } }),
      },
    ],
  });
  expect(became(told).rows).toEqual(['started', 'draining', 'completed']);
  expect(stateOf(told.world)).not.toHaveProperty('warnings');
});

it('whatever action the process dies before (D11-03, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash({ ...scenario, minutes: 5 });
});
