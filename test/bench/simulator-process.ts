/**
 * The simulator under the real engine: a dozen nodes through two weeks of windows.
 */
import { readPolicy } from '../../lib/adapters/kubernetes/policy-document.ts';
import { occurrenceAt } from '../../lib/domain/schedule/calendar.ts';
import { add, days, hours, parseInstant } from '../../lib/domain/time.ts';
import { buildFleet, demonstrationPolicy } from '../../lib/simulator/fleet.ts';
import { simulate } from '../../lib/simulator/simulate.ts';
import { World } from '../../lib/simulator/world.ts';
import { MemoryTable, tickOn } from '../support/story.ts';
import { type Cost, measured, task } from './repeated-ticks.ts';

export interface Simulated {
  readonly runs: readonly Cost[];
  readonly days: number;
  readonly nodes: number;
  readonly ticks: number;
  /** Rotations that were completed: a simulation in which nothing happens is no measure. */
  readonly rotations: number;
}

const length = days(14);

async function main(): Promise<void> {
  const { times } = await task<{ readonly times: number }>();
  const runs: Cost[] = [];
  let last = { ticks: 0, rotations: 0, nodes: 0 };
  for (let n = 0; n < times; n += 1) {
    runs.push(
      await measured(async () => {
        last = await twoWeeks();
      }),
    );
  }
  process.send?.({ runs, days: 14, ...last } satisfies Simulated);
}

async function twoWeeks() {
  const startsAt = parseInstant('2026-06-08T00:00:00Z');
  const reading = readPolicy(demonstrationPolicy);
  if (startsAt === undefined || !reading.valid) throw new Error('the demonstration has a policy and a beginning');
  const world = new World({ startsAt });
  buildFleet(world);
  const nodes = world.store.all('Node').length;
  const from = world.now;
  const table = new MemoryTable();
  const { ticks, rotations } = await simulate({
    world,
    from,
    to: add(from, length),
    tick: () => tickOn(world, table),
    quiet: hours(6),
    isBusy: (at, inFlight) => inFlight > 0 || occurrenceAt(reading.policy, at) !== undefined,
  });
  return { ticks, nodes, rotations: rotations.filter(({ outcome }) => outcome === 'completed').length };
}

void main();
