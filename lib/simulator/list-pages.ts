/**
 * Paged lists: every page of one list comes from the same moment, and a token that is too old is refused.
 *
 * The real server forgets old versions when etcd compacts them, after about five minutes.
 */
import type { Duration, Instant } from '../domain/time.ts';
import { between, minutes } from '../domain/time.ts';
import type { Answer } from './api-status.ts';
import { badRequest, expired, given, refused } from './api-status.ts';
import type { KubeObject } from './kube-object.ts';

export interface ListPage {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

interface Kept {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly takenAt: Instant;
  /** Under a selector the server does not know how many are left. */
  readonly selected: boolean;
}

const keptFor: Duration = minutes(5);

export class ListPages {
  readonly #kept = new Map<string, Kept>();
  #next = 1;

  /** The first page of a list; the rest is kept for its token. */
  first(
    items: readonly KubeObject[],
    resourceVersion: string,
    limit: number | undefined,
    at: Instant,
    selected = false,
  ): ListPage {
    if (limit === undefined || limit <= 0 || items.length <= limit) return { items, resourceVersion };
    for (const [id, kept] of this.#kept) if (between(kept.takenAt, at) >= keptFor) this.#kept.delete(id);
    const id = String(this.#next);
    this.#next += 1;
    const kept: Kept = { items, resourceVersion, takenAt: at, selected };
    this.#kept.set(id, kept);
    return page(id, kept, 0, limit);
  }

  /** The page that a token stands for. */
  next(token: string, limit: number | undefined, at: Instant): Answer<ListPage> {
    const match = /^v1\.(\d+)\.(\d+)$/.exec(token);
    if (!match) return refused(badRequest(`continue key is not valid: ${token}`));
    const kept = this.#kept.get(match[1] as string);
    if (!kept || between(kept.takenAt, at) >= keptFor) return refused(expired());
    return given(
      page(match[1] as string, kept, Number(match[2]), limit === undefined || limit <= 0 ? kept.items.length : limit),
    );
  }

  /** Forgets every list that has begun, as a compaction does. */
  compact(): void {
    this.#kept.clear();
  }
}

function page(id: string, kept: Kept, from: number, limit: number): ListPage {
  const to = Math.min(from + limit, kept.items.length);
  const left = kept.items.length - to;
  return {
    items: kept.items.slice(from, to),
    resourceVersion: kept.resourceVersion,
    ...(left > 0 ? { continue: `v1.${id}.${to}`, ...(kept.selected ? {} : { remainingItemCount: left }) } : {}),
  };
}
