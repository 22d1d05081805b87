/**
 * Which clusters are ticked, from what is configured, what carries the tag and what the registry remembers.
 *
 * A cluster that is known is ticked with what was last heard of it, whatever AWS answers in this minute: only a whole
 * answer changes anything. One that left is retired and ticked on until nothing of ours is left on it.
 */
import { add, between, days, formatInstant, type Instant, minutes, wholeSecond } from '../../domain/time.ts';
import type { AuditNote } from './audit-note.ts';
import type { AuditTable } from './audit-table.ts';
import { type ClusterTarget, clusterKey, type FleetConfig, type ListedCluster, scopeKey } from './cluster-registry.ts';
import { Descriptions } from './descriptions.ts';
import type { ClusterSource } from './eks-clusters.ts';
import { inParallel } from './in-parallel.ts';
import type { ClusterRegistry, Description, RegistryRow } from './registry-table.ts';
import type { TagSource } from './tag-discovery.ts';
import { TaggedClusters } from './tagged-clusters.ts';
import type { Log } from './tick-log.ts';

/** What dispatch does in one minute. */
export interface FleetSurvey {
  readonly targets: readonly ClusterTarget[];
  /** Absent while the registry cannot be read. */
  readonly health?: FleetHealth;
}

/** @design D11-01 */
export interface FleetHealth {
  /** Clusters that should be ticked, retired ones left out. */
  readonly clusters: number;
  /** Those without a good tick for five minutes. */
  readonly stale: number;
  /** Since the last good tick of the cluster that has waited longest; 0 without clusters. */
  readonly longestLag: number;
}

export interface Fleet {
  survey(now: Instant): Promise<FleetSurvey>;
}

export interface RegisteredFleetOptions {
  readonly config: FleetConfig;
  readonly registry: ClusterRegistry;
  /** Takes the row of a cluster that is dropped, before it is. */
  readonly table: Pick<AuditTable, 'putNote'>;
  readonly source: ClusterSource;
  readonly tags: TagSource;
  readonly log: Log;
}

const tickable = new Set(['ACTIVE', 'UPDATING']);
const staleAfter = minutes(5);
/** A retired cluster that no tick reaches any more is given up after this time. */
const givenUpAfter = days(1);
/** How long AWS is asked about clusters before the minute's ticks are sent with what is known. */
const longestLook = 8_000;
const writesAtATime = 10;

export class RegisteredFleet implements Fleet {
  readonly #options: RegisteredFleetOptions;
  readonly #tagged: TaggedClusters;
  readonly #descriptions: Descriptions;
  /** As last read or written: what is gone by when the table does not answer. */
  #rows = new Map<string, RegistryRow>();

  constructor(options: RegisteredFleetOptions) {
    this.#options = options;
    this.#tagged = new TaggedClusters(options.tags, options.log);
    this.#descriptions = new Descriptions(options.source, options.log);
  }

  /** Never throws. @design D9-03, D1-01 */
  async survey(now: Instant): Promise<FleetSurvey> {
    const readable = await this.#readRegistry();
    const signal = AbortSignal.timeout(longestLook);
    const tagged = await this.#tagged.of(this.#options.config.discovery, now, signal);
    const listed = new Map(this.#options.config.clusters.map((cluster) => [clusterKey(cluster), cluster]));
    const wanted = new Map<string, Wanted>([
      ...tagged.clusters.map((cluster) => [clusterKey(cluster), { ...cluster, via: 'tag' as const }] as const),
      ...[...listed].map(([key, cluster]) => [key, { ...cluster, via: 'list' as const }] as const),
    ]);
    const before = this.#rows;
    const after = new Map<string, Description>();
    for (const [key, cluster] of wanted) after.set(key, entered(cluster, before.get(key)?.description, now));
    for (const [key, { description }] of before) {
      if (wanted.has(key)) continue;
      const unseen = description.via === 'tag' && tagged.failed.has(scopeKey(description));
      const leaves = readable && !unseen && description.retiredAt === undefined;
      after.set(key, leaves ? { ...description, retiredAt: wholeSecond(now) } : description);
    }
    await this.#descriptions.renew(after, now, signal);
    if (readable) await this.#dropEnded(before, after, now);
    await this.#write(before, after, now);
    return {
      targets: [...this.#rows.values()].flatMap(({ description }) => targetOf(description)),
      ...(readable ? { health: healthOf([...this.#rows.values()], now) } : {}),
    };
  }

  async #readRegistry(): Promise<boolean> {
    try {
      this.#rows = new Map((await this.#options.registry.all()).map((row) => [row.key, row]));
      return true;
    } catch (error) {
      this.#options.log.error(
        'The registry of clusters could not be read; the clusters of the last minute are ticked',
        {
          clusters: this.#rows.size,
          detail: String(error),
        },
      );
      return false;
    }
  }

  /**
   * Takes retired clusters out of `after` on which nothing of ours is left, or that cannot be reached. The row comes
   * first: once the registry has forgotten a cluster, nobody could tell of it any more.
   */
  async #dropEnded(
    before: ReadonlyMap<string, RegistryRow>,
    after: Map<string, Description>,
    now: Instant,
  ): Promise<void> {
    const { registry, table, log } = this.#options;
    await inParallel([...before.values()], writesAtATime, async ({ key, health }) => {
      const description = after.get(key);
      const reason = description && whyDropped(description, health, now);
      if (description === undefined || reason === undefined) return;
      try {
        const put = await table.putNote(droppedNote(key, description.retiredAt ?? now, reason, now));
        if (put.outcome === 'failed') throw new Error(put.detail);
        await registry.drop(key);
      } catch (error) {
        log.warn('A retired cluster could not be dropped yet', { cluster: key, detail: String(error) });
        return;
      }
      after.delete(key);
      log.info('A retired cluster was dropped', { cluster: key, reason });
    });
  }

  async #write(
    before: ReadonlyMap<string, RegistryRow>,
    after: ReadonlyMap<string, Description>,
    now: Instant,
  ): Promise<void> {
    this.#rows = new Map(
      [...after].map(([key, description]) => {
        const ticked = targetOf(description).length > 0;
        const tickedSince = ticked ? (description.tickedSince ?? wholeSecond(now)) : undefined;
        return [key, { key, description: { ...description, tickedSince }, health: before.get(key)?.health ?? {} }];
      }),
    );
    const changed = [...this.#rows.values()].filter(
      ({ key, description }) => JSON.stringify(description) !== JSON.stringify(before.get(key)?.description),
    );
    let lost = 0;
    await inParallel(changed, writesAtATime, async ({ key, description }) => {
      try {
        await this.#options.registry.describe(key, description);
      } catch (error) {
        lost += 1;
        if (lost === 1)
          this.#options.log.warn('The registry could not be written', { cluster: key, detail: String(error) });
      }
    });
  }
}

/** The same row however often the drop is tried. @design D10-02, D10-04 */
const droppedNote = (cluster: string, retiredAt: Instant, reason: string, now: Instant): AuditNote => ({
  cluster,
  kind: 'cluster',
  at: wholeSecond(now),
  key: `CLUSTER#${formatInstant(retiredAt)}#dropped`,
  facts: { change: 'dropped', reason, retiredAt: formatInstant(retiredAt) },
});

type Wanted = ListedCluster & { readonly via: Description['via'] };

/** What is known of a wanted cluster, entered the way that is configured at present. */
function entered(cluster: Wanted, known: Description | undefined, now: Instant): Description {
  const { account, region, name, via, roleArn, externalId, network, endpoint, certificateAuthority } = cluster;
  const configured = endpoint !== undefined;
  const same = known !== undefined && known.configured === configured;
  return {
    account,
    region,
    name,
    via,
    roleArn,
    externalId,
    network,
    endpoint: configured ? endpoint : same ? known.endpoint : undefined,
    certificateAuthority: configured ? certificateAuthority : same ? known.certificateAuthority : undefined,
    configured,
    status: configured ? 'ACTIVE' : same ? known.status : 'UNKNOWN',
    describedAt: same ? known.describedAt : wholeSecond(now),
    tickedSince: known?.tickedSince,
    retiredAt: undefined,
  };
}

/** None for a cluster that is not to be ticked. @design D9-03 */
function targetOf(description: Description): readonly ClusterTarget[] {
  const { account, region, name, endpoint, certificateAuthority, status, configured } = description;
  if (endpoint === undefined || certificateAuthority === undefined || !tickable.has(status)) return [];
  const { roleArn, externalId, network, retiredAt } = description;
  return [
    {
      account,
      region,
      name,
      endpoint,
      certificateAuthority,
      ...(roleArn === undefined ? {} : { roleArn }),
      ...(externalId === undefined ? {} : { externalId }),
      ...(network === undefined ? {} : { network }),
      ...(configured ? { configured } : {}),
      ...(retiredAt === undefined ? {} : { retired: true }),
    },
  ];
}

/** @design D9-03 */
function whyDropped(
  { retiredAt, status, endpoint }: Description,
  { cleanAt, lastOkAt }: RegistryRow['health'],
  now: Instant,
): string | undefined {
  if (retiredAt === undefined) return undefined;
  if (status === 'NOT_FOUND' || endpoint === undefined) return 'the cluster does not exist any more';
  if (cleanAt !== undefined && cleanAt > retiredAt) return 'nothing of ours is left on the cluster';
  const reached = lastOkAt !== undefined && lastOkAt > retiredAt ? lastOkAt : retiredAt;
  return now >= add(reached, givenUpAfter) ? 'no tick has reached the cluster for a day' : undefined;
}

function healthOf(rows: readonly RegistryRow[], now: Instant): FleetHealth {
  const lags = rows.flatMap(({ description, health }) => {
    const { retiredAt, tickedSince } = description;
    if (retiredAt !== undefined || tickedSince === undefined) return [];
    const since = health.lastOkAt !== undefined && health.lastOkAt > tickedSince ? health.lastOkAt : tickedSince;
    return [Math.max(0, between(since, now))];
  });
  return {
    clusters: lags.length,
    stale: lags.filter((lag) => lag > staleAfter).length,
    longestLag: lags.reduce((longest, lag) => Math.max(longest, lag), 0),
  };
}

/** Clusters that never change: those of an embedded installation. */
export const fixedFleet = (targets: readonly ClusterTarget[]): Fleet => ({
  survey: async () => ({ targets }),
});
