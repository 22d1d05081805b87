import { expect, it } from 'vitest';
import { days } from '../../lib/domain/time.ts';
import type { Scenario } from '../support/scenario.ts';
import { became, claimsOf, expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';
import { oneDueNode } from '../support/story.ts';

const [pool] = oneDueNode.pools as [(typeof oneDueNode.pools)[0]];
const [app] = oneDueNode.apps as [(typeof oneDueNode.apps)[0]];
const crowd = 21;

/** The most nodes of the pool that were unschedulable, and the most placeholders, at any one moment. */
let most = { cordoned: 0, placeholders: 0 };
const scenario: Scenario = {
  minutes: 30,
  fleet: {
    ...oneDueNode,
    pools: [{ ...pool, nodes: crowd, ages: Array(crowd).fill(days(10)), limits: { cpu: '128' } }],
    // Three Pods of 900m on each: no node has room for the Pods of another.
    apps: [{ ...app, replicas: 3 * crowd }],
  },
  arrange: ({ world: { store } }) => {
    most = { cordoned: 0, placeholders: 0 };
    store.onChange(() => {
      const cordoned = store
        .all('Node')
        .filter(({ spec }) => (spec as { unschedulable?: boolean }).unschedulable).length;
      const placeholders = store.all('Pod').filter(({ metadata }) => metadata.namespace === 'node-rotation').length;
      most = { cordoned: Math.max(most.cordoned, cordoned), placeholders: Math.max(most.placeholders, placeholders) };
    });
  },
};

it('of twenty-one nodes that fall due together one is cordoned at a time, with the cooldown between two (R3.8-07, R3.4-07, D6-04, D7-10)', async () => {
  const told = await tell(scenario);
  expect(most).toEqual({ cordoned: 1, placeholders: 1 });
  expect(became(told).course).toEqual([
    ...['start', 'awaitSurge', 'handOver', 'finish'],
    ...['start', 'awaitSurge', 'handOver', 'finish'],
    ...['start', 'awaitSurge', 'handOver', 'finish'],
  ]);
  expect(became(told).leftovers).toEqual([]);
  expect(told.claimsMade).toHaveLength(3);
  expect(claimsOf(told)).toHaveLength(crowd);
  // Same age: the name decides, so the order is the same every time.
  const rotated = told.table.trail().flatMap((row) => (row.startsWith('started') ? [row.split(' ')[1]] : []));
  expect(rotated).toEqual([...rotated].sort());
});

it('that so many cannot all be rotated in time is said once, with the first start (R3.2-41, R3.2-42, D11-03)', async () => {
  const told = await tell({ ...scenario, minutes: 12 });
  const said = became(told).events.filter((event) => event.includes('Throughput'));
  expect(said).toEqual([
    'Warning ThroughputBelowArrival NodePool/api',
    'Warning ThroughputBurstShortfall NodePool/api',
  ]);
});

it('whatever action the process dies before (R3.8-07, R3.8-04)', async () => {
  // One rotation of the crowd: the others are like it.
  await expectSameEndAfterEveryCrash({ ...scenario, minutes: 5 }, 6);
});
