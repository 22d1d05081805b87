/**
 * The processes of one control plane: started in order, each healthy before the next, stopped in reverse.
 *
 * Each is written down on disk as soon as it has a pid, so that whoever is left over when this process dies can stop
 * exactly these and no others: a pid counts only while it still runs the file that was started.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { exitCodes, Failure } from '../../../lib/cli/failure.ts';
import { endProcess, type StartedProcess } from './end-process.ts';

interface Program {
  readonly name: string;
  readonly file: string;
  readonly arguments: readonly string[];
  /** Besides PATH and HOME, which is the folder. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** One program that stays, with everything it needs to start. */
export interface Part extends Program {
  /** Rejections count as "not yet". */
  readonly healthy: () => Promise<boolean>;
}

/** Generous, because the machine may be busy with other things; a healthy start takes seconds. */
const startLimit = 90_000;

export class Processes {
  readonly folder: string;
  readonly #patience: number | undefined;
  #started: StartedProcess[] = [];

  /** @param patience milliseconds that a process gets to stop by itself */
  constructor(folder: string, patience?: number) {
    this.folder = folder;
    this.#patience = patience;
    mkdirSync(join(folder, 'logs'), { recursive: true });
  }

  get running(): readonly string[] {
    return this.#started.map(({ name }) => name);
  }

  /** Kept through restarts: each start appends. */
  logOf(name: string): string {
    return join(this.folder, 'logs', `${name}.log`);
  }

  /**
   * Returns once the part is healthy.
   *
   * @throws Failure that names the part, its log and what to do
   */
  async start(part: Part): Promise<void> {
    let ended: string | undefined;
    void this.#spawn(part, this.folder).then((how) => {
      ended = how;
    });
    const limit = performance.now() + startLimit;
    while (!(await part.healthy().catch(() => false))) {
      if (ended !== undefined) throw this.#broken(part.name, `${ended} while starting`);
      if (performance.now() > limit) throw this.#broken(part.name, `is not healthy after ${startLimit / 1000} s`);
      await wait(50);
    }
  }

  /**
   * Runs a program to its end, with the rest of those here: it too is stopped by whoever stops them.
   *
   * @param workingFolder where it runs
   * @returns undefined when it ended well, otherwise how it ended; what it printed is in its log
   */
  async run(program: Program, workingFolder: string, limit: number): Promise<string | undefined> {
    rmSync(this.logOf(program.name), { force: true });
    const ending = this.#spawn(program, workingFolder);
    let stopped: Promise<void> | undefined;
    const timer = setTimeout(() => {
      stopped = this.stop(program.name);
    }, limit);
    const how = await ending;
    clearTimeout(timer);
    if (stopped) {
      await stopped;
      return `did not end within ${limit / 1000} s`;
    }
    this.#started = this.#started.filter(({ name }) => name !== program.name);
    this.#writeDown();
    return how === 'ended with code 0' ? undefined : how;
  }

  /** In a session of its own: Ctrl-C reaches us only, and we stop the programs in order. @returns how it ended */
  #spawn({ name, file, arguments: args, environment }: Program, cwd: string): Promise<string> {
    const log = openSync(this.logOf(name), 'a');
    const child = spawn(file, args, {
      cwd,
      detached: true,
      env: { PATH: process.env.PATH, HOME: this.folder, ...environment },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.unref();
    if (child.pid !== undefined) {
      this.#started.push({ name, pid: child.pid, file });
      this.#writeDown();
    }
    return new Promise((resolve) => {
      child.on('error', ({ message }) => resolve(message));
      child.on('exit', (code, signal) => resolve(code === null ? `ended by ${signal}` : `ended with code ${code}`));
    });
  }

  async stop(name: string): Promise<void> {
    const found = this.#started.findLast((started) => started.name === name);
    if (!found) return;
    await endProcess(found, this.#patience);
    this.#started = this.#started.filter((started) => started !== found);
    this.#writeDown();
  }

  async stopAll(): Promise<void> {
    for (const name of this.running.toReversed()) await this.stop(name);
  }

  #writeDown(): void {
    writeFileSync(fileOfProcesses(this.folder), JSON.stringify(this.#started, undefined, 2));
  }

  #broken(name: string, what: string): Failure {
    const log = this.logOf(name);
    const last = readFileSync(log, 'utf8').trim().split('\n').at(-1) ?? '';
    const advice = last.includes('address already in use')
      ? 'Another program took its port meanwhile: start again.'
      : 'Read the log; a binary that is at fault is built anew when its folder in the cache is removed.';
    return new Failure(
      exitCodes.notAsItShouldBe,
      `${name} ${what}${last === '' ? '' : ` ("${last.slice(0, 300)}")`}. Its log: ${log}. ${advice}`,
    );
  }
}

/** What a control plane in that folder started and did not stop itself, in order. */
export function startedIn(folder: string): readonly StartedProcess[] {
  const file = fileOfProcesses(folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

/** Stops what a control plane in that folder left running, in reverse order of its start. */
export async function stopLeftOver(folder: string): Promise<void> {
  for (const started of startedIn(folder).toReversed()) await endProcess(started);
}

const fileOfProcesses = (folder: string): string => join(folder, 'processes.json');
