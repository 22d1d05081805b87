/**
 * The floor: a bare HTTPS client that makes the calls of a tick again. It reads every body, parses it and drops it.
 *
 * A call is sent once everything has been answered that had been answered when the product sent it, so there is as much
 * at the same time as there was in the tick.
 */
import { Agent, request } from 'node:https';
import type { Served } from './fixture-server.ts';
import { repeat, task } from './repeated-ticks.ts';

export interface FloorTask {
  readonly url: string;
  readonly authority: string;
  readonly served: readonly Served[];
  readonly ticks: number;
}

async function main(): Promise<void> {
  const { url, authority, served, ticks } = await task<FloorTask>();
  const agent = new Agent({ ca: authority, keepAlive: true, maxSockets: 6 });
  const call = ({ method, path, headers, body }: Served): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
      const outgoing = request(`${url}${path}`, { method, agent, headers: { ...headers, ...length } }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  const tick = async (): Promise<void> => {
    const calls: Promise<unknown>[] = [];
    for (const each of served) {
      const needed = each.after.map((index) => calls[index]);
      calls.push(
        Promise.all(needed)
          .then(() => call(each))
          .then(() => undefined),
      );
    }
    await Promise.all(calls);
  };
  process.send?.(await repeat(ticks, tick));
}

void main();
