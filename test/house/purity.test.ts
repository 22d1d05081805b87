/**
 * The linter's bans on clocks, randomness and the outside world, each shown to bite in every pure folder.
 *
 * The planted file lies in a throwaway tree with the project's own configuration, so lib/ never holds it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withFixtureTree } from './fixture-tree.ts';
import { projectRoot } from './source-files.ts';

const biome = join(projectRoot, 'node_modules/@biomejs/biome/bin/biome');
const configuration = Object.fromEntries(
  ['biome.jsonc', '.biome/no-hidden-inputs.grit', '.gitignore'].map((path) => [
    path,
    readFileSync(join(projectRoot, path), 'utf8'),
  ]),
);

interface Lint {
  readonly status: number | null;
  readonly output: string;
}

/** Lints one file of one statement, at `path` of a tree that holds nothing else. */
function lint(path: string, statement: string): Promise<Lint> {
  return withFixtureTree({ ...configuration, [path]: `${statement}\n` }, (root) => {
    const run = spawnSync(process.execPath, [biome, 'lint', '--error-on-warnings', '--max-diagnostics=50', path], {
      cwd: root,
      encoding: 'utf8',
      timeout: 15_000,
    });
    return { status: run.status, output: `${run.stdout}${run.stderr}` };
  });
}

describe('a hidden input in lib/domain fails the linter', () => {
  test.each([
    ['export const found = Date.now();', 'global variable Date'],
    ['export const found = performance.now();', 'global variable performance'],
    ['export const found = process.env;', 'global variable process'],
    ["console.log('found');", 'global variable console'],
    ['setTimeout(() => undefined, 1);', 'global variable setTimeout'],
    ['setInterval(() => undefined, 1);', 'global variable setInterval'],
    ['setImmediate(() => undefined);', 'global variable setImmediate'],
    ["export const found = fetch('x');", 'global variable fetch'],
    ['export const found = crypto.randomUUID();', 'global variable crypto'],
    ['export const found = globalThis.Date;', 'global variable globalThis'],
    ['export const found = Math.random();', 'Unseeded randomness'],
    ["export const found = Math['random']();", 'Unseeded randomness'],
    ['export const { random } = Math;', "Name Math's functions"],
    ['export const found = new Date();', 'use the Instant of the snapshot'],
    ['export const found = new Date(2026, 1);', 'use the Instant of the snapshot'],
  ])('%s', async (statement, complaint) => {
    const { status, output } = await lint('lib/domain/planted.ts', statement);
    expect(output).toContain(complaint);
    expect(status).toBe(1);
  });
});

describe('the ban covers the pure folders and stops there', () => {
  test.each([
    ['lib/domain/schedule/planted.ts', 1],
    ['lib/engine/planted.ts', 1],
    ['lib/controller/planted.ts', 1],
    ['lib/simulator/planted.ts', 1],
    ['lib/simulator/api-server.ts', 0],
    ['lib/adapters/aws/planted.ts', 0],
    ['lib/cli/planted.ts', 0],
    ['functions/dispatch/planted.ts', 0],
  ])('Date.now() in %s: exit code %i', async (path, expected) => {
    const { status, output } = await lint(path, 'export const found = Date.now();');
    expect(output).toContain('Checked 1 file');
    expect(status).toBe(expected);
  });

  test('arithmetic of Math is welcome in lib/domain', async () => {
    const { status, output } = await lint('lib/domain/planted.ts', 'export const found = Math.max(1, 2);');
    expect(output).toContain('Checked 1 file');
    expect(status).toBe(0);
  });
});
