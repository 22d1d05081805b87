/**
 * Decisions and calendars alone: no network, no decoding.
 */

import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import { type ClusterSnapshot, type LightSnapshot, nothingInspected } from '../../lib/domain/cluster/snapshot.ts';
import { weekdays } from '../../lib/domain/policy/rotation-policy.ts';
import { nextOccurrence, occurrenceAt, type WindowPlan } from '../../lib/domain/schedule/calendar.ts';
import { windowPeriods } from '../../lib/domain/schedule/window.ts';
import { add, formatInstant, type Instant, instant, minutes } from '../../lib/domain/time.ts';
import { decide } from '../../lib/engine/decide.ts';
import { decoders } from '../support/decoders.ts';
import { FixtureCluster } from './fixture-cluster.ts';
import { type Repeated, repeat, task } from './repeated-ticks.ts';

export type ArithmeticTask =
  | { readonly what: 'windows'; readonly times: number }
  | { readonly what: 'decide'; readonly nodes: number; readonly times: number };

async function main(): Promise<void> {
  const asked = await task<ArithmeticTask>();
  const repeated: Repeated =
    asked.what === 'windows' ? await repeat(asked.times, windows()) : await repeat(asked.times, decision(asked.nodes));
  process.send?.(repeated);
}

/** Twenty windows in four zones: is it open, when does it open next, how far apart are they. A new policy every time. */
function windows(): () => Promise<void> {
  const zones = ['Asia/Tokyo', 'Europe/Berlin', 'America/New_York', 'Australia/Sydney'];
  let at = instant(Date.UTC(2026, 5, 8));
  return async () => {
    at = add(at, minutes(1));
    const plan: WindowPlan = {
      windows: Array.from({ length: 20 }, (_, n) => ({
        timezone: zones[n % zones.length] as string,
        days: [weekdays[n % 7] as (typeof weekdays)[number], weekdays[(n + 3) % 7] as (typeof weekdays)[number]],
        start: 60 + n * 10,
        end: 300 + n * 10,
      })),
      exclusions: [],
    };
    occurrenceAt(plan, at);
    nextOccurrence(plan, at);
    windowPeriods(plan.windows, at);
  };
}

/** Every time with lists of its own, as after a look; the objects in them are the same. */
function decision(nodes: number): () => Promise<void> {
  const at = instant(Date.UTC(2026, 5, 8, 3));
  const light = lightSnapshot(new FixtureCluster({ nodes, podsPerNode: 0, moment: 'idle' }, at), at);
  return async () => {
    const snapshot: ClusterSnapshot = {
      ...light,
      nodeClaims: [...light.nodeClaims],
      nodes: [...light.nodes],
      inspected: nothingInspected,
    };
    if (decide(snapshot).length === 0) throw new Error(`nothing was decided at ${formatInstant(at)}`);
  };
}

function lightSnapshot(cluster: FixtureCluster, at: Instant): LightSnapshot {
  return {
    observedAt: at,
    policies: cluster.policies.map(decoders.policy),
    nodePools: cluster.nodePools.map(decoders.nodePool),
    nodeClaims: Array.from(cluster.nodeClaims(), decoders.nodeClaim),
    nodes: Array.from(cluster.nodeMetadata(), (metadata) => decoders.nodeMetadata({ metadata })),
    placeholders: [],
    settings: defaultPlaceholder,
    retired: false,
  };
}

void main();
