/**
 * Loopback ports: free ones, and a clear word when a wanted one is taken.
 *
 * They lie below those that systems give to whoever asks for any: one of those, free at the moment of asking, may be the
 * near end of somebody's connection a moment later, and then no server can listen there. Processes begin at different
 * places, because clusters are started side by side.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { exitCodes, Failure } from '../../../lib/cli/failure.ts';

/** Linux gives from 32,768 on, others from 49,152. */
const lowest = 20_000;
const highest = 32_767;
/** More than a process needs. */
const apart = 64;
const count = highest - lowest + 1;
let next = (process.pid * apart) % count;

/**
 * Different from each other, and from those of an earlier call.
 *
 * @throws Failure with exit code 3 when there are not so many
 */
export async function freePorts(wanted: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < wanted && tried < count; tried += 1) {
    const port = lowest + next;
    next = (next + 1) % count;
    if (await isFree(port)) ports.push(port);
  }
  if (ports.length === wanted) return ports;
  throw new Failure(
    exitCodes.noAccess,
    `There are not ${wanted} free ports from ${lowest} to ${highest} on 127.0.0.1: stop what uses them.`,
  );
}

const isFree = (port: number): Promise<boolean> =>
  listen(port).then(
    (server) => closed(server).then(() => true),
    () => false,
  );

/** @throws Failure with exit code 3 when somebody listens there */
export async function mustBeFree(port: number): Promise<void> {
  const server = await listen(port).catch((cause: unknown) => {
    throw new Failure(
      exitCodes.noAccess,
      `Port ${port} of 127.0.0.1 cannot be used (${(cause as NodeJS.ErrnoException).code}): stop what uses it, or choose another with --port.`,
      { cause },
    );
  });
  await closed(server);
}

type Server = ReturnType<typeof createServer>;

async function listen(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const closed = (server: Server): Promise<unknown> => once(server.close(), 'close');
