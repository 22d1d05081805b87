/**
 * Child processes: each measurement has one of its own, so that its memory is its own and the server's work is not counted.
 *
 * Their heap is sized as Lambda is believed to size it for 512 MB: nine tenths for old objects, a twentieth for new ones.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';

const lambdaMemory = 512;
const heapFlags = [
  `--max-old-space-size=${Math.floor(lambdaMemory * 0.9)}`,
  `--max-semi-space-size=${Math.floor(lambdaMemory * 0.05)}`,
  '--disable-warning=ExperimentalWarning',
];
const longestRun = 300_000;

/** How the deployment bundles its functions. */
export const asShipped: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node24',
  minify: true,
  mainFields: ['module', 'main'],
  logLevel: 'error',
};

export interface Started {
  readonly child: ChildProcess;
  /** The next message from it. @throws Error when it ends first, or takes too long */
  next<T>(): Promise<T>;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

/** @param script its file in this folder */
export function start(script: string, { args = [], env = {}, flags = heapFlags }: StartOptions = {}): Started {
  const child = fork(bundled(script), args, {
    execArgv: [...flags],
    // What the caller's shell says about AWS, proxies or Node is none of the measured process's business.
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${script} ended (${code ?? signal}) before it had answered`);
  });
  ended.catch(() => {});
  const waiting: unknown[] = [];
  const readers: ((message: unknown) => void)[] = [];
  child.on('message', (message) => {
    const reader = readers.shift();
    if (reader) reader(message);
    else waiting.push(message);
  });
  return {
    child,
    next: async <T>() => {
      if (waiting.length > 0) return waiting.shift() as T;
      const message = new Promise<unknown>((resolve) => void readers.push(resolve));
      return (await Promise.race([message, ended, tooLong(script)])) as T;
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

const made = new Map<string, string>();
let folder: string | undefined;

/** As one file of plain JavaScript: what strips the types of a source would be in its memory, too. */
function bundled(script: string): string {
  const known = made.get(script);
  if (known !== undefined) return known;
  folder ??= mkdtempSync(join(tmpdir(), 'node-rotation-bench-'));
  const outfile = join(folder, `${script.replace(/\.ts$/, '')}.cjs`);
  buildSync({ ...asShipped, entryPoints: [join(import.meta.dirname, script)], outfile });
  made.set(script, outfile);
  return outfile;
}

async function tooLong(script: string): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, longestRun).unref());
  throw new Error(`${script} did not answer within ${longestRun / 1_000} s`);
}

/** Gives a task to a script and takes its one answer. */
export async function run<T>(script: string, task: object, options?: StartOptions): Promise<T> {
  const started = start(script, options);
  try {
    started.child.send(task);
    return await started.next<T>();
  } finally {
    await started.stop();
  }
}
