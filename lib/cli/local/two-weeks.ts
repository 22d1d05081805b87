/**
 * The main job, end to end: the real handlers rotate an embedded cluster's nodes through two weeks of virtual time.
 *
 * The controller reaches the cluster through HTTPS and the table through DynamoDB's protocol only; what this file sees of
 * the world besides is used to pass the time and to check the outcome.
 */
import type { AuditTable } from '../../adapters/aws/audit-table.ts';
import { clusterKey } from '../../adapters/aws/cluster-registry.ts';
import type { Log } from '../../adapters/aws/tick-log.ts';
import { readPolicy } from '../../adapters/kubernetes/policy-document.ts';
import { assert } from '../../domain/assert.ts';
import { type Occurrence, occurrenceAt, occurrencesBetween, type WindowPlan } from '../../domain/schedule/calendar.ts';
import type { Duration, Instant } from '../../domain/time.ts';
import { add, days } from '../../domain/time.ts';
import { type RecordedStep, type RotationStory, tellRotations } from '../../report/rotation-story.ts';
import { simulate } from '../../simulator/simulate.ts';
import type { Timeline } from '../../simulator/timeline.ts';
import type { EmbeddedCluster } from './embedded-cluster.ts';
import { leftovers } from './leftovers.ts';
import { createPipeline } from './pipeline.ts';
import { shortcomings } from './verdict.ts';

export interface TwoWeeks {
  readonly cluster: string;
  readonly timeline: Timeline;
  readonly windows: readonly Occurrence[];
  readonly stories: readonly RotationStory[];
  readonly rows: number;
  readonly ticks: number;
  /** What is not as it should be; empty when all is well. */
  readonly problems: readonly string[];
}

export interface TwoWeeksOptions {
  readonly embedded: EmbeddedCluster;
  readonly table: AuditTable;
  readonly log: Log;
  /** Two weeks when unset. */
  readonly length?: Duration;
  /** Before every tick; it may throw to end the run. */
  readonly beforeTick?: (at: Instant) => void | Promise<void>;
}

export async function runTwoWeeks({
  embedded,
  table,
  log,
  length = days(14),
  beforeTick,
}: TwoWeeksOptions): Promise<TwoWeeks> {
  const { world, target, connection } = embedded;
  const plan = planOf(embedded);
  const pipeline = createPipeline({ cluster: target, connection, table, log, now: () => world.now });
  const from = world.now;
  let failedTicks = 0;
  const { ticks, ...timeline } = await simulate({
    world,
    from,
    to: add(from, length),
    isBusy: (at, inFlight) => inFlight > 0 || occurrenceAt(plan, at) !== undefined,
    tick: async (at) => {
      await beforeTick?.(at);
      const answers = await pipeline.tick(at);
      if (answers.length === 0 || answers.some(({ outcome }) => outcome !== 'Ok')) failedTicks += 1;
    },
  });
  const cluster = clusterKey(target);
  const rows = await readSteps(table, cluster, timeline);
  const stories = tellRotations(rows);
  const deadLetters = pipeline.deadLetters();
  const problems = shortcomings({ timeline, stories, leftovers: leftovers(world.store), failedTicks, deadLetters });
  const windows = occurrencesBetween(plan, timeline.from, timeline.to);
  return { cluster, timeline, windows, stories, rows: rows.length, ticks, problems };
}

/** The windows of the one policy that the fleet brings. */
function planOf({ world }: EmbeddedCluster): WindowPlan {
  const [policy] = world.store.all('RotationPolicy').map(readPolicy);
  assert(policy?.valid === true, 'the fleet brings a valid RotationPolicy');
  return policy.policy;
}

async function readSteps(table: AuditTable, cluster: string, { from, to }: Timeline): Promise<RecordedStep[]> {
  const steps: RecordedStep[] = [];
  for await (const { nodePool, entry } of table.byCluster(cluster, { from, to })) steps.push({ nodePool, ...entry });
  return steps;
}
