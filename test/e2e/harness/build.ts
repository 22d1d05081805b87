/**
 * Builds what is missing of a control plane from Go modules: about ten minutes once, nothing afterwards.
 *
 * The compiler runs at a low priority. The modules are built one after the other, because they share most of what they
 * compile, and the second finds it in Go's own cache.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { exitCodes, Failure } from '../../../lib/cli/failure.ts';
import { builtFolder, cacheFolder, isWhole, writeInventory } from './built.ts';
import {
  type Assets,
  type GoModule,
  type KubernetesVersion,
  modulesFolder,
  modulesFor,
  type ProgramName,
} from './modules.ts';
import { mustHave, toolchains } from './toolchain.ts';

/** One line of progress. */
export type Tell = (line: string) => void;

/** What can be started. */
export interface Built {
  readonly programs: Readonly<Record<ProgramName, string>>;
  /** Folders of YAML files. */
  readonly karpenterCrds: string;
  readonly stages: string;
  readonly delayedStages: string;
}

/**
 * @param tell hears about every step that takes time; nothing when everything is there
 * @throws Failure when a toolchain is missing, or a module does not build
 */
export async function build(version: KubernetesVersion, tell: Tell): Promise<Built> {
  const modules = modulesFor(version);
  const missing = modules.filter((module) => !isWhole(builtFolder(module)));
  if (missing.length > 0) {
    await mustHave(toolchains.go, newestGoDirective(missing));
    tell(`Building into ${cacheFolder()}: ${missing.map(({ name }) => name).join(', ')}.`);
    for (const module of missing) {
      const folder = builtFolder(module);
      if (existsSync(folder)) tell(`${folder} is not whole: ${module.name} is built anew.`);
      await buildModule(module, tell);
    }
  }
  return builtOf(modules);
}

function builtOf(modules: readonly GoModule[]): Built {
  const paths = modules.flatMap((module) =>
    module.programs.map(({ name }) => [name, join(builtFolder(module), 'bin', name)]),
  );
  const assets = (moduleName: string, kind: string): string => {
    const module = modules.find(({ name }) => name === moduleName);
    if (!module) throw new Error(`there is no module ${moduleName}`);
    return join(builtFolder(module), kind);
  };
  return {
    programs: Object.fromEntries(paths),
    karpenterCrds: assets('karpenter', 'crds'),
    stages: assets('kwok', 'stages'),
    delayedStages: assets('karpenter', 'delayed-stages'),
  };
}

async function buildModule(module: GoModule, tell: Tell): Promise<void> {
  const folder = builtFolder(module);
  const partial = `${folder}.partial-${process.pid}`;
  const removePartial = (): void => rmSync(partial, { recursive: true, force: true });
  removeAbandoned(folder);
  // Also when the process is interrupted.
  process.once('exit', removePartial);
  mkdirSync(join(partial, 'bin'), { recursive: true });
  try {
    for (const { name, target } of module.programs) {
      const began = performance.now();
      const seconds = (): string => `${Math.round((performance.now() - began) / 1000)} s`;
      const still = setInterval(() => tell(`${name}: still building after ${seconds()}`), 60_000);
      const linkerFlags = ['-s', '-w', ...module.linkerFlags].join(' ');
      await go(
        module,
        ['build', '-buildvcs=false', '-trimpath', '-ldflags', linkerFlags, '-o', join(partial, 'bin', name), target],
        name,
      ).finally(() => clearInterval(still));
      tell(`${name}: built in ${seconds()}`);
    }
    if (module.assets) await copyAssets(module, module.assets, partial);
    writeInventory(partial);
    takeItsName(partial, folder);
  } finally {
    removePartial();
    process.off('exit', removePartial);
  }
}

/** What builders that were killed left behind beside the folder. */
export function removeAbandoned(folder: string): void {
  for (const path of globSync(`${folder}.partial-*`)) {
    const pid = Number(path.slice(path.lastIndexOf('-') + 1));
    if (!isAlive(pid)) rmSync(path, { recursive: true, force: true });
  }
}

/** Somebody else may have built the same meanwhile; what is whole stays, for it may be running. */
export function takeItsName(partial: string, folder: string): void {
  if (isWhole(folder)) return;
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

async function copyAssets(module: GoModule, { module: source, files }: Assets, folder: string): Promise<void> {
  const from = (await go(module, ['list', '-m', '-f', '{{.Dir}}', source], source)).trim();
  for (const [kind, pattern] of Object.entries(files)) {
    const found = globSync(pattern, { cwd: from });
    if (found.length === 0) throw new Failure(exitCodes.notAsItShouldBe, `${source} has no ${pattern} in ${from}.`);
    mkdirSync(join(folder, kind));
    for (const path of found) {
      const copy = join(folder, kind, basename(path));
      copyFileSync(join(from, path), copy);
      // Go keeps its module cache read-only.
      chmodSync(copy, 0o644);
    }
  }
}

/** @returns what it printed */
function go(module: GoModule, args: readonly string[], what: string): Promise<string> {
  const cwd = join(modulesFolder, module.name);
  return new Promise((resolve, reject) => {
    // Not `os.setPriority`: that reaches one thread of a program that has started, and compilers come from the others.
    const child = spawn('nice', ['-n', '10', 'go', ...args], {
      cwd,
      env: { ...process.env, GOWORK: 'off' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // A compiler that nobody waits for any more would go on for minutes.
    const end = (): void => void child.kill();
    process.once('exit', end);
    const printed = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      printed.out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      printed.err += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => {
      process.off('exit', end);
      if (code === 0) return resolve(printed.out);
      const log = join(cacheFolder(), `${module.name}-build.log`);
      writeFileSync(log, `cd ${cwd} && go ${args.join(' ')}\n${printed.err}`);
      const last = printed.err.trim().split('\n').at(-1) ?? '';
      reject(
        new Failure(
          exitCodes.notAsItShouldBe,
          `Cannot build ${what} (${last}). The whole output is in ${log}; \`go env GOPROXY GOFLAGS\` says where modules come from.`,
        ),
      );
    });
  });
}

/** What the modules ask for in their `go` lines: the largest. */
function newestGoDirective(modules: readonly GoModule[]): string {
  const asked = modules.map(({ name }) => {
    const text = readFileSync(join(modulesFolder, name, 'go.mod'), 'utf8');
    return /^go (\d+\.\d+(\.\d+)?)$/m.exec(text)?.[1] ?? '1.26';
  });
  return asked.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? '1.26';
}
