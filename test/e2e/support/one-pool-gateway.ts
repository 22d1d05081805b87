/**
 * The API server as it would be if its cluster had one NodePool: what stands between it and one program, so that many
 * programs can each be broken off in a rotation of their own on one control plane.
 *
 * Objects of other pools are left out of every list; everything else passes as it is. Writes are numbered, and the
 * one given by `breakAt` lands but is never answered, nor does anything pass after it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ControlPlane } from '../harness/control-plane.ts';

/** Collections that a tick reads whole. */
const collections = ['nodepools', 'nodeclaims', 'nodes', 'rotationpolicies', 'namespaces/node-rotation/pods'];

export interface GatewayOptions {
  readonly plane: ControlPlane;
  readonly pool: string;
  /** A write's number, counted from 1, or what its body has in it. */
  readonly breakAt?: number | string;
  /** What happens then. */
  readonly broken: () => void;
}

export interface Gateway {
  readonly kubeconfig: string;
  /** Writes of the protocol so far. Events and the policy's status, whose number depends on timing, do not count. */
  readonly written: () => number;
  /** Nothing is broken off any more. */
  passAll(): void;
  close(): void;
}

interface Item {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

export async function startGateway({ plane, pool, breakAt, broken }: GatewayOptions): Promise<Gateway> {
  const { server: upstream, authority, certificate, key } = plane.accesses['node-rotation'];
  const agent = new Agent({ ca: authority, cert: certificate, key, keepAlive: true });
  let written = 0;
  let passing = breakAt === undefined;
  let cut = false;
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (cut) return void outgoing.destroy();
    const { method = 'GET', url = '/' } = incoming;
    const sent = await collect(incoming);
    const answer = await forward(agent, upstream, incoming, sent);
    if (isWrite(method, url)) {
      written += 1;
      const isIt = typeof breakAt === 'string' ? sent.includes(breakAt) : written === breakAt;
      if (!passing && isIt) {
        cut = true;
        broken();
      }
    }
    if (cut) return void outgoing.destroy();
    const [path = ''] = url.split('?');
    const isList = method === 'GET' && collections.some((collection) => path.endsWith(`/${collection}`));
    const body = isList && answer.status === 200 ? onlyOf(pool, answer.body) : answer.body;
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...headers } = answer.headers;
    outgoing.writeHead(answer.status, { ...headers, 'content-length': body.length }).end(body);
  };
  const pki = (name: string): Buffer => readFileSync(join(plane.folder, 'pki', name));
  const server = createServer({ cert: pki('server.crt'), key: pki('server.key') }, (incoming, outgoing) => {
    pass(incoming, outgoing).catch((error: Error) => outgoing.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const kubeconfig = join(plane.folder, `${pool}.kubeconfig`);
  writeFileSync(kubeconfig, kubeconfigOf(server, authority), { mode: 0o600 });
  return {
    kubeconfig,
    written: () => written,
    passAll: () => {
      passing = true;
      cut = false;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

const isWrite = (method: string, url: string): boolean =>
  method !== 'GET' && !/dryRun=|\/events|\/rotationpolicies\//.test(url);

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

async function forward(agent: Agent, upstream: string, incoming: IncomingMessage, sent: Buffer): Promise<Answer> {
  const { host: _, connection: __, authorization: ___, ...headers } = incoming.headers;
  return new Promise((resolve, reject) => {
    const outgoing = request(`${upstream}${incoming.url}`, { method: incoming.method, agent, headers }, (response) => {
      collect(response).then(
        (body) => resolve({ status: response.statusCode ?? 502, headers: response.headers, body }),
        reject,
      );
    });
    outgoing.on('error', reject);
    outgoing.end(sent);
  });
}

async function collect(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function onlyOf(pool: string, body: Buffer): Buffer {
  const list: { readonly items: readonly Item[] } = JSON.parse(body.toString());
  const items = list.items.filter(
    ({ metadata: { name, labels } }) => name === pool || labels?.['karpenter.sh/nodepool'] === pool,
  );
  return Buffer.from(JSON.stringify({ ...list, items }));
}

function kubeconfigOf(server: Server, authority: string): string {
  const { port } = server.address() as AddressInfo;
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority-data': Buffer.from(authority).toString('base64'),
  };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'e2e', cluster }],
    // Who it is, is the gateway's to say.
    users: [{ name: 'node-rotation', user: { token: 'any' } }],
    contexts: [{ name: 'node-rotation', context: { cluster: 'e2e', user: 'node-rotation' } }],
    'current-context': 'node-rotation',
  });
}
