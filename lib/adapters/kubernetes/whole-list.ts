/**
 * Lists read to their last page. A list is whole or it is not used: what was seen of an expired one is thrown away.
 *
 * Pages are projected as they arrive, so that memory holds one page of raw objects and never all of them.
 */
import { ObservationFailed } from '../../controller/ports.ts';
import type { Instant } from '../../domain/time.ts';
import type { ApiClient } from './api-client.ts';
import { ApiStatusError } from './api-error.ts';
import { pathOf, type Resource } from './resources.ts';

const pageSize = 500;

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
 * @param project makes a domain object of one raw item; undefined leaves the item out
 * @throws ObservationFailed when the list expired twice while it was read
 * @design D15-03, D6
 */
export async function readWholeList<T>(
  client: ApiClient,
  resource: Resource,
  query: ListQuery,
  project: (raw: unknown) => T | undefined,
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
  project: (raw: unknown) => T | undefined,
): Promise<WholeList<T>> {
  const items: T[] = [];
  let date: Instant | undefined;
  let token = '';
  do {
    const answer = await client.request({
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
    date ??= answer.date;
    const page = pageOf(answer.body, resource);
    for (const raw of page.items) {
      const item = project(raw);
      if (item !== undefined) items.push(item);
    }
    if (page.token !== '' && page.token === token) {
      throw new ObservationFailed('Unreachable', `the list of ${resource.plural} repeats a page without end`);
    }
    token = page.token;
  } while (token !== '');
  return { items, ...(date === undefined ? {} : { date }) };
}

function pageOf(body: unknown, { plural }: Resource): { items: readonly unknown[]; token: string } {
  const list = body as { items?: unknown; metadata?: { continue?: unknown } } | null;
  // An empty list of Go is null.
  const items = list?.items ?? (list !== null && typeof list === 'object' && 'items' in list ? [] : undefined);
  if (!Array.isArray(items))
    throw new ObservationFailed('Unreachable', `the answer to the list of ${plural} is no list`);
  const token = list?.metadata?.continue;
  return { items, token: typeof token === 'string' ? token : '' };
}
