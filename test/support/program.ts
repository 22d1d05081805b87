/**
 * Runs the real command line as a child process, with a time limit: a command that does not end is a failed test.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const main = join(import.meta.dirname, '..', '..', 'lib', 'cli', 'main.ts');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface ProgramOptions {
  /** Besides PATH and HOME; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds. */
  readonly limit?: number;
  /** Called with everything on standard error so far; answers when to press Ctrl-C. */
  readonly interruptWhen?: (err: string) => boolean;
}

/** @throws Error with what was printed when the program does not end in time */
export function runProgram(
  args: readonly string[],
  { env = {}, limit = 15_000, interruptWhen }: ProgramOptions = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [main, ...args], {
      env: { PATH, HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed = { out: '', err: '' };
    let interrupted = false;
    child.stdout.on('data', (chunk: Buffer) => {
      printed.out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      printed.err += chunk.toString();
      if (interrupted || !interruptWhen?.(printed.err)) return;
      interrupted = true;
      child.kill('SIGINT');
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(
        new Error(`node-rotation ${args.join(' ')} did not end within ${limit} ms:\n${printed.out}${printed.err}`),
      );
    }, limit);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...printed });
    });
  });
}
