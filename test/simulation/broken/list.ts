/**
 * All broken versions, and how a reader is told of one.
 */
import { ofTheAdapters } from './of-the-adapters.ts';
import { ofTheEngine } from './of-the-engine.ts';
import { ofTheTick } from './of-the-tick.ts';
import type { BrokenVersion } from './version.ts';

export const brokenVersions: readonly BrokenVersion[] = [...ofTheEngine, ...ofTheTick, ...ofTheAdapters];

/** Of `docs/mutation-testing.md`. */
export function tableOf(versions: readonly BrokenVersion[]): readonly string[] {
  const rows = versions.map(({ does, rules, caughtBy }) => {
    const by =
      'case' in caughtBy ? `“${caughtBy.case}”: \`${caughtBy.rule}\`` : `\`${caughtBy.file}\`: “${caughtBy.title}”`;
    return `| ${does} | ${rules.join(', ')} | ${by} |`;
  });
  return ['| a version that … | breaks | is caught by |', '| --- | --- | --- |', ...rows];
}
