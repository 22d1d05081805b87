/**
 * Idle ticks of the product, as a user of a kubeconfig, again and again in one process.
 */
import { defaultPlaceholder } from '../../../functions/reconcile/environment.ts';
import { connectToContext } from '../../../lib/adapters/kubernetes/kubeconfig-connection.ts';
import { KubernetesCluster } from '../../../lib/adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../../../lib/adapters/kubernetes/tick-budget.ts';
import { runTick } from '../../../lib/controller/run-tick.ts';
import { seconds } from '../../../lib/domain/time.ts';
import { repeat, task } from '../repeated-ticks.ts';

export interface RealTickTask {
  /** The kubeconfig. */
  readonly file: string;
  readonly context: string;
  readonly ticks: number;
}

async function main(): Promise<void> {
  const { file, context, ticks } = await task<RealTickTask>();
  const connection = connectToContext({ file, context });
  const tick = async (): Promise<void> => {
    const budget = new TickBudget({ toBegin: seconds(40), toEnd: seconds(47) });
    const settings = defaultPlaceholder;
    const cluster = new KubernetesCluster({ connection, budget, instance: 'bench', settings, retired: false });
    const recorder = { putSteps: async () => new Set<string>(), record: async () => {} };
    const { outcome, detail } = await runTick({ cluster, recorder, budget });
    if (outcome !== 'Ok') throw new Error(`a tick failed: ${outcome} ${detail ?? ''}`);
  };
  const costs = await repeat(ticks, tick);
  connection.close();
  process.send?.(costs);
}

void main();
