import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { exitCodes } from '../../lib/cli/failure.ts';
import { pythonEnvironment } from '../e2e/emulator/python-environment.ts';
import { cacheFolder } from '../e2e/harness/built.ts';

const root = mkdtempSync(join(tmpdir(), 'node-rotation-test-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A Python that makes an environment of itself, and whose pip writes down what it was asked to install. */
const python = `#!/bin/bash
case "$2" in
  venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python3" ;;
  pip)
    if [ -n "$OFFLINE" ]; then echo 'ERROR: No matching distribution found for ministack' >&2; exit 1; fi
    cp "\${!#}" "$(dirname "$0")/../installed.txt" ;;
  *) echo Python 3.11.7 ;;
esac
`;
const bin = join(root, 'bin');
mkdirSync(bin);
writeFileSync(join(bin, 'python3'), python);
chmodSync(join(bin, 'python3'), 0o755);

const told: string[] = [];
const tell = (line: string): void => void told.push(line);

beforeEach(() => {
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
  vi.stubEnv('XDG_CACHE_HOME', mkdtempSync(join(root, 'cache-')));
  told.length = 0;
  return () => vi.unstubAllEnvs();
});

const folderOf = (interpreter: string): string => dirname(dirname(interpreter));

describe('the Python environment of the AWS emulator', () => {
  test('is installed once, as the requirements say, and used from then on (D15-01)', async () => {
    const first = await pythonEnvironment(tell);
    const second = await pythonEnvironment(tell);
    expect(second).toBe(first);
    expect(told).toEqual([`Installing the AWS emulator into ${folderOf(first)}.`]);
    expect(readFileSync(join(folderOf(first), 'installed.txt'), 'utf8')).toMatch(/^ministack==/m);
    expect(readdirSync(cacheFolder())).toHaveLength(1);
  });

  test.each(['bin/python3', 'installed.txt'])('is installed anew when %s is missing (D15-01)', async (path) => {
    const folder = folderOf(await pythonEnvironment(tell));
    rmSync(join(folder, path));
    await pythonEnvironment(tell);
    expect(existsSync(join(folder, path))).toBe(true);
    expect(told).toHaveLength(2);
  });

  test('that cannot be installed is one line that names the log, and nothing half made is left (D13-01)', async () => {
    vi.stubEnv('OFFLINE', 'yes');
    const log = join(cacheFolder(), 'aws-emulator-install.log');
    await expect(pythonEnvironment(tell)).rejects.toMatchObject({
      exitCode: exitCodes.notAsItShouldBe,
      message: `The AWS emulator cannot be installed (ERROR: No matching distribution found for ministack). The whole output is in ${log}; \`python3 -m pip config list\` says where packages come from.`,
    });
    expect(readFileSync(log, 'utf8')).toContain('No matching distribution');
    expect(readdirSync(cacheFolder())).toEqual(['aws-emulator-install.log']);
  });

  test('asks for Python where there is none, with exit code 2 (D13-01)', async () => {
    vi.stubEnv('PATH', mkdtempSync(join(root, 'path-')));
    await expect(pythonEnvironment(tell)).rejects.toMatchObject({
      exitCode: exitCodes.usage,
      message: expect.stringMatching(/^The end-to-end tests need Python, and `python3` cannot be run\./),
    });
  });
});
