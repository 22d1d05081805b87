/**
 * The arrows between the folders, checked on the real tree and on trees with one wrong import each.
 *
 * A cruise that sees nothing finds nothing wrong, so the first test is that it saw every file.
 */
import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { describe, expect, test } from 'vitest';
import { withFixtureTree } from './fixture-tree.ts';
import { projectRoot, sourceFiles, sourcePattern } from './source-files.ts';

async function cruiseTree(root: string): Promise<ICruiseResult> {
  const options = await extractDepcruiseOptions(join(projectRoot, '.dependency-cruiser.mjs'));
  const tsConfig = extractTSConfig(join(projectRoot, 'tsconfig.json'));
  const { output } = await cruise(
    [sourcePattern],
    // The configuration is found from here, not from the tree that is looked at.
    { ...options, baseDir: root, tsConfig: { fileName: join(projectRoot, 'tsconfig.json') } },
    undefined,
    { tsConfig },
  );
  if (typeof output === 'string') throw new Error('the cruise was asked for its result and answered with text');
  return output;
}

function violations(result: ICruiseResult): string[] {
  return result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort();
}

describe('the tree', async () => {
  const result = await cruiseTree(projectRoot);

  test('the layer check sees every source file', () => {
    const seen = result.modules.map((module) => module.source).filter((path) => /^(lib|functions|infra)\//.test(path));
    expect(sourceFiles().length).toBeGreaterThan(0);
    expect(seen.sort()).toEqual(sourceFiles());
  });

  test('no import points against the arrows', () => {
    expect(violations(result)).toEqual([]);
  });
});

describe('a wrong import is reported', () => {
  const target = { 'lib/adapters/kubernetes/apply.ts': 'export type Applied = string;\nexport const applied = 1;\n' };

  test.each([
    ['a value', `import { applied } from '../adapters/kubernetes/apply.ts';\nexport const one = applied;\n`],
    ['a type', `import type { Applied } from '../adapters/kubernetes/apply.ts';\nexport type One = Applied;\n`],
  ])('lib/engine takes %s from lib/adapters', async (_, text) => {
    const found = await withFixtureTree({ ...target, 'lib/engine/start.ts': text }, async (root) =>
      violations(await cruiseTree(root)),
    );
    expect(found).toEqual(['engine: lib/engine/start.ts → lib/adapters/kubernetes/apply.ts']);
  });

  test.each([
    [
      'domain',
      'lib/domain/time.ts',
      `import { readFileSync } from 'node:fs';\nexport const read = readFileSync;\n`,
      'fs',
    ],
    [
      'domain',
      'lib/domain/time.ts',
      `import type { e } from '../engine/e.ts';\nexport type E = typeof e;\n`,
      'lib/engine/e.ts',
    ],
    [
      'controller',
      'lib/controller/run-tick.ts',
      `import { s } from '../simulator/s.ts';\nexport const r = s;\n`,
      'lib/simulator/s.ts',
    ],
    ['simulator', 'lib/simulator/world.ts', `import https from 'node:https';\nexport const agent = https;\n`, 'https'],
    [
      'adapters-decide-nothing',
      'lib/adapters/aws/a.ts',
      `import { e } from '../../engine/e.ts';\nexport const a = e;\n`,
      'lib/engine/e.ts',
    ],
    [
      'adapters-kubernetes',
      'lib/adapters/kubernetes/k.ts',
      `import { s } from '../../simulator/s.ts';\nexport const k = s;\n`,
      'lib/simulator/s.ts',
    ],
    [
      'functions',
      'functions/reconcile/handler.ts',
      `import { c } from '../../lib/cli/c.ts';\nexport const h = c;\n`,
      'lib/cli/c.ts',
    ],
    [
      'infra',
      'infra/app.ts',
      `import { s } from '../lib/simulator/s.ts';\nexport const app = s;\n`,
      'lib/simulator/s.ts',
    ],
    ['known-folder', 'lib/utils/u.ts', `import { e } from '../engine/e.ts';\nexport const u = e;\n`, 'lib/engine/e.ts'],
  ])('%s: %s', async (rule, path, text, to) => {
    // What the planted file may reach for; each imports the one below it, so that none is an orphan of its own accord.
    const others = {
      'lib/domain/d.ts': 'export const d = 1;\n',
      'lib/engine/e.ts': `import { d } from '../domain/d.ts';\nexport const e = d;\n`,
      'lib/simulator/s.ts': `import { e } from '../engine/e.ts';\nexport const s = e;\n`,
      'lib/cli/c.ts': `import { e } from '../engine/e.ts';\nexport const c = e;\n`,
    };
    const found = await withFixtureTree({ ...others, [path]: text }, async (root) =>
      violations(await cruiseTree(root)),
    );
    expect(found).toEqual([`${rule}: ${path} → ${to}`]);
  });
});
