/**
 * The look that every tick begins with, alone: the five lists, decoded.
 */

import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import { connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { KubernetesCluster } from '../../lib/adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../../lib/adapters/kubernetes/tick-budget.ts';
import { repeat, task } from './repeated-ticks.ts';

export interface SnapshotTask {
  readonly url: string;
  readonly authority: string;
  readonly ticks: number;
}

async function main(): Promise<void> {
  const { url, authority, ticks } = await task<SnapshotTask>();
  const certificateAuthority = Buffer.from(authority).toString('base64');
  const tokens = { token: async () => 'token', renew: async () => 'token' };
  const connection = connectToEndpoint({ name: 'bench', endpoint: url, certificateAuthority }, tokens);
  const look = async (): Promise<void> => {
    const budget = new TickBudget({ toBegin: 40_000, toEnd: 47_000 });
    const cluster = new KubernetesCluster({
      connection,
      budget,
      instance: 'bench',
      settings: defaultPlaceholder,
      retired: false,
    });
    await cluster.observe();
  };
  process.send?.(await repeat(ticks, look));
}

void main();
