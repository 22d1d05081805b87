import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { exitCodes } from '../../lib/cli/failure.ts';
import { mustHave, toolchains } from '../e2e/harness/toolchain.ts';

const root = mkdtempSync(join(tmpdir(), 'node-rotation-test-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

/** A PATH with only that command on it. */
function pathWith(command: string, script: string): string {
  const folder = mkdtempSync(join(root, 'path-'));
  writeFileSync(join(folder, command), `#!/bin/bash\n${script}\n`);
  chmodSync(join(folder, command), 0o755);
  return folder;
}

const advice = 'Install Go 1.26.6 or newer and have `go` on the PATH.';
const old = (version: string): string => `The end-to-end tests need Go 1.26.6, and \`go\` is ${version}. ${advice}`;

describe('a toolchain of the end-to-end tests', () => {
  test.each([
    [
      'is missing',
      mkdtempSync(join(root, 'path-')),
      `The end-to-end tests need Go, and \`go\` cannot be run. ${advice}`,
    ],
    ['is of an older minor', pathWith('go', 'echo go1.25.9'), old('1.25.9')],
    ['is of an older patch', pathWith('go', 'echo go1.26.5'), old('1.26.5')],
    ['is of no patch', pathWith('go', 'echo go1.26'), old('1.26')],
    ['has no version that can be read', pathWith('go', 'echo devel'), old('unknown')],
  ])('that %s is one line with exit code 2 (D13-01)', async (_, path, message) => {
    vi.stubEnv('PATH', path);
    await expect(mustHave(toolchains.go, '1.26.6')).rejects.toMatchObject({ exitCode: exitCodes.usage, message });
  });

  test.each(['go1.26.6', 'go1.26.10', 'go1.27', 'go2.0'])('is there as %s', async (version) => {
    vi.stubEnv('PATH', pathWith('go', `echo ${version}`));
    await mustHave(toolchains.go, '1.26.6');
  });

  test('is Python, too (D13-01)', async () => {
    vi.stubEnv('PATH', pathWith('python3', 'echo Python 3.9.2'));
    await expect(mustHave(toolchains.python, '3.11')).rejects.toMatchObject({
      exitCode: exitCodes.usage,
      message:
        'The end-to-end tests need Python 3.11, and `python3` is 3.9.2. Install Python 3.11 or newer and have `python3` on the PATH.',
    });
  });
});
