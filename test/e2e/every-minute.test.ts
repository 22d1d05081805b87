/**
 * A rotation with a tick a minute, as the service makes them.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepEvidence } from './support/evidence.ts';
import { oneAtATime, policy, workload } from './support/fleet.ts';
import { longLived, provisionedStory, RotatingCluster } from './support/rotating-cluster.ts';
import { everything } from './support/scope.ts';

let cluster: RotatingCluster | undefined;

beforeAll(async () => {
  if (everything) cluster = await RotatingCluster.start({ interval: '1m' });
});

afterAll(() => cluster?.stop());
keepEvidence(() => cluster);

test.runIf(everything)(
  'a rotation takes four ticks of a minute: start, protection of the host, hand-over, end (D7-01, D7-03, D7-06)',
  async () => {
    if (!cluster) throw new Error('there is no cluster');
    const pool = 'minutes';
    await cluster.apply(
      { name: pool, ...longLived },
      oneAtATime(pool),
      workload({ name: pool, pool, replicas: 3, cpu: '900m', stopsIn: '6s' }),
    );
    await cluster.see.runs(pool, 3);
    const old = await cluster.onlyClaimOf(pool);
    await cluster.plane.api.apply(policy(pool, { ageThreshold: '1m' }));
    await cluster.ended(pool, 420_000);

    await cluster.see.runs(pool, 3);
    // The host is protected in one tick and has to be read as protected in another one before the hand-over.
    const [started, draining, completed] = (await cluster.rowsOf(pool)).map(({ at }) => Date.parse(at) / 60_000);
    const ticks = [draining, completed].map((minute = 0) => Math.round(minute - (started ?? 0)));
    expect({ ...(await cluster.outcomeOf(pool, old)), ticks }).toEqual({ ...provisionedStory, ticks: [2, 3] });
  },
  480_000,
);
