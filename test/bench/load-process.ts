/**
 * Loads one bundle in this fresh process.
 */
import { createRequire } from 'node:module';
import { measured, task } from './repeated-ticks.ts';

export interface Loaded {
  readonly cpu: number;
  readonly wall: number;
  /** MB. */
  readonly rss: number;
}

async function main(): Promise<void> {
  const { file } = await task<{ readonly file: string }>();
  const load = createRequire(file);
  const cost = await measured(async () => void load(file));
  process.send?.({ ...cost, rss: process.memoryUsage().rss / 1_000_000 } satisfies Loaded);
}

void main();
