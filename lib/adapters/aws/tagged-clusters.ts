/**
 * The clusters that carry our tag, asked for every five minutes and region.
 *
 * An answer that is not whole counts as none: a cluster must not seem to have lost its tag because AWS was busy.
 */
import { add, type Instant, minutes } from '../../domain/time.ts';
import { type DiscoveryScope, type ListedCluster, scopeKey } from './cluster-registry.ts';
import { isThrottling } from './eks-clusters.ts';
import { inParallel } from './in-parallel.ts';
import { Patience } from './patience.ts';
import type { TagSource } from './tag-discovery.ts';
import type { Log } from './tick-log.ts';

const lasts = minutes(5);
const scopesAtATime = 5;

export interface Tagged {
  readonly clusters: readonly ListedCluster[];
  /** `account/region` where nothing is known. */
  readonly failed: ReadonlySet<string>;
}

export class TaggedClusters {
  readonly #source: TagSource;
  readonly #log: Log;
  readonly #found = new Map<string, { readonly names: readonly string[]; readonly goodUntil: Instant }>();
  readonly #patience = new Patience();

  constructor(source: TagSource, log: Log) {
    this.#source = source;
    this.#log = log;
  }

  /** Never throws. @design D9-03 */
  async of(scopes: readonly DiscoveryScope[], now: Instant, signal: AbortSignal): Promise<Tagged> {
    const due = scopes.filter((scope) => {
      const known = this.#found.get(scopeKey(scope));
      return (known === undefined || now >= known.goodUntil) && !this.#patience.waits(scopeKey(scope), now);
    });
    await inParallel(due, scopesAtATime, (scope) => this.#ask(scope, now, signal));
    const found = scopes.map((scope) => ({ scope, names: this.#found.get(scopeKey(scope))?.names }));
    return {
      clusters: found.flatMap(({ scope, names = [] }) => names.map((name) => ({ ...scope, name }))),
      failed: new Set(found.filter(({ names }) => names === undefined).map(({ scope }) => scopeKey(scope))),
    };
  }

  async #ask(scope: DiscoveryScope, now: Instant, signal: AbortSignal): Promise<void> {
    const key = scopeKey(scope);
    try {
      const names = await this.#source.discover(scope, signal);
      this.#found.set(key, { names, goodUntil: add(now, lasts) });
      this.#patience.answered(key);
    } catch (error) {
      if (isThrottling(error)) this.#patience.refused(key, now);
      this.#log.warn('The tagged clusters of a region could not be found; what was known of it stays', {
        scope: key,
        detail: String(error),
      });
    }
  }
}
