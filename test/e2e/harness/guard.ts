/**
 * A second process that stops a control plane when the one that started it is gone, however it ended.
 *
 * It waits on a pipe that closes with its owner, so that even a killed test run leaves nothing behind. Ctrl-C does not
 * reach it: it runs in a session of its own.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { stopLeftOver } from './processes.ts';

const released = 'released';

export interface Guard {
  /** The owner has seen to everything, or wants it to go on. */
  release(): void;
}

export function guard(folder: string): Guard {
  const child = spawn(process.execPath, [import.meta.filename, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  // A guard that died first has nothing to say; the owner still stops everything itself.
  child.stdin.on('error', () => {});
  return { release: () => void child.stdin.end(released) };
}

async function watch(folder: string): Promise<void> {
  let said = '';
  for await (const chunk of process.stdin) said += String(chunk);
  if (said === released) return;
  await stopLeftOver(folder);
  rmSync(folder, { recursive: true, force: true });
}

const [, script, folder] = process.argv;
if (script === import.meta.filename && folder !== undefined) await watch(folder);
