/**
 * `node-rotation manifests`: everything that is applied to a cluster, as one stream for kubectl.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { type ExitCode, exitCodes } from './failure.ts';

const folder = join(import.meta.dirname, '..', '..', 'infra', 'kubernetes');

export function addManifestsCommand(program: Command, finish: (code: ExitCode) => void): void {
  program.command('manifests').action(() => {
    process.stdout.write(manifests());
    finish(exitCodes.ok);
  });
}

/** In the order of the kustomization. */
function manifests(): string {
  const { resources } = parse(read('kustomization.yaml')) as { readonly resources: readonly string[] };
  return resources.map((file) => `---\n${read(file).replace(/^---\n/, '')}`).join('');
}

const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
