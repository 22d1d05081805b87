/**
 * `node-rotation preflight`: what a cluster still lacks, found out with the operator's own access.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import { eksPreflight } from '../adapters/aws/eks-preflight.ts';
import { ApiClient } from '../adapters/kubernetes/api-client.ts';
import { type Check, preflight } from '../adapters/kubernetes/preflight.ts';
import { seconds } from '../domain/time.ts';
import { type ExitCode, exitCodes } from './failure.ts';
import { type ContextOptions, connect, withContextOptions } from './kubeconfig-context.ts';
import { type OutputFormat, readFormat, written } from './output.ts';
import { type Column, textTable } from './text-table.ts';

interface PreflightOptions extends ContextOptions {
  readonly cluster?: { readonly region: string; readonly name: string };
  readonly role?: string;
  readonly group: string;
  readonly namespace: string;
  readonly output: Exclude<OutputFormat, 'ndjson'>;
}

export function addPreflightCommand(program: Command, finish: (code: ExitCode) => void): void {
  const command = program
    .command('preflight')
    .option('--cluster <key>', 'account/region/name: EKS is asked about it, too', readCluster)
    .option('--role <arn>', 'role of the reconcile function, whose access entry is looked at (with --cluster)')
    .option('--group <name>', 'RBAC group of the access entry', 'node-rotation')
    .option('--namespace <name>', 'namespace of the placeholder Pods', defaultPlaceholder.namespace)
    .option('-o, --output <format>', 'text, json or yaml', readFormat('text', 'json', 'yaml'), 'text');
  withContextOptions(command).action(async (options: PreflightOptions) => finish(await run(options)));
}

/** @design D9-06 */
async function run(options: PreflightOptions): Promise<ExitCode> {
  const { cluster, role, group, namespace, output } = options;
  const connection = connect(options);
  try {
    const client = new ApiClient({ connection, left: () => seconds(10) });
    const { priorityClassName } = defaultPlaceholder;
    const ofCluster = await preflight({ client, group, namespace, priorityClassName });
    const ofEks = cluster
      ? await eksPreflight({ name: cluster.name, roleArn: role, group, client: { region: cluster.region } })
      : [];
    const checks = [...ofCluster, ...ofEks];
    process.stdout.write(output === 'text' ? `${textTable(columns, checks).join('\n')}\n` : written(output, checks));
    if (ofCluster[0]?.verdict !== 'ok') return exitCodes.noAccess;
    return checks.some(({ verdict }) => verdict === 'missing') ? exitCodes.notAsItShouldBe : exitCodes.ok;
  } finally {
    connection.close();
  }
}

const columns: readonly Column<Check>[] = [
  { title: 'CHECK', of: ({ check }) => check },
  { title: 'VERDICT', of: ({ verdict }) => verdict },
  { title: 'FOUND', of: ({ message }) => message },
];

function readCluster(text: string): { readonly region: string; readonly name: string } {
  const [, region, name] = /^\d{12}\/([a-z]{2,}(?:-[a-z]+)+-\d+)\/([\w-]+)$/.exec(text) ?? [];
  if (region === undefined || name === undefined) {
    throw new InvalidArgumentError('A cluster is named as account/region/name.');
  }
  return { region, name };
}
