/**
 * `plan`: one dry tick, of a live cluster or of files. It writes nothing, and asks for no delete, not even a dry one.
 *
 * What reaches a live cluster is loaded only for one: a Kubernetes client takes longer to load than a dump to plan.
 */
import type { Command } from 'commander';
import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import { lookForPlan } from '../controller/look-for-plan.ts';
import type { Instant } from '../domain/time.ts';
import { outlookOf } from '../engine/outlook.ts';
import { planDocument } from '../engine/plan-document.ts';
import { readDocuments } from './documents.ts';
import { DumpCluster, gapsOf, readDump } from './dump.ts';
import type { ExitCode } from './failure.ts';
import { exitCodes, Failure } from './failure.ts';
import type { Seen } from './live-plan.ts';
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
  const source =
    options.file === undefined
      ? (await import('./live-plan.ts')).seenInContext(options)
      : fromFiles(options.file, options, surroundings);
  const { snapshot, refused } = await source;
  const outlook = outlookOf(snapshot);
  const { output } = options;
  surroundings.out(output === 'text' ? planText(outlook) : written(output, planDocument(outlook)));
  report(surroundings.err, strayFields(snapshot.policies), refused);
  return exitCodeOf(outlook, refused);
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
