/**
 * The few requests that the harness makes itself, as one user of the API server.
 *
 * Not the product's adapter on purpose: what arranges a test and what looks at the result must not share its mistakes.
 */
import { Agent, request } from 'node:https';

export type KubeDocument = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string; readonly namespace?: string };
} & Readonly<Record<string, unknown>>;

export interface Access {
  /** `https://127.0.0.1:…` */
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly status: number;
  constructor(what: string, status: number, body: string) {
    super(`${what}: ${status} ${body}`);
    this.status = status;
  }
}

interface Sent {
  readonly contentType?: string;
  readonly body?: string;
}

interface ServedKind {
  readonly kind: string;
  readonly name: string;
  readonly namespaced: boolean;
}

const json = 'application/json';

export class KubeApi {
  readonly #server: string;
  readonly #agent: Agent;

  constructor({ server, authority, certificate, key }: Access) {
    this.#server = server;
    this.#agent = new Agent({ ca: authority, cert: certificate, key, keepAlive: true });
  }

  /** @returns the answer's text @throws RefusedRequest for anything but 2xx */
  send(method: string, path: string, { contentType, body }: Sent = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        `${this.#server}${path}`,
        {
          method,
          agent: this.#agent,
          timeout: 15_000,
          headers: { accept: json, ...(contentType && { 'content-type': contentType }) },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const status = response.statusCode ?? 0;
            if (status >= 200 && status < 300) resolve(text);
            else reject(new RefusedRequest(`${method} ${path}`, status, text));
          });
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path}: no answer in 15 s`)));
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  async get<Read = KubeDocument>(path: string): Promise<Read> {
    return JSON.parse(await this.send('GET', path));
  }

  /** @param path of the collection */
  async list<Read = KubeDocument>(path: string): Promise<readonly Read[]> {
    const { items } = await this.get<{ readonly items: readonly Read[] }>(path);
    return items;
  }

  merge(path: string, patch: object): Promise<string> {
    return this.send('PATCH', path, { contentType: 'application/merge-patch+json', body: JSON.stringify(patch) });
  }

  async delete(path: string): Promise<void> {
    await this.send('DELETE', path);
  }

  /** Makes it, or makes it so: server-side apply. */
  async apply(document: KubeDocument): Promise<void> {
    const path = `${await this.#pathOf(document)}?fieldManager=node-rotation-e2e&force=true`;
    await this.send('PATCH', path, { contentType: 'application/apply-patch+yaml', body: JSON.stringify(document) });
  }

  async #pathOf({ apiVersion, kind, metadata: { name, namespace = 'default' } }: KubeDocument): Promise<string> {
    const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { resources } = await this.get<{ readonly resources: readonly ServedKind[] }>(group);
    const served = resources.find((resource) => resource.kind === kind && !resource.name.includes('/'));
    if (!served) throw new Error(`the API server does not serve ${kind} of ${apiVersion}`);
    return `${group}/${served.namespaced ? `namespaces/${namespace}/` : ''}${served.name}/${name}`;
  }

  close(): void {
    this.#agent.destroy();
  }
}
