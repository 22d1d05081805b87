import { expect, it } from 'vitest';
import { demonstrationPolicy } from '../../lib/simulator/fleet.ts';
import type { Scenario } from '../support/scenario.ts';
import { became, claimsOf, course, eventsOf, expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';
import { oneDueNode, stateOf } from '../support/story.ts';

const names = ['api', 'batch', 'search'];
const [pool] = oneDueNode.pools as [(typeof oneDueNode.pools)[0]];
const [app] = oneDueNode.apps as [(typeof oneDueNode.apps)[0]];
const scenario: Scenario = {
  minutes: 8,
  fleet: {
    ...oneDueNode,
    pools: names.map((name) => ({ ...pool, name })),
    apps: names.map((name) => ({ ...app, name: `${name}-web`, pool: name, replicas: 4 })),
    policy: {
      ...demonstrationPolicy,
      spec: {
        ...(demonstrationPolicy['spec'] as object),
        nodePoolSelector: { matchExpressions: [{ key: 'workload', operator: 'In', values: names }] },
      },
    },
  },
};

it('three pools rotate at the same time, each at its own pace and without touching another’s nodes (D6-02, R3.8-07, D7-10)', async () => {
  const told = await tell(scenario);
  for (const name of names) {
    expect({ name, course: course(told, name) }).toEqual({
      name,
      course: ['start', 'awaitSurge', 'handOver', 'finish'],
    });
    expect(claimsOf(told, name)).toHaveLength(2);
    expect(stateOf(told.world, name)['last-ended']).toMatch(/=completed$/);
  }
  const rows = [...told.table.rows.values()];
  expect(rows.filter(({ step }) => step === 'started').map(({ at }) => at)).toEqual(Array(3).fill(rows[0]?.at));
  expect(
    rows
      .filter(({ step }) => step === 'completed')
      .map(({ nodePool }) => nodePool)
      .sort(),
  ).toEqual(names);
  expect(eventsOf(told.world).toSorted()).toEqual([
    ...names.map((name) => `Normal RotationCompleted NodePool/${name}`),
    ...names.map((name) => `Normal RotationStarted NodePool/${name}`),
  ]);
  expect(told.claimsMade).toHaveLength(3);
  expect(became(told).leftovers).toEqual([]);
});

it('whatever action of whichever pool the process dies before (D6-02, R3.8-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario, 7);
});
