/**
 * The toolchains that only the end-to-end tests need, and the line that says which one is missing.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { exitCodes, Failure } from '../../../lib/cli/failure.ts';

const run = promisify(execFile);

export interface Toolchain {
  readonly name: string;
  readonly command: string;
  /** Its output has the version as the first `N.N` or `N.N.N`. */
  readonly versionArguments: readonly string[];
}

export const toolchains = {
  go: { name: 'Go', command: 'go', versionArguments: ['env', 'GOVERSION'] },
  python: { name: 'Python', command: 'python3', versionArguments: ['--version'] },
} satisfies Readonly<Record<string, Toolchain>>;

/**
 * @param least `N.N` or `N.N.N`
 * @throws Failure with exit code 2 when the toolchain is not there or older
 */
export async function mustHave({ name, command, versionArguments }: Toolchain, least: string): Promise<void> {
  const advice = `Install ${name} ${least} or newer and have \`${command}\` on the PATH.`;
  const output = await run(command, [...versionArguments]).then(
    ({ stdout }) => stdout,
    (cause: unknown) => {
      throw new Failure(
        exitCodes.usage,
        `The end-to-end tests need ${name}, and \`${command}\` cannot be run. ${advice}`,
        {
          cause,
        },
      );
    },
  );
  const version = /\d+(\.\d+)+/.exec(output)?.[0] ?? 'unknown';
  if (isOlder(version, least)) {
    throw new Failure(
      exitCodes.usage,
      `The end-to-end tests need ${name} ${least}, and \`${command}\` is ${version}. ${advice}`,
    );
  }
}

/** A version that cannot be read counts as too old. */
function isOlder(version: string, least: string): boolean {
  const have = version.split('.').map(Number);
  for (const [place, wanted] of least.split('.').map(Number).entries()) {
    const number = have[place] ?? 0;
    if (number !== wanted) return !(number > wanted);
  }
  return false;
}
