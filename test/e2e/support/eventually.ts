/**
 * Waiting for a cluster: asked again and again, and what was seen last is in the error when it never came.
 */
import { setTimeout as wait } from 'node:timers/promises';

/**
 * @param limit milliseconds
 * @param look answers undefined for "not yet"
 */
export async function eventually<Seen>(
  what: string,
  limit: number,
  look: () => Promise<Seen | undefined>,
): Promise<Seen> {
  const end = performance.now() + limit;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > end) throw new Error(`waited ${limit / 1000} s in vain for ${what}`);
    await wait(200);
  }
}
