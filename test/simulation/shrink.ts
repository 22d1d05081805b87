/**
 * Makes a failing case small: leaves out whatever it can while the same rule is still violated.
 */
import type { CaseResult } from './run-case.ts';
import { runCase } from './run-case.ts';
import type { SimCase } from './sim-case.ts';

/** @param patience in milliseconds of real time; the smallest case found by then is returned */
export async function shrink(simCase: SimCase, result: CaseResult, patience: number): Promise<SimCase> {
  const rule = result.violations[0]?.rule;
  const until = performance.now() + patience;
  const fails = async (candidate: SimCase): Promise<boolean> => {
    if (performance.now() >= until) return false;
    const { violations } = await runCase(candidate);
    return violations[0]?.rule === rule;
  };
  let best = simCase;
  for (let before: SimCase | undefined; before !== best && performance.now() < until; ) {
    before = best;
    for (const simpler of simplifications) best = await simpler(best, fails);
  }
  return best;
}

type Fails = (candidate: SimCase) => Promise<boolean>;
type Simplify = (simCase: SimCase, fails: Fails) => Promise<SimCase>;

const lists = ['moves', 'troubles', 'apps', 'policies', 'pools'] as const;

/** Leaves out halves, then quarters, then single elements. */
async function fewer<T>(
  all: readonly T[],
  least: number,
  fails: (some: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let kept = all;
  for (let size = Math.max(1, Math.ceil(kept.length / 2)); ; size = Math.ceil(size / 2)) {
    for (let from = 0; from < kept.length; ) {
      const without = [...kept.slice(0, from), ...kept.slice(from + size)];
      if (without.length >= least && without.length < kept.length && (await fails(without))) kept = without;
      else from += size;
    }
    if (size === 1) return kept;
  }
}

const simplifications: readonly Simplify[] = [
  ...lists.map(
    (list): Simplify =>
      async (simCase, fails) => {
        const all = simCase[list] as readonly never[];
        return {
          ...simCase,
          [list]: await fewer(all, list === 'pools' ? 1 : 0, (some) => fails({ ...simCase, [list]: some })),
        };
      },
  ),
  async (simCase, fails) => {
    let best = simCase;
    for (const { name } of simCase.pools) {
      const withNodes = (nodes: (typeof simCase.pools)[number]['nodes']): SimCase => ({
        ...best,
        pools: best.pools.map((pool) => (pool.name === name ? { ...pool, nodes } : pool)),
      });
      const nodes = best.pools.find((pool) => pool.name === name)?.nodes ?? [];
      const fewest = await fewer(nodes, 0, (some) => fails(withNodes(some)));
      if (fewest.length < nodes.length) best = withNodes(fewest);
    }
    return best;
  },
  async (simCase, fails) => {
    let best = simCase;
    for (const factor of [0.1, 0.25, 0.5, 0.75]) {
      const shorter = { ...best, minutes: Math.ceil(best.minutes * factor) };
      if (shorter.minutes < best.minutes && (await fails(shorter))) best = shorter;
    }
    return best;
  },
  async (simCase, fails) => {
    const bare = { ...simCase, daemons: 0 };
    return simCase.daemons > 0 && (await fails(bare)) ? bare : simCase;
  },
];
