/// <reference path="./dynalite.d.ts" />
/**
 * A DynamoDB inside this process, for one table on this machine: the same wire protocol, in memory or in a folder.
 *
 * A folder belongs to one process at a time. The database notices a second one too late to say so, so a file with the
 * owner's process id is kept beside it; one left behind by a process that is gone does not count.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import dynalite from 'dynalite';
import { exitCodes, Failure } from './failure.ts';

export interface EmbeddedTable {
  /** `http://127.0.0.1:…` */
  readonly endpoint: string;
  close(): Promise<void>;
}

/** @param folder where it is kept; in memory when unset */
export async function startEmbeddedTable(folder?: string): Promise<EmbeddedTable> {
  const release = folder === undefined ? () => {} : occupy(folder);
  const server = dynalite({ ...(folder === undefined ? {} : { path: join(folder, 'table') }), createTableMs: 0 });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      release();
    },
  };
}

/** @returns what gives the folder back */
function occupy(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'owner');
  const owner = ownerOf(file);
  if (owner !== undefined && owner !== process.pid && isAlive(owner)) {
    throw new Failure(
      exitCodes.noAccess,
      `The data folder ${folder} is in use by process ${owner}. Stop that process, or choose another folder with --data.`,
    );
  }
  writeFileSync(file, `${process.pid}\n`);
  return () => rmSync(file, { force: true });
}

function ownerOf(file: string): number | undefined {
  try {
    const owner = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(owner) && owner > 0 ? owner : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
