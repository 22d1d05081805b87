import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import type { NodeObject } from '../../lib/simulator/kube-object.ts';
import { annotationsOf, app, fleetWith } from '../support/moves.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { course, tell, when } from '../support/scenario.ts';

/** Nodes with our cordon, after every tick. */
const counts: number[] = [];

const countCordons = ({ world }: Stage): number =>
  world.store.all<NodeObject>('Node').filter((node) => annotationsOf(node)['noderotation.io/cordoned'] !== undefined)
    .length;

const scenario: Scenario = {
  fleet: fleetWith({ ages: [days(10), days(10), days(10)], apps: [app('web', 9, '900m', { maxUnavailable: 0 })] }),
  arrange: ({ world }) => {
    counts.length = 0;
    world.store.onChange(() => counts.push(countCordons({ world } as Stage)));
  },
  minutes: 14,
};

it('while a budget holds the first of three due nodes, the others are not touched (R3.3-01, R3.4-07, R3.8-07, PR-19)', async () => {
  let before = 0;
  const told = await tell({
    ...scenario,
    moves: [
      {
        when: when.draining(),
        make: ({ steps }) => {
          before = steps.length;
        },
      },
    ],
  });
  expect(course(told)).toEqual(['start', 'awaitSurge', 'handOver', 'awaitDrain']);
  // Ten ticks and more look at the same drain.
  expect(told.steps.length - before).toBeGreaterThanOrEqual(10);
  expect([Math.max(...counts), told.claimsMade.length]).toEqual([1, 1]);
});

it('nor are they whatever action the process dies before (R3.3-01, R3.8-07, PR-19)', async () => {
  const short = { ...scenario, minutes: 6 };
  const { actions } = await tell(short);
  for (let action = 1; action <= actions; action += 1) {
    const told = await tell(short, action);
    expect({ action, cordons: Math.max(...counts), made: told.claimsMade.length }).toEqual({
      action,
      cordons: 1,
      made: 1,
    });
  }
});
