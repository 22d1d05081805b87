import { expect, test } from 'vitest';
import { watchInterruption } from '../../lib/cli/interruption.ts';
import { hours } from '../../lib/domain/time.ts';

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s is remembered, ends a sleep, and still has its listener afterwards (D13-01)',
  async (signal) => {
    const before = process.listenerCount(signal);
    const interruption = watchInterruption();
    expect(interruption.requested).toBe(false);
    const slept = interruption.sleep(hours(1));
    process.emit(signal);
    await slept;
    await interruption.sleep(hours(1));
    // Whoever restores the terminal's cursor ends the process when it finds itself to be the only listener.
    expect({ requested: interruption.requested, listeners: process.listenerCount(signal) }).toEqual({
      requested: true,
      listeners: before + 1,
    });
    interruption.release();
    expect(process.listenerCount(signal)).toBe(before);
  },
);
