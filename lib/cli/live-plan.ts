/**
 * The cluster of a kubeconfig context, looked at once for a plan. No write leaves here.
 */
import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import { connectToContext } from '../adapters/kubernetes/kubeconfig-connection.ts';
import { KubernetesCluster } from '../adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../adapters/kubernetes/tick-budget.ts';
import { lookForPlan } from '../controller/look-for-plan.ts';
import { ObservationFailed } from '../controller/ports.ts';
import type { ClusterSnapshot } from '../domain/cluster/snapshot.ts';
import type { Instant } from '../domain/time.ts';
import { minute } from '../domain/time.ts';
import { lookFailed } from './failure.ts';

export interface Place {
  readonly context?: string;
  readonly kubeconfig?: string;
  /** Plans as if it were then; the server's own time otherwise. */
  readonly at?: Instant;
}

/** What a plan is made of, and which objects could not be read. */
export interface Seen {
  readonly snapshot: ClusterSnapshot;
  readonly refused: readonly string[];
}

/** @throws Failure when the context is missing or the cluster cannot be looked at @design D13-01 */
export async function seenInContext({ context, kubeconfig, at }: Place): Promise<Seen> {
  const connection = connectToContext({
    ...(context === undefined ? {} : { context }),
    ...(kubeconfig === undefined ? {} : { file: kubeconfig }),
  });
  const budget = new TickBudget({ toBegin: minute, toEnd: minute });
  const cluster = new KubernetesCluster({
    connection,
    budget,
    instance: 'plan',
    settings: defaultPlaceholder,
    retired: false,
  });
  try {
    const snapshot = await lookForPlan(cluster, at);
    return { snapshot, refused: cluster.refused };
  } catch (error) {
    throw error instanceof ObservationFailed ? lookFailed(connection.server.host, error.outcome, error.message) : error;
  } finally {
    connection.close();
  }
}
