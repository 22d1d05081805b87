import { describe, expect, it } from 'vitest';
import { byHand, inEveryRun } from './interleaving/bounds.ts';
import { search } from './interleaving/search.ts';

/**
 * One rotation, exhaustively within bounds: up to two ticks that can be held between any two of their calls, processes
 * that die, answers that are lost, writes that are refused, and what operators and Karpenter do meanwhile. After every
 * write that lands the oracle is asked, and from every cluster that is reached quiet ticks must come to an end with
 * nothing of ours left.
 *
 * INTERLEAVINGS=deep goes through the larger bounds, too, and prints what each of them came to.
 */
const deep = process.env['INTERLEAVINGS'] === 'deep';
const bounds = { ...inEveryRun, ...(deep ? byHand : {}) };
const hours = 3_600_000;

describe('two ticks between any two of their calls (D14-01, D15-01)', () => {
  it.each(Object.entries(bounds))(
    '%s: nothing is broken on the way, and everything comes to an end (D7-10, D5-05, D5-08)',
    async (name, each) => {
      const { violation, trace, complete, ...size } = await search(each);
      if (deep) {
        const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
        process.stdout.write(`${name}: ${JSON.stringify({ ...size, complete, megabytes })}\n`);
      }
      expect({ violation, trace }).toEqual({ violation: undefined, trace: undefined });
      // A bound that is only partly gone through says nothing about the rest; by hand it may be more than a machine holds.
      expect(complete || size.states >= each.mostStates).toBe(true);
      if (!deep) expect(complete).toBe(true);
      expect(size.clusters).toBeGreaterThan(40);
    },
    deep ? 12 * hours : 120_000,
  );
});
