import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('./sim.ts', import.meta.url));
const sim = (...flags: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...flags], {
    encoding: 'utf8',
    timeout: 200_000,
  });
  return { status, stdout, stderr };
};

it('a seed is replayed with its story: its world, what was planned, what happened, what was violated (D14-02)', () => {
  const { status, stdout } = sim('--seed', '9');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^seed 9, from /);
  expect(stdout).toContain('\npool {');
  expect(stdout).toContain(' quiet time\n');
  expect(stdout).toMatch(/\n0 violations, \d+ ticks, \d+ actions\n$/);
}, 240_000);

it('seeds are played side by side and reported (D14-02)', () => {
  const { status, stdout } = sim('--from', '21', '--count', '2');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^2 seeds \(\d calm\) in \d+ s: [\d.]+ cluster-days/);
  expect(stdout).toMatch(/\nviolations: 0\n$/);
}, 240_000);

it.each([
  [['--seed', 'x']],
  [['--seed', '1', '--minutes', '2']],
  [['--shrink']],
  [['--unknown']],
  [['--minutes', '0']],
  [['--processes', '0']],
  [['--case', '/nowhere.json']],
  [['extra']],
])(
  'flags that make no sense end with 2 and a sentence: %j (D14-02)',
  (flags) => {
    const { status, stderr } = sim(...flags);
    expect({ status, said: stderr.startsWith('error: ') }).toEqual({ status: 2, said: true });
  },
  60_000,
);
