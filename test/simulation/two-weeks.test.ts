import { expect, it } from 'vitest';
import { occurrenceAt } from '../../lib/domain/schedule/calendar.ts';
import { add, days } from '../../lib/domain/time.ts';
import { buildFleet } from '../../lib/simulator/fleet.ts';
import { simulate } from '../../lib/simulator/simulate.ts';
import { World } from '../../lib/simulator/world.ts';
import { at, wednesdayAndSaturday } from '../support/builders.ts';
import { leftovers, MemoryTable, tickOn } from '../support/story.ts';

const plan = { windows: wednesdayAndSaturday, exclusions: [] };

it('rotates a dozen nodes through two weeks of windows, none expires by force, nothing is left behind (D14-01, R3.8-07, R3.9-01)', async () => {
  const world = new World({ startsAt: at('2026-06-08T00:00:00Z') });
  buildFleet(world);
  const from = world.now;
  const table = new MemoryTable();
  const timeline = await simulate({
    world,
    from,
    to: add(from, days(14)),
    tick: () => tickOn(world, table),
    isBusy: (moment, inFlight) => inFlight > 0 || occurrenceAt(plan, moment) !== undefined,
  });
  expect(timeline.forcefulExpirations).toEqual([]);
  const began = timeline.nodeClaims.filter((claim) => claim.created < from);
  const rotated = timeline.rotations.filter((rotation) => rotation.outcome === 'completed');
  expect(rotated.map((rotation) => rotation.nodeClaim).sort()).toEqual(
    expect.arrayContaining(began.map((claim) => claim.nodeClaim).sort()),
  );
  expect(timeline.rotations.every((rotation) => rotation.outcome === 'completed')).toBe(true);
  for (const rotation of rotated)
    expect({ ...rotation, claimsCreated: rotation.claimsCreated }).toMatchObject({
      claimsCreated: rotation.surgePath === 'provisioned' ? 1 : 0,
    });
  expect(leftovers(world)).toEqual([]);
  expect(table.ticks.flatMap((tick) => tick.pools).filter((pool) => pool.stopped !== undefined)).toEqual([]);
}, 90_000);
