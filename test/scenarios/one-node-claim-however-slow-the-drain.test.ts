import { expect, it } from 'vitest';
import type { Cluster } from '../../lib/controller/ports.ts';
import { add, days, minutes } from '../../lib/domain/time.ts';
import { stopAnnotation } from '../../lib/simulator/workloads.ts';
import { app, claimObject, fleetWith } from '../support/moves.ts';
import type { Scenario, Stage } from '../support/scenario.ts';
import { course, expectSameEndAfterEveryCrash, tell } from '../support/scenario.ts';
import { leftovers, stateOf } from '../support/story.ts';

/** Two Pods of a StatefulSet that take long to stop, under a budget that lets one go at a time. */
function addQueue({ world }: Stage): void {
  const labels = { app: 'queue' };
  const metadata = { name: 'queue', namespace: 'shop' };
  const selector = { matchLabels: labels };
  const spec = {
    containers: [{ name: 'main', resources: { requests: { cpu: '700m', memory: '1Gi' } } }],
    nodeSelector: { workload: 'api' },
    terminationGracePeriodSeconds: 300,
  };
  const template = { metadata: { labels, annotations: { [stopAnnotation]: '90' } }, spec };
  world.store.create({ kind: 'StatefulSet', metadata, spec: { replicas: 2, selector, template } });
  world.store.create({ kind: 'PodDisruptionBudget', metadata, spec: { selector, maxUnavailable: 1 } });
  world.advance(add(world.now, minutes(1)));
}

// One full node: beside its replacement's placeholder nothing has room.
const scenario: Scenario = {
  fleet: fleetWith({ ages: [days(10)], apps: [app('web', 3, '600m', { minAvailable: 2 })] }),
  arrange: addQueue,
  minutes: 16,
};

const ended = ['start', 'awaitSurge', 'handOver', 'awaitDrain', 'finish'];

it('a provisioned rotation makes exactly one NodeClaim, with strict budgets, StatefulSets and slow Pods (D7-04, R3.3-02, PR-03)', async () => {
  const told = await tell(scenario);
  expect(course(told)).toEqual(ended);
  expect(told.table.trail().map((row) => row.split(' ').slice(2).join())).toEqual(['', 'provisioned', 'provisioned']);
  expect([told.claimsMade.length, leftovers(told.world)]).toEqual([1, []]);
});

it('whatever action the process dies before (R3.8-04, D7-04)', async () => {
  await expectSameEndAfterEveryCrash(scenario);
});

/** Says that the placeholder is gone and leaves it, until the old NodeClaim is gone. */
function keepsPlaceholder(cluster: Cluster, stage: Stage): Cluster {
  return {
    observe: () => cluster.observe(),
    inspect: (need) => cluster.inspect(need),
    reread: (pool, node) => cluster.reread(pool, node),
    apply: async (action) =>
      action.kind === 'deletePlaceholder' && claimObject(stage, stateOf(stage.world)['active-rotation']) !== undefined
        ? { outcome: 'applied' }
        : cluster.apply(action),
  };
}

it('with the placeholder kept through the drain the same rotation makes two (D7-04, PR-03)', async () => {
  const told = await tell({ ...scenario, through: keepsPlaceholder });
  expect(course(told)).toEqual(ended);
  expect(told.claimsMade).toHaveLength(2);
});
