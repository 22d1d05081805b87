/**
 * A process that serves a cluster standing still, and the AWS calls of a tick, from texts made before the first request.
 *
 * As much of it changes from look to look as in a minute of a quiet cluster: versions of Nodes and NodeClaims.
 * It is a process of its own so that what it costs is not counted. Whoever asks for all Pods or all whole Nodes is refused:
 * no tick may, however it is measured.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeServingCertificate } from '../../lib/cli/local/certificate.ts';
import { instant, wholeSecond } from '../../lib/domain/time.ts';
import type { Json } from './eks-objects.ts';
import { type ClusterShape, FixtureCluster } from './fixture-cluster.ts';
import { FixtureTable } from './fixture-table.ts';

/** One request as it was served, enough to send it again. */
export interface Served {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Of the answer's body. */
  readonly bytes: number;
  /** Positions of those that had been answered when it came: it may depend on any of them. */
  readonly after: readonly number[];
}

export type ServerOrder = { readonly order: 'record' } | { readonly order: 'tell' };
export type ServerWord =
  | { readonly word: 'listening'; readonly url: string; readonly authority: string }
  | { readonly word: 'served'; readonly served: readonly Served[] };

const pageSize = 500;
const replayed = ['accept', 'authorization', 'content-type', 'user-agent', 'x-amz-target', 'x-amz-date'];

type Listed = 'nodepools' | 'rotationpolicies' | 'nodeclaims' | 'nodes';

export class FixtureServer {
  readonly #cluster: FixtureCluster;
  readonly #pages: Readonly<Record<'nodeclaims' | 'nodes', readonly Buffer[]>>;
  readonly #versions: Readonly<Record<'nodeclaims' | 'nodes', readonly Version[]>>;
  readonly #minutes = { nodeclaims: 0, nodes: 0 };
  readonly #table = new FixtureTable();
  /** Requests in order; undefined while nobody wants to know them. */
  #served: (Served & { answered: boolean })[] | undefined;

  constructor(cluster: FixtureCluster) {
    this.#cluster = cluster;
    this.#pages = {
      nodeclaims: pagesOf('karpenter.sh/v1', 'NodeClaimList', cluster.nodeClaims()),
      nodes: pagesOf('meta.k8s.io/v1', 'PartialObjectMetadataList', partial(cluster.nodeMetadata())),
    };
    this.#versions = { nodeclaims: versionsIn(this.#pages.nodeclaims), nodes: versionsIn(this.#pages.nodes) };
  }

  /** @returns base URL and the authority's certificate as PEM */
  async listen(): Promise<{ readonly url: string; readonly authority: string }> {
    const { authority, certificate, key } = await makeServingCertificate(new Date());
    const options = { cert: certificate, key, keepAlive: true, keepAliveTimeout: 90_000 };
    const server = createServer(options, (request, response) => this.#receive(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, authority };
  }

  /** Keeps what is served from here on. */
  record(): void {
    this.#served = [];
  }

  /** What was served since, which is kept no longer. */
  recorded(): readonly Served[] {
    const served = this.#served ?? [];
    this.#served = undefined;
    return served.map(({ answered: _, ...each }) => each);
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const after = (this.#served ?? []).flatMap(({ answered }, index) => (answered ? [index] : []));
    const entry = {
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      headers: Object.fromEntries(replayed.flatMap((name) => headerOf(request, name))),
      body: '',
      bytes: 0,
      after,
      answered: false,
    };
    this.#served?.push(entry);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      entry.body = Buffer.concat(chunks).toString('utf8');
      const { code, body } = this.#answer(entry);
      entry.bytes = body.length;
      response.writeHead(code, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body, () => {
        entry.answered = true;
      });
    });
  }

  #answer({ method, path, headers, body }: Served): { readonly code: number; readonly body: Buffer } {
    const target = headers['x-amz-target'];
    if (target !== undefined) return ok(this.#aws(target, JSON.parse(body)));
    const { pathname, searchParams } = new URL(path, 'https://fixture');
    const segments = pathname.split('/').filter((segment) => segment !== '');
    const [collection = '', name] = afterVersion(segments);
    if (method === 'GET' && name === undefined) return this.#list(collection, segments, searchParams, headers);
    if (method === 'GET') return this.#get(collection, decodeURIComponent(name ?? ''));
    const stated = body === '' ? {} : (JSON.parse(body) as Json);
    if (method === 'PATCH') this.#cluster.keepStanding(collection, name ?? '', stated);
    return ok(written(stated, name));
  }

  #aws(target: string, input: Record<string, unknown>): object {
    const operation = target.split('.').at(-1) ?? '';
    if (operation !== 'PutEvents') return this.#table.answer(operation, input);
    const entries = input.Entries as readonly unknown[];
    return { FailedEntryCount: 0, Entries: entries.map((_, n) => ({ EventId: `event-${n}` })) };
  }

  #list(collection: string, path: readonly string[], query: URLSearchParams, headers: Served['headers']) {
    if (collection === 'nodeclaims' || collection === 'nodes') {
      if (collection === 'nodes' && !headers.accept?.includes('PartialObjectMetadataList')) return refused('all Nodes');
      const number = Number(query.get('continue') ?? 0);
      if (number === 0) this.#minutePasses(collection);
      const page = this.#pages[collection][number];
      return page === undefined ? refused('a page that is not there') : { code: 200, body: page };
    }
    const items = this.#items(collection as Listed, path, query);
    return items === undefined ? refused(`a list of ${collection}`) : ok({ kind: 'List', metadata: {}, items });
  }

  /** A kubelet that has nothing new to tell writes its Node every five minutes; Karpenter writes a NodeClaim less often. */
  #minutePasses(collection: 'nodeclaims' | 'nodes'): void {
    const minute = this.#minutes[collection]++;
    const every = collection === 'nodes' ? 5 : 20;
    const version = String(4_000_000 + minute);
    for (const [index, { page, offset }] of this.#versions[collection].entries()) {
      if (index % every === minute % every) page.write(version, offset, 'latin1');
    }
  }

  #items(collection: string, path: readonly string[], query: URLSearchParams): readonly Json[] | undefined {
    const selector = query.get('fieldSelector') ?? '';
    switch (collection) {
      case 'nodepools':
        return this.#cluster.nodePools;
      case 'rotationpolicies':
        return this.#cluster.policies;
      case 'poddisruptionbudgets':
        return [];
      case 'pods':
        if (path.includes('namespaces')) return this.#cluster.placeholders();
        if (selector.startsWith('spec.nodeName=,')) return [];
        return selector === '' ? undefined : this.#cluster.podsOn(selector.slice('spec.nodeName='.length));
      default:
        return undefined;
    }
  }

  #get(collection: string, name: string) {
    const found =
      collection === 'nodes'
        ? this.#cluster.node(name)
        : this.#cluster.nodePools.find((pool) => (pool.metadata as { name: string }).name === name);
    return found === undefined ? refused(`${collection} ${name}`) : ok(found);
  }
}

function headerOf(request: IncomingMessage, name: string): [string, string][] {
  const value = request.headers[name];
  return typeof value === 'string' ? [[name, value]] : [];
}

/** `api/v1/…`, `apis/group/v1/…`, with or without a namespace. */
function afterVersion(segments: readonly string[]): readonly string[] {
  const rest = segments.slice(segments[0] === 'api' ? 2 : 3);
  return rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
}

function* partial(metadata: Iterable<Json>): Generator<Json> {
  for (const each of metadata) yield { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: each };
}

function pagesOf(apiVersion: string, kind: string, items: Iterable<Json>): readonly Buffer[] {
  const texts = Array.from(items, (item) => JSON.stringify(item));
  const pages = Math.max(1, Math.ceil(texts.length / pageSize));
  return Array.from({ length: pages }, (_, page) => {
    const next = page + 1 < pages ? { continue: String(page + 1) } : {};
    const metadata = JSON.stringify({ resourceVersion: '5000000', ...next });
    const own = texts.slice(page * pageSize, (page + 1) * pageSize).join(',');
    return Buffer.from(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${metadata},"items":[${own}]}`);
  });
}

/** Where an item's resourceVersion, of seven digits, stands. */
interface Version {
  readonly page: Buffer;
  readonly offset: number;
}

const versionText = Buffer.from('"resourceVersion":"');

/** Those of the items, in order: a page's own comes first. */
const versionsIn = (pages: readonly Buffer[]): readonly Version[] =>
  pages.flatMap((page) => {
    const found: Version[] = [];
    for (let at = page.indexOf(versionText); at !== -1; at = page.indexOf(versionText, at + 1)) {
      found.push({ page, offset: at + versionText.length });
    }
    return found.slice(1);
  });

const ok = (body: unknown) => ({ code: 200, body: Buffer.from(JSON.stringify(body)) });

const refused = (what: string) => ({
  code: 500,
  body: Buffer.from(JSON.stringify({ kind: 'Status', code: 500, message: `the bench serves no ${what}` })),
});

/** The metadata of an object that was written, as clients ask for it. */
const written = (stated: Json, name: string | undefined): Json => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { name, uid: '0', ...(stated.metadata as object | undefined), resourceVersion: '6000000' },
});

async function main(): Promise<void> {
  const shape = JSON.parse(process.argv[2] ?? '{}') as ClusterShape;
  const server = new FixtureServer(new FixtureCluster(shape, wholeSecond(instant(Date.now()))));
  const say = (word: ServerWord): void => void process.send?.(word);
  process.on('message', ({ order }: ServerOrder) => {
    if (order === 'record') server.record();
    else say({ word: 'served', served: server.recorded() });
  });
  say({ word: 'listening', ...(await server.listen()) });
}

void main();
