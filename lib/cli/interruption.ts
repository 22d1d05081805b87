/**
 * Ctrl-C and a polite kill: the step in hand is finished, then the command ends. A second one ends it at once.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Duration } from '../domain/time.ts';
import { exitCodes } from './failure.ts';

export interface Interruption {
  readonly requested: boolean;
  /** @returns early when an interruption is requested */
  sleep(length: Duration): Promise<void>;
  /** From here on the signals have their usual effect. */
  release(): void;
}

const signals = ['SIGINT', 'SIGTERM'] as const;

export function watchInterruption(): Interruption {
  const controller = new AbortController();
  // The listener stays until the end: libraries that restore the terminal end the process when nobody else listens.
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.notAsItShouldBe);
    controller.abort();
  };
  const release = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    get requested() {
      return controller.signal.aborted;
    },
    sleep: (length) => wait(length, undefined, { signal: controller.signal }).catch(() => {}),
    release,
  };
}
