/**
 * The Python environment of the AWS emulator: outside the tree, named by a hash of its requirements.
 *
 * As a built module it gets its name when everything in it is there. It is only ever used through its interpreter, which
 * finds its own packages wherever it is; its scripts would still name the place where they were made.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exitCodes, Failure } from '../../../lib/cli/failure.ts';
import { removeAbandoned, type Tell, takeItsName } from '../harness/build.ts';
import { cacheFolder, isWhole, writeInventory } from '../harness/built.ts';
import { mustHave, toolchains } from '../harness/toolchain.ts';

const run = promisify(execFile);
const requirements = join(import.meta.dirname, 'requirements.txt');
const longest = 600_000;

/**
 * @returns the path of its interpreter
 * @throws Failure when Python is missing or too old (exit code 2), or a package cannot be installed
 */
export async function pythonEnvironment(tell: Tell): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = join(cacheFolder(), `aws-emulator-${hash}`);
  const python = join(folder, 'bin', 'python3');
  // The interpreter is a link to the machine's own, which may have gone.
  if (isWhole(folder) && existsSync(python)) return python;
  await mustHave(toolchains.python, '3.11');
  tell(`Installing the AWS emulator into ${folder}.`);
  const partial = `${folder}.partial-${process.pid}`;
  const removePartial = (): void => rmSync(partial, { recursive: true, force: true });
  removeAbandoned(folder);
  // Also when the process is interrupted.
  process.once('exit', removePartial);
  try {
    await install(partial);
    writeInventory(partial);
    takeItsName(partial, folder);
  } finally {
    removePartial();
    process.off('exit', removePartial);
  }
  return python;
}

async function install(folder: string): Promise<void> {
  const python = join(folder, 'bin', 'python3');
  const pip = [python, '-m', 'pip', 'install', '--disable-pip-version-check', '--requirement', requirements];
  mkdirSync(cacheFolder(), { recursive: true });
  for (const command of [[toolchains.python.command, '-m', 'venv', folder], pip]) {
    const [program = '', ...args] = command;
    try {
      await run(program, args, { timeout: longest, maxBuffer: 2 ** 26 });
    } catch (cause) {
      const { stderr = '', stdout = '' } = cause as { stderr?: string; stdout?: string };
      const log = join(cacheFolder(), 'aws-emulator-install.log');
      writeFileSync(log, `${command.join(' ')}\n${stdout}\n${stderr}`);
      const last = (stderr.trim() || stdout.trim()).split('\n').at(-1) ?? '';
      throw new Failure(
        exitCodes.notAsItShouldBe,
        `The AWS emulator cannot be installed (${last}). The whole output is in ${log}; \`python3 -m pip config list\` says where packages come from.`,
        { cause },
      );
    }
  }
}
