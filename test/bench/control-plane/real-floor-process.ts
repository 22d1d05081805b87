/**
 * The floor: a bare HTTPS client reads the five lists of an idle tick page by page, parses them and drops them.
 */
import { Agent, request } from 'node:https';
import type { Access } from '../../e2e/harness/kube-api.ts';
import { repeat, task } from '../repeated-ticks.ts';

export interface RealFloorTask {
  readonly access: Access;
  readonly ticks: number;
}

/** In the order of the product: two lists first, then three side by side. */
const lists: readonly (readonly string[])[] = [
  ['/apis/karpenter.sh/v1/nodepools?limit=500', '/apis/noderotation.io/v1alpha1/rotationpolicies?limit=500'],
  [
    '/apis/karpenter.sh/v1/nodeclaims?limit=500',
    '/api/v1/nodes?limit=500',
    '/api/v1/namespaces/node-rotation/pods?limit=500&labelSelector=noderotation.io%2Fsurge-for',
  ],
];
const metadataOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

async function main(): Promise<void> {
  const { access, ticks } = await task<RealFloorTask>();
  const { server, authority, certificate, key } = access;
  const agent = new Agent({ ca: authority, cert: certificate, key, keepAlive: true });
  const page = (path: string): Promise<{ readonly metadata?: { readonly continue?: string } }> =>
    new Promise((resolve, reject) => {
      const accept = path.startsWith('/api/v1/nodes') ? metadataOnly : 'application/json';
      const outgoing = request(`${server}${path}`, { agent, headers: { accept } }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          if (incoming.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`${path}: ${incoming.statusCode} ${text.slice(0, 300)}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  const list = async (path: string): Promise<void> => {
    let token = '';
    do {
      const { metadata } = await page(`${path}${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`);
      token = metadata?.continue ?? '';
    } while (token !== '');
  };
  const tick = async (): Promise<void> => {
    for (const together of lists) await Promise.all(together.map(list));
  };
  const costs = await repeat(ticks, tick);
  agent.destroy();
  process.send?.(costs);
}

void main();
