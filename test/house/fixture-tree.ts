/**
 * A throwaway project of a few files, for planting a violation where the real tree must never hold one.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Writes `files` (path → text) into a new folder, hands it to `use`, and removes it whatever happens. */
export async function withFixtureTree<T>(
  files: Readonly<Record<string, string>>,
  use: (root: string) => T | Promise<T>,
): Promise<T> {
  // The real path: some systems' temporary folder is a link, and tools report what it leads to.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'node-rotation-fixture-')));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return await use(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
