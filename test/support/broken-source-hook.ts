/**
 * Loaded before the program: gives the files named in the environment with their breaks made.
 */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../house/source-files.ts';
import type { SourceBreak } from './broken-source.ts';

const breaks: readonly SourceBreak[] = JSON.parse(process.env['SOURCE_BREAKS'] ?? '[]');
const byUrl = Map.groupBy(breaks, ({ file }) => pathToFileURL(join(projectRoot, file)).href);
const unmet = new Set(byUrl.keys());

function broken(text: string, { file, find, replace }: SourceBreak): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
  return parts.join(replace);
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const mine = byUrl.get(url);
    if (!mine) return loaded;
    unmet.delete(url);
    return { ...loaded, source: mine.reduce(broken, String(loaded.source)) };
  },
});

process.on('exit', () => {
  if (unmet.size === 0) return;
  process.stderr.write(`never loaded, so never broken: ${[...unmet].join(', ')}\n`);
  process.exitCode = 1;
});
