/**
 * Loopback ports: free ones by asking the system, and a clear word when a wanted one is taken.
 *
 * A free port is only free at the moment of asking; whoever takes it in between shows in the log of the program that
 * then cannot listen.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { exitCodes, Failure } from '../../../lib/cli/failure.ts';

/** Different from each other: all are held until the last is found. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(closed));
  return ports;
}

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
