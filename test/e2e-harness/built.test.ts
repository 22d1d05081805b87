import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { build } from '../e2e/harness/build.ts';
import { builtFolder, cacheFolder, isWhole, writeInventory } from '../e2e/harness/built.ts';
import { modulesFor } from '../e2e/harness/modules.ts';

const root = mkdtempSync(join(tmpdir(), 'node-rotation-test-'));
afterAll(() => rmSync(root, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

function builtFiles(): string {
  const folder = mkdtempSync(join(root, 'built-'));
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'etcd'), 'a program');
  writeFileSync(join(folder, 'one.yaml'), 'kind: A');
  return folder;
}

describe('a built folder', () => {
  test('is whole once its inventory is written (D15-01)', () => {
    const folder = builtFiles();
    expect(isWhole(folder)).toBe(false);
    writeInventory(folder);
    expect(isWhole(folder)).toBe(true);
  });

  test.each<[string, (folder: string) => void]>([
    ['a file is missing', (folder) => rmSync(join(folder, 'bin', 'etcd'))],
    ['a file is cut short', (folder) => truncateSync(join(folder, 'bin', 'etcd'), 3)],
    ['the inventory is missing', (folder) => rmSync(join(folder, 'inventory.json'))],
    ['the inventory is cut short', (folder) => truncateSync(join(folder, 'inventory.json'), 5)],
    ['everything is missing', (folder) => rmSync(folder, { recursive: true })],
  ])('is not whole when %s (D15-01)', (_, breakIt) => {
    const folder = builtFiles();
    writeInventory(folder);
    breakIt(folder);
    expect(isWhole(folder)).toBe(false);
  });

  test('is elsewhere for every module and version of Kubernetes, and below XDG_CACHE_HOME (D15-01)', () => {
    vi.stubEnv('XDG_CACHE_HOME', root);
    const folders = [...modulesFor('1.36'), ...modulesFor('1.34')].map(builtFolder);
    expect(new Set(folders).size).toBe(6);
    expect(cacheFolder()).toBe(join(root, 'node-rotation', 'control-plane'));
    expect(folders.filter((folder) => !folder.startsWith(cacheFolder()))).toEqual([]);
  });

  test('needs a toolchain only while it is not whole (D13-01)', async () => {
    vi.stubEnv('XDG_CACHE_HOME', mkdtempSync(join(root, 'cache-')));
    vi.stubEnv('PATH', root);
    const told: string[] = [];
    const tell = (line: string): void => void told.push(line);
    await expect(build('1.36', tell)).rejects.toMatchObject({ exitCode: 2 });
    for (const module of modulesFor('1.36')) {
      mkdirSync(builtFolder(module), { recursive: true });
      writeInventory(builtFolder(module));
    }
    const { programs } = await build('1.36', tell);
    expect(programs.etcd).toMatch(/\/etcd-[0-9a-f]{16}\/bin\/etcd$/);
    expect(told).toEqual([]);
  });
});
