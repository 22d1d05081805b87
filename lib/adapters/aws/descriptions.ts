/**
 * Where clusters are reached, asked of EKS: each about every quarter of an hour, not all at once, and only so many in
 * one minute. Clusters that are known come first, because a new one can wait a minute.
 */
import { createHash } from 'node:crypto';
import { add, between, duration, type Instant, minute, minutes, wholeSecond } from '../../domain/time.ts';
import { scopeKey } from './cluster-registry.ts';
import { type ClusterSource, isThrottling } from './eks-clusters.ts';
import { inParallel } from './in-parallel.ts';
import { Patience } from './patience.ts';
import type { Description } from './registry-table.ts';
import type { Log } from './tick-log.ts';

/** @design D9-02 */
const lasts = minutes(15);
/** A cluster that is being made is looked at again sooner. */
const lastsWhileAbsent = minutes(2);
const mostJitter = 3 * minute;
const mostPerMinute = 100;
const atATime = 5;

export class Descriptions {
  readonly #source: ClusterSource;
  readonly #log: Log;
  readonly #patience = new Patience();

  constructor(source: ClusterSource, log: Log) {
    this.#source = source;
    this.#log = log;
  }

  /** Replaces what is due in place; what cannot be had stays as it was. Never throws. @design D9-02, D9-03 */
  async renew(clusters: Map<string, Description>, now: Instant, signal: AbortSignal): Promise<void> {
    const due = [...clusters]
      .filter(([key, description]) => isDue(key, description, now) && !this.#patience.waits(scopeKey(description), now))
      .sort(([a, { describedAt: left, status: of }], [b, { describedAt: right, status: and }]) => {
        return Number(of === 'UNKNOWN') - Number(and === 'UNKNOWN') || left - right || (a < b ? -1 : 1);
      })
      .slice(0, mostPerMinute);
    await inParallel(due, atATime, async ([key, description]) => {
      const scope = scopeKey(description);
      if (signal.aborted || this.#patience.waits(scope, now)) return;
      try {
        const described = await this.#source.describe(description, signal);
        this.#patience.answered(scope);
        clusters.set(key, { ...description, ...described, describedAt: wholeSecond(now) });
      } catch (error) {
        if (isThrottling(error)) this.#patience.refused(scope, now);
        this.#log.warn('EKS could not be asked about a cluster; what was known of it stays', {
          cluster: key,
          detail: String(error),
        });
      }
    });
  }
}

function isDue(key: string, { configured, status, describedAt }: Description, now: Instant): boolean {
  if (configured) return false;
  if (status === 'UNKNOWN') return true;
  if (status !== 'ACTIVE' && status !== 'UPDATING') return between(describedAt, now) >= lastsWhileAbsent;
  return now >= add(describedAt, duration(lasts - jitterOf(key)));
}

/** The same for a cluster every time, and spread over clusters. */
const jitterOf = (key: string): number => createHash('sha256').update(key).digest().readUInt32BE(0) % mostJitter;
