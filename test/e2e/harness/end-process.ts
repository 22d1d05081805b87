/**
 * Ends one process by its pid, with those that it has started itself, whoever its parent is: first politely, then for
 * good. It has to lead a session, and so a group, of its own.
 *
 * Numbers of processes are used again, so a pid alone says nothing; what it runs is compared first.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export interface StartedProcess {
  readonly name: string;
  readonly pid: number;
  /** The program's path. */
  readonly file: string;
}

/** The API server waits for its watches when asked politely, and nobody here needs their end. */
const usualPatience = 5_000;

/** @param patience milliseconds between asking and killing */
export async function endProcess(started: StartedProcess, patience = usualPatience): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!isRunning(started)) return;
    sendToGroup(started.pid, signal);
    const limit = performance.now() + patience;
    while (isRunning(started) && performance.now() < limit) await wait(20);
  }
}

export const isRunning = ({ pid, file }: StartedProcess): boolean => commandLine(pid).startsWith(file);

/** Empty for a process that is gone, and for one that has ended and waits for its parent. */
function commandLine(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (error) {
    if (isOver(error)) return '';
    throw error;
  }
}

function sendToGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!isOver(error)) throw error;
  }
}

/** No such process, by the words of the kernel, of `/proc` and of `ps`. */
function isOver(error: unknown): boolean {
  const { code, status } = error as NodeJS.ErrnoException & { status?: number };
  return code === 'ENOENT' || code === 'ESRCH' || status === 1;
}
