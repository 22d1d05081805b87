/**
 * The folder into which one Go module is built: outside the tree, named by a hash of everything that decides the result.
 *
 * A folder counts only when it is whole. It gets its name by a rename after everything in it is written, and it lists
 * its own files with their sizes, so neither an interrupted build nor a half-deleted cache is taken for a build.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type GoModule, modulesFolder } from './modules.ts';

const inventoryFile = 'inventory.json';

/** `$XDG_CACHE_HOME` or `~/.cache`, below a folder of our own. */
export const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'node-rotation', 'control-plane');

export const builtFolder = (module: GoModule): string => join(cacheFolder(), `${module.name}-${hashOf(module)}`);

function hashOf(module: GoModule): string {
  const folder = join(modulesFolder, module.name);
  const hash = createHash('sha256').update(JSON.stringify([module, process.platform, process.arch]));
  for (const name of readdirSync(folder).sort()) {
    if (!/\.(go|mod|sum)$/.test(name)) continue;
    hash.update(`\0${name}\0`).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Whether the folder holds everything that was built into it. */
export function isWhole(folder: string): boolean {
  const sizes = readInventory(folder);
  return (
    sizes !== undefined &&
    Object.entries(sizes).every(
      ([path, size]) => statSync(join(folder, path), { throwIfNoEntry: false })?.size === size,
    )
  );
}

/** undefined when there is none, or half of one. */
function readInventory(folder: string): Readonly<Record<string, number>> | undefined {
  const file = join(folder, inventoryFile);
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The last thing that is written into a built folder. */
export function writeInventory(folder: string): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(folder.length + 1), statSync(path).size];
  });
  writeFileSync(join(folder, inventoryFile), JSON.stringify(Object.fromEntries(sizes), undefined, 2));
}
