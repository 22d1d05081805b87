/**
 * The program itself, in a process of its own: flags, streams and exit codes.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { rawClaim, rawList, rawPolicy, rawPool } from '../support/raw-objects.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'node-rotation-plan-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, object: Record<string, unknown>): string {
  const path = join(folder, name);
  writeFileSync(path, stringify(object));
  return path;
}

function program(args: readonly string[], input = ''): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['lib/cli/main.ts', ...args],
      { cwd: root, timeout: 30_000, env: { ...process.env, KUBECONFIG: join(folder, 'none') } },
      (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, out, err });
      },
    );
    child.stdin?.end(input);
  });
}

const cluster = file('cluster.yaml', rawList(rawPool(), rawClaim('a')));
const policy = file('policy.yaml', rawPolicy());
const weekly = file(
  'weekly.yaml',
  rawPolicy({ maintenanceWindows: [{ timezone: 'Asia/Tokyo', days: ['Sat'], start: '02:00', end: '06:00' }] }),
);
const when = ['--at', '2026-06-09T18:00:00Z'];

describe('plan', () => {
  test.each([
    ['{Wed, Sat}, tGP 1h', policy, [], { P: '96h', tRot: '1h17m', A: '142h43m', tRotEst: '15m', C: 10 }, 0],
    ['{Sat}', weekly, [], { P: '168h', A: '-1h17m' }, 1],
    [
      'tGP 24h',
      policy,
      [file('stock.yaml', rawPool({ lifetime: { terminationGracePeriod: '24h' } }))],
      { tRot: '24h17m', tRotEst: '15m', C: 10 },
      0,
    ],
  ])(
    'prints the worked example of %s (R3.2-13, R3.2-14, R3.2-15, R3.2-40, D13-02)',
    async (_, rules, more, schedule, exit) => {
      const files = [rules, cluster, ...more].flatMap((path) => ['-f', path]);
      const { code, out } = await program(['plan', ...files, ...when, '-o', 'json']);
      expect(JSON.parse(out).nodePools[0].schedule).toMatchObject(schedule);
      expect(code).toBe(exit);
    },
  );

  test('keeps notices out of the result, and reads standard input (D13-01)', async () => {
    const { code, out, err } = await program(
      ['plan', '-f', policy, '-f', '-', ...when, '-o', 'json'],
      stringify(rawList(rawPool(), rawClaim('a'))),
    );
    expect(JSON.parse(out).nodePools[0].claims[0]).toMatchObject({ name: 'a', candidateFrom: '2026-06-06T22:43:00Z' });
    expect(err).toMatch(/^Notice: No Nodes/m);
    expect(code).toBe(0);
  });

  test.each([
    ['an instant without offset', ['plan', '-f', policy, '--at', '2026-06-09T18:00:00'], /RFC 3339/],
    ['files and a context', ['plan', '-f', policy, '--context', 'x'], /not both/],
    ['a kubeconfig that is missing', ['plan', '--kubeconfig', join(folder, 'none')], /kubeconfig/],
  ])('ends with 2 and one line for %s (D13-01)', async (_, args, message) => {
    const { code, out, err } = await program(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });
});

test('validate ends with 1 for a fatal finding, and with 0 for a sound policy (D13-01)', async () => {
  expect((await program(['validate', '-f', weekly, '-f', cluster])).code).toBe(1);
  expect((await program(['validate', '-f', policy, '-f', cluster])).code).toBe(0);
});
