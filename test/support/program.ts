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
  /** Besides PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly limit?: number;
}

export interface Running {
  /** Resolves once standard error matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** All that it has printed so far. */
  printed(): string;
  /** As Ctrl-C does. */
  interrupt(): void;
  /** With no chance to finish anything; it then ends without a code. */
  kill(): void;
  /** Rejects with what was printed when the program does not end in time. */
  readonly ended: Promise<Ended>;
}

export function startProgram(args: readonly string[], { env = {}, limit = 30_000 }: ProgramOptions = {}): Running {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { out: '', err: '' };
  const waiting = new Set<() => void>();
  const ended = new Promise<Ended>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed.out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      printed.err += chunk.toString();
      for (const look of waiting) look();
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${args.join(' ')} did not end within ${limit} ms:\n${printed.out}${printed.err}`));
    }, limit);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...printed });
    });
  });
  const says = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(printed.err);
        if (!match) return;
        waiting.delete(look);
        resolve(match);
      };
      waiting.add(look);
      look();
      ended.then(({ err }) => reject(new Error(`it ended without saying ${pattern}:\n${err}`)), reject);
    });
  const all = (): string => printed.out + printed.err;
  return {
    says,
    printed: all,
    interrupt: () => void child.kill('SIGINT'),
    kill: () => void child.kill('SIGKILL'),
    ended,
  };
}

export const runProgram = (args: readonly string[], options: ProgramOptions = {}): Promise<Ended> =>
  startProgram(args, options).ended;
