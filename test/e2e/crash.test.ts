/**
 * A program that is killed after any write of a rotation, and another one that takes over with nothing but what the
 * cluster and the table hold; and two programs that rotate the same pools at once.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Running } from '../support/program.ts';
import { keepEvidence } from './support/evidence.ts';
import { oneAtATime, policy, workload } from './support/fleet.ts';
import { startGateway } from './support/one-pool-gateway.ts';
import {
  dueAtOnce,
  longLived,
  provisionedStory,
  RotatingCluster,
  readRows,
  stepsOf,
} from './support/rotating-cluster.ts';
import { everything } from './support/scope.ts';

const sideBySide = 6;
const stride = everything ? 1 : 3;
/** Anchor, marks, copy, placeholder; host, surge claim, its copy; hand-over of four; host, end. */
const fewestWrites = 13;
let cluster: RotatingCluster;

beforeAll(async () => {
  cluster = await RotatingCluster.start({ ticking: false });
});

afterAll(() => cluster?.stop());
keepEvidence(() => cluster);

async function populated(pool: string) {
  await cluster.apply(
    { name: pool, ...longLived },
    oneAtATime(pool),
    workload({ name: pool, pool, replicas: 2, cpu: '1500m', stopsIn: '2s' }),
  );
  await cluster.see.runs(pool, 2);
  const old = await cluster.onlyClaimOf(pool);
  await cluster.plane.api.apply(policy(pool, dueAtOnce));
  return old;
}

/** A rotation whose program is killed once, after that write, if it writes that often. */
async function rotateKilledAt(write: number | undefined) {
  const pool = write === undefined ? 'unharmed' : `killed-at-${write}`;
  const old = await populated(pool);
  let killed = false;
  let program: Running | undefined;
  const gateway = await startGateway({
    ...{ plane: cluster.plane, pool },
    ...(write === undefined ? {} : { breakAt: write }),
    broken: () => {
      killed = true;
      program?.kill();
    },
  });
  const access = ['--kubeconfig', gateway.kubeconfig, '--context', 'node-rotation'];
  const table = ['--cluster', 'e2e/crash/one', '--data', join(cluster.plane.folder, pool)];
  const run = (): Running => cluster.run(['run', ...access, ...table, '--interval', '2s'], { limit: 240_000 });
  program = run();
  const first = await Promise.race([program.ended, cluster.ended(pool, 200_000).then(() => undefined)]);
  if (first && !killed) throw new Error(`the program of ${pool} ended by itself: ${first.err}`);
  const wasKilled = killed;
  gateway.passAll();
  if (wasKilled) {
    await program.ended;
    program = run();
    await program.says(/Ctrl-C ends it/);
  }
  await cluster.ended(pool, 200_000);
  program.interrupt();
  const { code, err } = await program.ended;
  await cluster.see.runs(pool, 2);
  gateway.close();
  return {
    killed: wasKilled,
    written: gateway.written(),
    outcome: {
      ...{ code, err: code === 0 ? '' : err },
      steps: stepsOf(await readRows(table)),
      ...(await cluster.foundAfter(pool, old)),
    },
  };
}

test('a program killed after any write of a rotation is followed by one that ends it the same way (R3.8-04, D10-04)', async () => {
  const { events: _, ...story } = provisionedStory;
  const unharmed = await rotateKilledAt(undefined);
  expect(unharmed.outcome).toEqual({ ...story, code: 0, err: '' });
  const outcomes = new Map<number, unknown>();
  let outlived = false;
  for (let next = 1; !outlived; next += sideBySide * stride) {
    const writes = Array.from({ length: sideBySide }, (_, place) => next + place * stride);
    const runs = await Promise.all(writes.map(rotateKilledAt));
    for (const [place, { outcome }] of runs.entries()) outcomes.set(next + place * stride, outcome);
    outlived = runs.some(({ killed }) => !killed);
  }
  const writes = [...outcomes.keys()];
  expect(outcomes).toEqual(new Map(writes.map((write) => [write, unharmed.outcome])));
  expect(unharmed.written).toBeGreaterThanOrEqual(fewestWrites);
  expect(Math.max(...writes)).toBeGreaterThanOrEqual(unharmed.written);
}, 600_000);

test('two programs at once rotate each node once (D5-08, D1-03)', async () => {
  const pools = ['shared-a', 'shared-b', 'shared-c'];
  await cluster.startProgram();
  const { args, env } = cluster.tableAccess;
  const second = cluster.run(['run', ...cluster.access, ...args, '--interval', '1s'], { env, limit: 240_000 });
  // Both look before there is anything to do: a program that only begins when all is over would prove nothing.
  await second.says(/Ctrl-C ends it/);
  const olds = await Promise.all(pools.map(populated));
  await Promise.all(pools.map((pool) => cluster.ended(pool, 200_000)));
  second.interrupt();
  const { code, err } = await second.ended;
  expect(code, err).toBe(0);

  const outcomes = await Promise.all(pools.map((pool, place) => cluster.outcomeOf(pool, olds[place])));
  expect(outcomes).toEqual(pools.map(() => provisionedStory));
}, 300_000);
