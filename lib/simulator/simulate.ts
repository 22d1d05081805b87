/**
 * Drives a controller through virtual time: a tick, then the world moves on to the next one.
 *
 * Ticks come every minute where something can happen and less often where nothing can; which is which, the caller says.
 */
import type { Duration, Instant } from '../domain/time.ts';
import { add, earliest, minutes } from '../domain/time.ts';
import type { Timeline } from './timeline.ts';
import { TimelineWatcher } from './timeline.ts';
import type { World } from './world.ts';

export interface SimulationOptions {
  readonly world: World;
  /** One tick of the controller at the world's present instant. */
  readonly tick: (at: Instant) => Promise<unknown>;
  readonly from: Instant;
  /** The last tick is not after it; the world ends here. */
  readonly to: Instant;
  /** Whether the next tick has to come after `busy` instead of `quiet`: inside a window, or while something is in flight. */
  readonly isBusy: (at: Instant, inFlight: number) => boolean;
  /** One minute when absent. */
  readonly busy?: Duration;
  /** Fifteen minutes when absent. */
  readonly quiet?: Duration;
  /** After every tick: for a progress display, or for an operator's moves. */
  readonly afterTick?: (at: Instant, watcher: TimelineWatcher) => void | Promise<void>;
}

/** @returns what happened between `from` and `to`, with the number of ticks that it took */
export async function simulate(options: SimulationOptions): Promise<Timeline & { readonly ticks: number }> {
  const { world, from, to, isBusy, busy = minutes(1), quiet = minutes(15) } = options;
  world.advance(from);
  const watcher = new TimelineWatcher(world);
  let ticks = 0;
  for (let at = from; at <= to; ) {
    world.advance(at);
    await options.tick(at);
    ticks += 1;
    await options.afterTick?.(at, watcher);
    at = nextTick(at, busy, quiet, (moment) => isBusy(moment, watcher.inFlight));
  }
  world.advance(to);
  return { ...watcher.timeline(), ticks };
}

/** Never further than the first busy minute, so that the opening of a window is met on time. */
function nextTick(at: Instant, busy: Duration, quiet: Duration, isBusy: (moment: Instant) => boolean): Instant {
  const latest = add(at, quiet);
  for (let moment = at; moment < latest; moment = add(moment, busy))
    if (isBusy(moment)) return earliest(latest, moment === at ? add(at, busy) : moment);
  return latest;
}
