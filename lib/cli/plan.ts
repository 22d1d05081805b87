/**
 * `plan`: one dry tick, of a live cluster or of files. It writes nothing, and asks for no delete, not even a dry one.
 */
import type { Command } from 'commander';
import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import { connectToContext } from '../adapters/kubernetes/connection.ts';
import { KubernetesCluster } from '../adapters/kubernetes/kubernetes-cluster.ts';
import { TickBudget } from '../adapters/kubernetes/tick-budget.ts';
import { lookForPlan } from '../controller/look-for-plan.ts';
import { ObservationFailed } from '../controller/ports.ts';
import type { ClusterSnapshot } from '../domain/cluster/snapshot.ts';
import type { Instant } from '../domain/time.ts';
import { minute } from '../domain/time.ts';
import { outlookOf } from '../engine/outlook.ts';
import { planDocument } from '../engine/plan-document.ts';
import { readDocuments } from './documents.ts';
import { DumpCluster, gapsOf, readDump } from './dump.ts';
import type { ExitCode } from './failure.ts';
import { exitCodes, Failure, lookFailed } from './failure.ts';
import type { OutputFormat } from './output.ts';
import { readFormat, written } from './output.ts';
import type { Surroundings } from './plan-options.ts';
import { collect, exitCodeOf, processSurroundings, readInstant, report, strayFields } from './plan-options.ts';
import { planText } from './plan-text.ts';

export interface PlanOptions {
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly file?: readonly string[];
  readonly at?: Instant;
  readonly output: Exclude<OutputFormat, 'ndjson'>;
}

export function addPlanCommand(program: Command, finish: (code: number) => void): void {
  program
    .command('plan')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--kubeconfig <file>', 'kubeconfig file (default: KUBECONFIG, then ~/.kube/config)')
    .option(
      '-f, --file <file>',
      'what kubectl get … -o yaml or json printed, - for standard input; repeatable',
      collect,
    )
    .option('--at <time>', 'plan for this RFC 3339 time (default: now)', readInstant)
    .option('-o, --output <format>', 'text, json or yaml', readFormat('text', 'json', 'yaml'), 'text')
    .action(async (options: PlanOptions) => finish(await plan(options)));
}

/** @design D13-01, D13-02 */
export async function plan(options: PlanOptions, surroundings: Surroundings = processSurroundings): Promise<ExitCode> {
  const source = options.file === undefined ? fromContext(options) : fromFiles(options.file, options, surroundings);
  const { snapshot, refused } = await source;
  const outlook = outlookOf(snapshot);
  const { output } = options;
  surroundings.out(output === 'text' ? planText(outlook) : written(output, planDocument(outlook)));
  report(surroundings.err, strayFields(snapshot.policies), refused);
  return exitCodeOf(outlook, refused);
}

interface Seen {
  readonly snapshot: ClusterSnapshot;
  readonly refused: readonly string[];
}

async function fromFiles(
  files: readonly string[],
  { context, kubeconfig, at }: PlanOptions,
  surroundings: Surroundings,
): Promise<Seen> {
  if (context !== undefined || kubeconfig !== undefined) {
    throw new Failure(
      exitCodes.usage,
      'A plan is made of files or of a live cluster: give -f, or --context and --kubeconfig, not both.',
    );
  }
  const dump = readDump(readDocuments(files, surroundings.stdin), ['RotationPolicy', 'NodePool', 'NodeClaim']);
  report(surroundings.err, [...dump.notices, ...gapsOf(dump)]);
  const cluster = new DumpCluster(dump, at ?? surroundings.now(), defaultPlaceholder);
  return { snapshot: await lookForPlan(cluster), refused: dump.refused };
}

async function fromContext({ context, kubeconfig, at }: PlanOptions): Promise<Seen> {
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
