import { expect, test } from 'vitest';
import { poolKeys } from '../../lib/domain/rotation/annotation-keys.ts';
import { writeLastEnded, writeRotation } from '../../lib/domain/rotation/rotation.ts';
import type { Instant } from '../../lib/domain/time.ts';
import { add, days, hours, minutes } from '../../lib/domain/time.ts';
import { seededFaults } from '../../lib/simulator/faults.ts';
import { buildFleet } from '../../lib/simulator/fleet.ts';
import { httpDate } from '../../lib/simulator/http-date.ts';
import type { ClaimObject } from '../../lib/simulator/kube-object.ts';
import { createdAt, readDuration } from '../../lib/simulator/kube-object.ts';
import { simulate } from '../../lib/simulator/simulate.ts';
import { TimelineWatcher } from '../../lib/simulator/timeline.ts';
import { World } from '../../lib/simulator/world.ts';
import { at } from '../support/builders.ts';
import { addPod, addPool, claims, emptyWorld, only, pass, start } from '../support/small-world.ts';

/** From the moment until the claim's deadline, in milliseconds. */
const deadlineIn = (claim: ClaimObject, from: Instant): number =>
  createdAt(claim) + (readDuration(claim.spec.expireAfter) ?? 0) - from;

const monday = at('2026-06-01T00:00:00Z');

function aFleet(seed = 1): World {
  const world = new World({ startsAt: monday, seed });
  buildFleet(world);
  return world;
}

test('ticks come every minute where the caller says busy, otherwise every 15, and a busy minute is never overslept (D14-03)', async () => {
  const world = emptyWorld();
  const ticks: number[] = [];
  const opens = add(start, minutes(40));
  const run = await simulate({
    world,
    from: start,
    to: add(start, hours(1)),
    tick: async (moment) => ticks.push((moment - start) / 60_000),
    isBusy: (moment) => moment >= opens && moment < add(opens, minutes(3)),
  });
  expect(ticks).toEqual([0, 15, 30, 40, 41, 42, 43, 58]);
  expect([run.ticks, run.to, world.now]).toEqual([8, add(start, hours(1)), add(start, hours(1))]);
});

test('two worlds of one seed are the same to the last byte, of another seed they are not (D14-02)', () => {
  const everything = (seed: number) => {
    const world = aFleet(seed);
    world.advance(add(monday, days(10)));
    return JSON.stringify(world.store.all('Pod'));
  };
  expect(everything(1)).toBe(everything(1));
  expect(everything(1)).not.toBe(everything(2));
});

test('many short steps and one long one lead to the same world (D14-03)', () => {
  const stepwise = aFleet();
  for (let moment = stepwise.now; moment < add(monday, days(9)); moment = add(moment, minutes(1)))
    stepwise.advance(moment);
  stepwise.advance(add(monday, days(9)));
  const atOnce = aFleet();
  atOnce.advance(add(monday, days(9)));
  expect(JSON.stringify(stepwise.store.all('NodeClaim'))).toBe(JSON.stringify(atOnce.store.all('NodeClaim')));
});

test('the fleet has a dozen nodes in two pools, all Pods run, and no deadline has passed (D14-02)', () => {
  const world = aFleet();
  const pools = world.store.all('NodeClaim').map(({ metadata }) => metadata.labels?.['karpenter.sh/nodepool']);
  expect([pools.length, new Set(pools)]).toEqual([12, new Set(['api', 'batch'])]);
  expect(world.store.all('Pod').every((pod) => (pod.status as { phase: string }).phase === 'Running')).toBe(true);
  const left = claims(world).map((claim) => deadlineIn(claim, world.now));
  expect(Math.min(...left)).toBeGreaterThan(days(5));
});

test('without anybody to rotate it, every node of the fleet expires by force within two weeks (D14-02)', () => {
  const world = aFleet();
  world.advance(add(monday, days(15)));
  expect(world.forcefulExpirations.length).toBe(12);
});

test('the timeline tells a rotation from the annotations of its pool, with drain and margin (D14-02)', () => {
  const world = emptyWorld();
  addPool(world);
  addPod(world, 'a');
  pass(world, '1m');
  const watcher = new TimelineWatcher(world);
  const claim = only(claims(world));
  const startedAt = add(start, minutes(1));
  const attempt = { claim: claim.metadata.name, claimUid: claim.metadata.uid, startedAt, mode: 'surge' } as const;
  const annotate = (annotations: object) =>
    world.store.patch({ kind: 'NodePool', name: 'api' }, { metadata: { annotations } });
  annotate(writeRotation({ phase: 'pending', ...attempt }));
  expect(watcher.inFlight).toBe(1);
  pass(world, '1m');
  annotate(
    writeRotation({
      phase: 'draining',
      ...attempt,
      drainingAt: world.now,
      surgePath: 'absorbed',
      surgeWait: minutes(1),
    }),
  );
  world.store.delete({ kind: 'NodeClaim', name: claim.metadata.name });
  pass(world, '1m');
  annotate({
    ...writeRotation({ phase: 'none' }),
    [poolKeys.lastEnded]: writeLastEnded({ claimUid: attempt.claimUid, startedAt, step: 'completed' }),
  });
  const [rotation] = watcher.timeline().rotations;
  expect(watcher.inFlight).toBe(0);
  expect(rotation).toMatchObject({
    nodePool: 'api',
    nodeClaim: claim.metadata.name,
    node: claim.status.nodeName,
    mode: 'surge',
    surgePath: 'absorbed',
    surgeWait: minutes(1),
    outcome: 'completed',
    endedAt: add(start, minutes(3)),
    claimsCreated: 0,
  });
  expect(rotation?.margin).toBe(deadlineIn(claim, add(start, minutes(3))));
  expect(rotation?.drain).toBeGreaterThan(0);
});

test('seeded faults are the same for the same seed and the same calls (D14-02)', () => {
  const faults = (seed: number) => {
    const plan = seededFaults(seed, { patch: { conflict: 0.2, lostResponse: 0.2 } });
    return Array.from({ length: 50 }, () => plan.next({ verb: 'patch', kind: 'Node' }) ?? '-').join(' ');
  };
  expect(faults(3)).toBe(faults(3));
  expect(faults(3)).not.toBe(faults(4));
  expect(new Set(faults(3).split(' '))).toEqual(new Set(['-', 'conflict', 'lostResponse']));
});

test.each([
  ['1970-01-01T00:00:00Z', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['2028-02-29T23:59:59.999Z', 'Tue, 29 Feb 2028 23:59:59 GMT'],
])('%s as a Date header is %s (D1-04)', (moment, header) => {
  expect(httpDate(at(moment))).toBe(header);
});
