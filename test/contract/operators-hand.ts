/**
 * What a person with kubectl and every right does to a cluster, by JSON over its API: the other side of each contract test.
 *
 * It knows nothing of any implementation, and it takes away what it has made, so that a shared server stays clean.
 */
import { Agent, request } from 'node:https';
import { resources as product, type Resource } from '../../lib/adapters/kubernetes/resources.ts';

/** How an API server is reached with every right. */
export interface Access {
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly token?: string;
  /** PEM of a client certificate and its key. */
  readonly certificate?: string;
  readonly key?: string;
}

export interface Reply {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: a body of whatever was asked for
  readonly body: any;
}

export interface RawMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** An object as the API answers it. */
export interface Raw {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: RawMetadata;
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own
  readonly spec?: any;
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own
  readonly status?: any;
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

const servedAs: Readonly<Record<string, Resource>> = {
  NodePool: product.nodePools,
  NodeClaim: product.nodeClaims,
  Node: product.nodes,
  Pod: product.pods,
  RotationPolicy: product.rotationPolicies,
  PodDisruptionBudget: product.disruptionBudgets,
  Event: product.events,
  Namespace: { apiVersion: 'v1', plural: 'namespaces' },
  PriorityClass: { apiVersion: 'scheduling.k8s.io/v1', plural: 'priorityclasses' },
  CustomResourceDefinition: { apiVersion: 'apiextensions.k8s.io/v1', plural: 'customresourcedefinitions' },
};

export interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** The path of a collection, or of the object in it. */
export function collectionOf({ kind, metadata: { namespace } }: Named): string {
  const { apiVersion, plural } = servedAs[kind] as Resource;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
}

export const pathOf = (object: Named): string => `${collectionOf(object)}/${object.metadata.name}`;

const mergePatch = { 'content-type': 'application/merge-patch+json' };

export class Hand {
  readonly #access: Access;
  readonly #agent: Agent;
  readonly #made: Named[] = [];

  constructor(access: Access) {
    const { authority, certificate, key } = access;
    this.#access = access;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 8,
      ca: authority,
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
    });
  }

  /** One request, whatever is answered. */
  call(
    method: string,
    path: string,
    options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Reply> {
    const { server, token } = this.#access;
    const text = options.body === undefined ? '' : JSON.stringify(options.body);
    const headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(text === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...options.headers,
    };
    return new Promise((resolve, reject) => {
      const sent = request(`${server}${path}`, { method, headers, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString('utf8');
          const json = response.headers['content-type']?.startsWith('application/json');
          resolve({
            code: response.statusCode ?? 0,
            headers: response.headers,
            body: json ? JSON.parse(answer) : answer,
          });
        });
      });
      sent.on('error', reject);
      sent.end(text);
    });
  }

  /** Creates the object and, where the manifest has one, writes its status as its controller would. */
  async create(manifest: Manifest): Promise<Raw> {
    const created = await this.#sure('POST', collectionOf(manifest), manifest);
    this.#made.push(manifest);
    return manifest.status === undefined ? created : await this.setStatus(manifest, manifest.status);
  }

  /** Creates the object unless it is there. */
  async ensure(manifest: Manifest): Promise<void> {
    const { code, body } = await this.call('POST', collectionOf(manifest), { body: manifest });
    if (code >= 300 && body.reason !== 'AlreadyExists') throw new Error(`create ${manifest.kind}: ${body.message}`);
  }

  patch(object: Named, patch: unknown): Promise<Raw> {
    return this.#sure('PATCH', pathOf(object), patch, mergePatch);
  }

  setStatus(object: Named, status: unknown): Promise<Raw> {
    return this.#sure('PATCH', `${pathOf(object)}/status`, { status }, mergePatch);
  }

  read(object: Named): Promise<Raw> {
    return this.#sure('GET', pathOf(object));
  }

  /** undefined once it is gone. */
  async find(object: Named): Promise<Raw | undefined> {
    const { code, body } = await this.call('GET', pathOf(object));
    return code === 404 ? undefined : body;
  }

  async remove(object: Named): Promise<void> {
    await this.#sure('DELETE', pathOf(object));
  }

  /** Takes away what this hand has made, newest first, finalizers or not. */
  async cleanUp(): Promise<void> {
    const made = this.#made.splice(0).reverse();
    for (let from = 0; from < made.length; from += 8) {
      await Promise.all(made.slice(from, from + 8).map((object) => this.#takeAway(object)));
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #takeAway(object: Named): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(object.kind === 'Pod' ? { gracePeriodSeconds: 0 } : {}),
    };
    const { code, body: left } = await this.call('DELETE', pathOf(object), { body });
    if (code >= 300 || !left?.metadata?.finalizers) return;
    await this.call('PATCH', pathOf(object), { body: { metadata: { finalizers: null } }, headers: mergePatch });
  }

  async #sure(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Raw> {
    const reply = await this.call(method, path, { body, headers });
    if (reply.code >= 300) throw new Error(`${method} ${path}: ${reply.code} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }
}
