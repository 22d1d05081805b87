/**
 * The sources that the tests about the code itself look at: every .ts file of the three folders that run in
 * production, as paths from the root of the project. A folder that does not exist yet has no files.
 */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../../', import.meta.url));
export const sourcePattern = '{lib,functions,infra}/**/*.ts';

/** @returns paths with forward slashes, sorted */
export function sourceFiles(): string[] {
  return globSync(sourcePattern, { cwd: projectRoot })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}
