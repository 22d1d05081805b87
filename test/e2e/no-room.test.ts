/**
 * Surges that do not come: the pool's limits, a machine that never registers, a zone without capacity.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './support/eventually.ts';
import { keepEvidence } from './support/evidence.ts';
import { nodeClassNamed, policy, workload } from './support/fleet.ts';
import {
  dueAtOnce,
  longLived,
  memoryOfFailure,
  provisionedStory,
  RotatingCluster,
} from './support/rotating-cluster.ts';
import { fourCoreTypesIn } from './support/scarce-types.ts';

const limit = 240_000;
let cluster: RotatingCluster;

beforeAll(async () => {
  cluster = await RotatingCluster.start();
});

afterAll(() => cluster?.stop());
keepEvidence(() => cluster);

test(
  'a pool whose limits leave no room starts nothing and says so, until they are raised (D8-05, R3.3-20)',
  async () => {
    const pool = 'limited';
    await cluster.apply(
      { name: pool, ...longLived, spec: { limits: { cpu: '4' } } },
      workload({ name: pool, pool, replicas: 3, cpu: '900m' }),
    );
    await cluster.see.runs(pool, 3);
    const old = await cluster.onlyClaimOf(pool);
    // Karpenter counts what a pool has every few seconds.
    await eventually('the node to be counted', 30_000, async () =>
      Number.parseInt((await cluster.see.pool(pool)).status?.resources?.cpu ?? '0', 10) > 0 ? true : undefined,
    );
    await cluster.plane.api.apply(policy(pool, dueAtOnce));
    await cluster.told(pool, 'InsufficientHeadroom');
    await wait(7_000);
    const before = await cluster.outcomeOf(pool, old);
    await cluster.plane.api.merge(`/apis/karpenter.sh/v1/nodepools/${pool}`, { spec: { limits: { cpu: '40' } } });
    await cluster.ended(pool, limit);

    await cluster.see.runs(pool, 3);
    const { events, ...outcome } = await cluster.outcomeOf(pool, old);
    const { events: usual, ...story } = provisionedStory;
    expect({ before: before.steps, outcome, events: new Set(events) }).toEqual({
      before: [],
      outcome: story,
      events: new Set(['InsufficientHeadroom', 'NoHeadroom', ...usual]),
    });
  },
  limit,
);

// One after the other: a surge without a node is known for ours only while no other Pod waits for one.
test(
  'a machine that registers too slowly is reaped at readyTimeout, and no other (R3.8-01, D7-11)',
  async () => {
    const pool = 'slow';
    await cluster.plane.api.apply(nodeClassNamed(pool));
    await cluster.apply(
      { name: pool, ...longLived, nodeClass: pool },
      workload({ name: pool, pool, replicas: 6, cpu: '1200m' }),
    );
    await cluster.see.runs(pool, 6);
    const before = (await cluster.settled(pool)).map(({ metadata: { name } }) => name);
    await cluster.plane.api.apply(nodeClassNamed(pool, '60s'));
    await cluster.plane.api.apply(policy(pool, { ...dueAtOnce, surge: { readyTimeout: '15s' } }));
    await cluster.ended(pool, limit);
    await cluster.claimsBecome(pool, 2);

    const [first] = await cluster.rowsOf(pool);
    const after = await cluster.see.claimsOf(pool);
    const old = after.find(({ metadata: { name } }) => name === first?.claim);
    expect({
      ...(await cluster.outcomeOf(pool, old)),
      names: after.map(({ metadata: { name } }) => name).sort(),
    }).toEqual({
      ...provisionedStory,
      steps: ['started', 'failed'],
      events: ['RotationStarted', 'RotationFailed'],
      claims: 2,
      oldIsThere: true,
      marks: old && memoryOfFailure(old),
      names: before.sort(),
    });
  },
  limit,
);

test(
  'a zone without capacity ends in a rollback; after the backoff the next attempt finds some (R3.7-06, R3.8-01)',
  async () => {
    const pool = 'scarce';
    await cluster.apply({ name: pool, ...longLived }, workload({ name: pool, pool, replicas: 3, cpu: '900m' }));
    await cluster.see.runs(pool, 3);
    const old = await cluster.onlyClaimOf(pool);
    const instanceTypesFile = join(cluster.plane.folder, 'scarce-types.json');
    writeFileSync(instanceTypesFile, fourCoreTypesIn('test-zone-b'));
    await cluster.restartKarpenter({ instanceTypesFile });
    const surge = { readyTimeout: '15s', retryBackoff: '20s', failurePause: '10s' };
    await cluster.plane.api.apply(policy(pool, { ...dueAtOnce, surge }));
    await cluster.failed(pool, limit);
    const failed = await cluster.outcomeOf(pool, old);
    await cluster.restartKarpenter({});
    await cluster.completed(pool, limit);

    await cluster.see.runs(pool, 3);
    // Karpenter's counts begin anew with each of its starts.
    expect({ failed, afterwards: await cluster.outcomeOf(pool, old) }).toEqual({
      failed: {
        ...provisionedStory,
        steps: ['started', 'failed'],
        events: ['RotationStarted', 'RotationFailed'],
        created: 0,
        oldIsThere: true,
        marks: memoryOfFailure(old),
      },
      afterwards: {
        ...provisionedStory,
        steps: ['started', 'failed', ...provisionedStory.steps],
        events: ['RotationStarted', 'RotationFailed', ...provisionedStory.events],
      },
    });
  },
  limit,
);
