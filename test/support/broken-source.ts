/**
 * Runs a program on sources with something taken out, to see that a test notices.
 *
 * Nothing is copied or written: a child process changes the text of the files as it loads them. What is to be replaced
 * must stand in its file exactly once, so that a break which no longer fits the source is an error and not a pass.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { projectRoot } from '../house/source-files.ts';

export interface SourceBreak {
  /** Relative to the project. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export const breaksVariable = 'SOURCE_BREAKS';

/** @throws when what is to be replaced does not stand there exactly once */
export function brokenText(text: string, { file, find, replace }: SourceBreak): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
  return parts.join(replace);
}

const hook = pathToFileURL(join(projectRoot, 'test/support/broken-source-hook.ts')).href;

/**
 * @param program a TypeScript file, relative to the project
 * @returns what it printed
 * @throws when it fails, also because a break does not fit
 */
export async function runBroken(
  program: string,
  args: readonly string[],
  breaks: readonly SourceBreak[],
  timeout = 60_000,
): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', hook, join(projectRoot, program), ...args],
    {
      cwd: projectRoot,
      env: { ...process.env, [breaksVariable]: JSON.stringify(breaks) },
      timeout,
      maxBuffer: 2 ** 26,
    },
  );
  return stdout;
}
