/**
 * What is left of a tick's time: less for beginning something than for ending what was begun.
 *
 * The larger of a monotonic and a wall clock's reading counts, because the monotonic clock of a suspended machine may
 * stand still. Neither is ever the tick's time: that is the API server's.
 */
import type { Budget } from '../../controller/ports.ts';
import type { Duration } from '../../domain/time.ts';
import { duration, longer, zero } from '../../domain/time.ts';

export interface BudgetLimits {
  /** Milliseconds after which no further list begins. */
  readonly toBegin: number;
  /** Milliseconds after which no call is made any more, so that what is known can still be recorded. */
  readonly toEnd: number;
}

export class TickBudget implements Budget {
  readonly #limits: BudgetLimits;
  readonly #begun = reading();
  #snapshot: Reading | undefined;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  /** @design D1-06 */
  left(): Duration {
    return rest(this.#limits.toBegin, this.#begun);
  }

  /** For the calls of a list that has begun: it runs to its end. @design D1-06 */
  leftForCalls(): Duration {
    return rest(this.#limits.toEnd, this.#begun);
  }

  /** Called when the first request of a snapshot goes out. */
  snapshotBegins(): void {
    this.#snapshot = reading();
  }

  /** @design D5-08 */
  sinceSnapshot(): Duration {
    return duration(Math.ceil(elapsed(this.#snapshot ?? this.#begun)));
  }
}

interface Reading {
  readonly monotonic: number;
  readonly wall: number;
}

const reading = (): Reading => ({ monotonic: performance.now(), wall: Date.now() });

const elapsed = (since: Reading): number => Math.max(0, performance.now() - since.monotonic, Date.now() - since.wall);

const rest = (limit: number, since: Reading): Duration => longer(zero, duration(Math.floor(limit - elapsed(since))));
