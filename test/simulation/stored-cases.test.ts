import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { caseOf } from './case-generator.ts';
import { runCase } from './run-case.ts';
import type { SimCase } from './sim-case.ts';

/** A case that once failed, and what it was: a bug of product, simulator or oracle. */
type Stored = { readonly was: string } & ({ readonly case: SimCase } | { readonly seed: number });

const folder = new URL('./seeds/', import.meta.url);
const stored = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => [file, JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Stored] as const);

it.each(stored)(
  'a case that once failed keeps the rules: %s (D7-10, D14-02)',
  async (_file, each) => {
    const { violations } = await runCase('case' in each ? each.case : caseOf(each.seed));
    expect(violations).toEqual([]);
  },
  120_000,
);
