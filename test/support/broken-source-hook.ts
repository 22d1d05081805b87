/**
 * Loaded before the program: gives the files named in the environment with their breaks made.
 */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../house/source-files.ts';
import type { SourceBreak } from './broken-source.ts';
import { breaksVariable, brokenText } from './broken-source.ts';

const breaks: readonly SourceBreak[] = JSON.parse(process.env[breaksVariable] ?? '[]');
const byUrl = Map.groupBy(breaks, ({ file }) => pathToFileURL(join(projectRoot, file)).href);
const unmet = new Set(byUrl.keys());

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const mine = byUrl.get(url);
    if (!mine) return loaded;
    unmet.delete(url);
    return { ...loaded, source: mine.reduce(brokenText, String(loaded.source)) };
  },
});

process.on('exit', () => {
  if (unmet.size === 0) return;
  process.stderr.write(`never loaded, so never broken: ${[...unmet].join(', ')}\n`);
  process.exitCode = 1;
});
