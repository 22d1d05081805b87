/**
 * Lists read to their last page. A list is whole or it is not used: what was seen of an expired one is thrown away.
 *
 * Pages are projected item by item as they arrive: memory holds the text of one page and one raw object, and an item that
 * was seen before is not even parsed.
 */
import { ObservationFailed } from '../../controller/ports.ts';
import type { Instant } from '../../domain/time.ts';
import { type ApiClient, parsed } from './api-client.ts';
import { ApiStatusError } from './api-error.ts';
import { cutList } from './cut-list.ts';
import type { ApiRequest } from './exchange.ts';
import { pathOf, type Resource } from './resources.ts';
import { type ItemReader, type ListReading, SeenItems } from './seen-items.ts';
import { withoutManagedFields } from './without-managed-fields.ts';

const pageSize = 500;
/** Texts of 6,000 nodes, in one cluster or several; the values made of them take about half of that. */
const seen = new SeenItems(80_000_000);

export interface ListQuery {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly metadataOnly?: boolean;
}

export interface WholeList<T> {
  readonly items: readonly T[];
  /** The server's clock when it answered with the first page. */
  readonly date?: Instant;
}

/**
 * @param project makes a value of one raw item, always the same of the same
 * @throws ObservationFailed when the list expired twice while it was read
 * @design D15-03, D6
 */
export async function readWholeList<T>(
  client: ApiClient,
  resource: Resource,
  query: ListQuery,
  project: ItemReader<T>,
): Promise<WholeList<T>> {
  for (const chance of ['first', 'last'] as const) {
    try {
      return await readPages(client, resource, query, project);
    } catch (error) {
      const expired = error instanceof ApiStatusError && error.code === 410;
      if (!expired) throw error;
      if (chance === 'last') {
        const message = `the list of ${resource.plural} expired twice while it was read`;
        throw new ObservationFailed('Unreachable', message, { cause: error });
      }
    }
  }
  throw new Error('unreachable');
}

async function readPages<T>(
  client: ApiClient,
  resource: Resource,
  query: ListQuery,
  project: ItemReader<T>,
): Promise<WholeList<T>> {
  const items: T[] = [];
  const reading = readingOf(client, resource, query, project);
  let date: Instant | undefined;
  let token = '';
  do {
    const request = pageRequest(resource, query, token);
    const ask = () => client.requestText(request, (text) => readPage(request, resource, text, { reading, project }));
    // Two lists begin side by side; what is long of them takes turns, because pages in flight are most of a tick's memory.
    const { read: page, date: answeredAt } = await (token === '' ? ask() : client.laterPages.take(ask));
    date ??= answeredAt;
    for (const item of page.items) items.push(item);
    if (page.token !== '' && page.token === token) {
      throw new ObservationFailed('Unreachable', `the list of ${resource.plural} repeats a page without end`);
    }
    token = page.token;
  } while (token !== '');
  reading.end();
  return { items, ...(date === undefined ? {} : { date }) };
}

/** A closer look at one Node's Pods is rarely taken twice, so nothing of it is kept. */
function readingOf<T>(client: ApiClient, resource: Resource, query: ListQuery, project: ItemReader<T>): ListReading<T> {
  if (query.fieldSelector !== undefined) {
    return { read: (text) => project(JSON.parse(withoutManagedFields(text))), lengthsToCome: () => [], end: () => {} };
  }
  const { namespace, labelSelector = '', metadataOnly = false } = query;
  return seen.begin(`${client.server} ${pathOf(resource, { namespace })} ${metadataOnly} ${labelSelector}`, project);
}

const pageRequest = (resource: Resource, query: ListQuery, token: string): ApiRequest => ({
  verb: 'list',
  resource: resource.plural,
  path: pathOf(resource, { namespace: query.namespace }),
  query: {
    limit: String(pageSize),
    ...(query.labelSelector === undefined ? {} : { labelSelector: query.labelSelector }),
    ...(query.fieldSelector === undefined ? {} : { fieldSelector: query.fieldSelector }),
    ...(token === '' ? {} : { continue: token }),
  },
  ...(query.metadataOnly ? { metadataOnly: true } : {}),
});

interface Page<T> {
  readonly items: readonly T[];
  readonly token: string;
}

/** How the list is read in parts, and how an item of a page that could not be cut. */
interface How<T> {
  readonly reading: ListReading<T>;
  readonly project: ItemReader<T>;
}

function readPage<T>(request: ApiRequest, resource: Resource, text: Buffer, { reading, project }: How<T>): Page<T> {
  const inParts = readInParts(text, reading);
  if (inParts !== undefined) return inParts;
  const { items, token } = pageOf(parsed(request, text), resource);
  return { items: items.map((raw) => project(raw)), token };
}

/** undefined where the text cannot be cut, or was cut at a wrong place. */
function readInParts<T>(text: Buffer, reading: ListReading<T>): Page<T> | undefined {
  const cut = cutList(text, reading.lengthsToCome());
  if (cut === undefined) return undefined;
  try {
    return { items: cut.items.map((item) => reading.read(item)), token: tokenOf(cut.rest) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function pageOf(body: unknown, { plural }: Resource): { items: readonly unknown[]; token: string } {
  const list = body as { items?: unknown } | null;
  // An empty list of Go is null.
  const items = list?.items ?? (list !== null && typeof list === 'object' && 'items' in list ? [] : undefined);
  if (!Array.isArray(items))
    throw new ObservationFailed('Unreachable', `the answer to the list of ${plural} is no list`);
  return { items, token: tokenOf(body) };
}

function tokenOf(list: unknown): string {
  const token = (list as { metadata?: { continue?: unknown } | null } | null)?.metadata?.continue;
  return typeof token === 'string' ? token : '';
}
