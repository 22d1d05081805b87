/**
 * `validate`: every problem and finding of policy files, with NodePools beside them or alone.
 *
 * Alone a policy is held against itself only; what depends on a NodePool's lifetime is said with the NodePool.
 */
import type { Command } from 'commander';
import { defaultPlaceholder } from '../../functions/reconcile/environment.ts';
import { nothingInspected } from '../domain/cluster/snapshot.ts';
import type { Instant } from '../domain/time.ts';
import { formatInstant } from '../domain/time.ts';
import type { Outlook, PoolOutlook } from '../engine/outlook.ts';
import { outlookOf } from '../engine/outlook.ts';
import { policyDocument, poolHead } from '../engine/plan-document.ts';
import { readDocuments } from './documents.ts';
import { DumpCluster, readDump } from './dump.ts';
import type { ExitCode } from './failure.ts';
import type { OutputFormat } from './output.ts';
import { readFormat, written } from './output.ts';
import type { Surroundings } from './plan-options.ts';
import { collect, exitCodeOf, processSurroundings, readInstant, report, strayFields } from './plan-options.ts';
import { findingLine, policyLines } from './plan-text.ts';

export interface ValidateOptions {
  readonly file: readonly string[];
  readonly at?: Instant;
  readonly output: Exclude<OutputFormat, 'ndjson'>;
}

export function addValidateCommand(program: Command, finish: (code: number) => void): void {
  program
    .command('validate')
    .requiredOption(
      '-f, --file <file>',
      'RotationPolicies and NodePools, as YAML or JSON, - for standard input; repeatable',
      collect,
    )
    .option('--at <time>', 'validate for this RFC 3339 time (default: now)', readInstant)
    .option('-o, --output <format>', 'text, json or yaml', readFormat('text', 'json', 'yaml'), 'text')
    .action(async (options: ValidateOptions) => finish(await validate(options)));
}

/** @design D13-01, D4-01, D2-03 */
export async function validate(
  options: ValidateOptions,
  surroundings: Surroundings = processSurroundings,
): Promise<ExitCode> {
  const dump = readDump(readDocuments(options.file, surroundings.stdin), ['RotationPolicy']);
  report(surroundings.err, dump.notices);
  const cluster = new DumpCluster(dump, options.at ?? surroundings.now(), defaultPlaceholder);
  const outlook = outlookOf({ ...(await cluster.observe()), inspected: nothingInspected });
  const { output } = options;
  surroundings.out(output === 'text' ? text(outlook) : written(output, document(outlook)));
  report(surroundings.err, strayFields(dump.policies), dump.refused);
  return exitCodeOf(outlook, dump.refused);
}

const document = ({ at, policies, pools }: Outlook) => ({
  at: formatInstant(at),
  policies: policies.map(policyDocument),
  nodePools: pools.map(poolHead),
});

function text({ policies, pools }: Outlook): string {
  const lines = [
    ...policies.flatMap((policy) => [
      ...policyLines(policy),
      ...(policy.problems.length + policy.findings.length === 0 ? ['  nothing to report'] : []),
    ]),
    ...pools.flatMap((pool) => [poolLine(pool), ...pool.findings.map(findingLine)]),
  ];
  return `${lines.join('\n')}\n`;
}

function poolLine({ name, view: { governance }, findings }: PoolOutlook): string {
  const by = {
    none: 'is matched by no RotationPolicy',
    governed: `is governed by ${governance.kind === 'governed' ? governance.policy.meta.name : ''}`,
    invalid: `is blocked by the invalid RotationPolicy ${governance.kind === 'invalid' ? governance.name : ''}`,
    conflict: `is matched equally by ${governance.kind === 'conflict' ? governance.names.join(', ') : ''}`,
  }[governance.kind];
  return `NodePool ${name} ${by}${findings.length === 0 ? ', nothing to report' : ''}`;
}
