/**
 * `node-rotation local`: two weeks of node rotation on a cluster and a table inside this process.
 */
import { type Command, InvalidArgumentError } from 'commander';
import type { ExitCode } from './failure.ts';
import type { LocalOptions } from './local/local-run.ts';
import { readFormat } from './output.ts';

export function addLocalCommand(program: Command, finish: (code: ExitCode) => void): void {
  program
    .command('local')
    .option('--data <dir>', 'keep the audit table in this folder (default: in memory)')
    .option('--report <file>', 'write a page with the timeline to this HTML file')
    .option('--serve', 'keep the Kubernetes API up afterwards, and print a kubeconfig for it')
    .option('--port <number>', 'port of the Kubernetes API (default: any free one)', readPort)
    .option('--seed <number>', 'seed of everything random in the cluster', readWholeNumber, 1)
    .option('-o, --output <format>', 'text, json or yaml', readFormat('text', 'json', 'yaml'), 'text')
    .action(async (options: LocalOptions) => {
      // Loaded when it is needed: help and refused flags answer at once.
      const { runLocally } = await import('./local/local-run.ts');
      finish(await runLocally(options));
    });
}

function readPort(text: string): number {
  const port = readWholeNumber(text);
  if (port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

function readWholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is no whole number.');
  return Number(text);
}
