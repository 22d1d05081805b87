/**
 * Stands between the functions and the emulator's EKS: the emulator runs no clusters, so it knows neither where one is
 * reached nor whom to trust there. Everything else of its answers is passed on as it is.
 *
 * It is also the door by which the authenticator, which trusts public authorities only, comes to the emulator's STS.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What EKS would say of a cluster. */
export interface ClusterAddress {
  readonly endpoint: string;
  /** PEM. */
  readonly certificateAuthority: string;
}

export class EksCompletion {
  readonly url: string;
  /** By cluster name; may change at any time. */
  readonly addresses = new Map<string, ClusterAddress>();
  readonly #server: Server;
  readonly #agent: Agent;

  private constructor(server: Server, agent: Agent) {
    this.#server = server;
    this.#agent = agent;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /**
   * @param emulator where the emulator listens
   * @param authority PEM
   */
  static async start(emulator: string, authority: string): Promise<EksCompletion> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // The authenticator's Host is that of the real STS, which is not the name in the certificate.
    const agent = new Agent({ ca: authority, servername: 'localhost' });
    const completion = new EksCompletion(server, agent);
    server.on('request', async (incoming, answer) => {
      try {
        const { status, headers, body } = await forwarded(emulator, incoming, agent);
        const completed = status === 200 ? completion.#completed(incoming, body) : body;
        answer.writeHead(status, { 'content-type': headers['content-type'] ?? 'application/json' }).end(completed);
      } catch (error) {
        answer.writeHead(502, { 'content-type': 'text/plain' }).end(String(error));
      }
    });
    return completion;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await once(this.#server.close(), 'close');
  }

  #completed({ method, url }: IncomingMessage, body: Buffer): Buffer | string {
    const name = method === 'GET' ? /^\/clusters\/([^/?]+)$/.exec(url ?? '')?.[1] : undefined;
    const address = name === undefined ? undefined : this.addresses.get(decodeURIComponent(name));
    if (!address) return body;
    const { cluster } = JSON.parse(body.toString()) as { cluster: object };
    const data = Buffer.from(address.certificateAuthority).toString('base64');
    return JSON.stringify({
      cluster: { ...cluster, status: 'ACTIVE', endpoint: address.endpoint, certificateAuthority: { data } },
    });
  }
}

async function forwarded(emulator: string, incoming: IncomingMessage, agent: Agent) {
  const { method, url = '/', headers } = incoming;
  // The signature covers the host that was asked for, which is ours.
  const outgoing = request(new URL(url, emulator), { method, headers, agent });
  outgoing.end(await buffer(incoming));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 502, headers: response.headers, body: await buffer(response) };
}
