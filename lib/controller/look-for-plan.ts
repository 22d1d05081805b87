/**
 * The look of a dry tick: everything that a plan wants to know, and nothing written, not even a delete that is only tried.
 */
import type { ClusterSnapshot } from '../domain/cluster/snapshot.ts';
import { nothingInspected } from '../domain/cluster/snapshot.ts';
import type { Instant } from '../domain/time.ts';
import type { Need } from '../engine/decision.ts';
import { outlookNeeds } from '../engine/outlook.ts';
import { mergeInspected } from '../engine/survey.ts';
import { nothingNeeded } from '../engine/writes.ts';
import type { Cluster } from './ports.ts';

/** Questions lead to questions; one that stays open is asked no third time. */
const mostLooks = 16;

/**
 * @param at plans for another time than that of the cluster
 * @throws ObservationFailed when a complete answer cannot be had
 * @design D13-02
 */
export async function lookForPlan(
  cluster: Pick<Cluster, 'observe' | 'inspect'>,
  at?: Instant,
): Promise<ClusterSnapshot> {
  const light = await cluster.observe();
  let snapshot: ClusterSnapshot = {
    ...light,
    ...(at === undefined ? {} : { observedAt: at }),
    inspected: nothingInspected,
  };
  let before = '';
  for (let looks = 0; looks < mostLooks; looks += 1) {
    const wanted = outlookNeeds(snapshot);
    const asked = JSON.stringify(wanted);
    if (nothingNeeded(wanted) || asked === before) break;
    before = asked;
    snapshot = { ...snapshot, inspected: mergeInspected(snapshot.inspected, await inspect(cluster, wanted)) };
  }
  return snapshot;
}

/** A delete that is only tried is taken for admitted: a plan is no reason to send one. */
async function inspect(cluster: Pick<Cluster, 'inspect'>, wanted: Need): Promise<ClusterSnapshot['inspected']> {
  const dryRuns = wanted.dryRunDeletes.map(({ name }) => [name, { outcome: 'accepted' }] as const);
  return { ...(await cluster.inspect({ ...wanted, dryRunDeletes: [] })), dryRuns: new Map(dryRuns) };
}
